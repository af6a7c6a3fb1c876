"""Declarative rules that judge AI-agent sessions. Importing this defines names and does nothing else."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "load": "rulebook.api.loading",
    "Rules": "rulebook.api.loading",
    "Report": "rulebook.api.loading",
    "TaskRules": "rulebook.api.task_files",
    "StepRules": "rulebook.api.task_files",
    "TaskReport": "rulebook.api.task_files",
    "EvaluationRules": "rulebook.api.evaluation_files",
    "lint": "rulebook.api.linting",
    "LintResult": "rulebook.api.linting",
    "Evidence": "rulebook.evidence.bundle",
    "Step": "rulebook.api.steps",
    "Task": "rulebook.api.steps",
    "create_task": "rulebook.api.task_making",
    "StepConfig": "rulebook.api.task_making",
    "Judge": "rulebook.api.judges",
    "EvaluationRunConfig": "rulebook.api.run_config",
    "StudentMisbehaviorError": "rulebook.api.exceptions",
    "UnmeasuredError": "rulebook.api.exceptions",
    "UnfitScoring": "rulebook.errors",
    "UnreapableCohortError": "rulebook.errors",
    "ReclaimError": "rulebook.errors",
    "STUDENT_UID": "rulebook.api.student",
    "STUDENT_DATA_DIR": "rulebook.api.student",
    "save_submission": "rulebook.services.custody",
    "save_artifact": "rulebook.services.custody_artifacts",
    "collect_submission": "rulebook.services.custody_collection",
    "kill_processes": "rulebook.services.custody_processes",
    "delete_files": "rulebook.services.custody_reclaim",
    "Evaluation": "rulebook.api.evaluations",
    "EvaluationRun": "rulebook.api.evaluation_runs",
    "EvaluationScorerResult": "rulebook.api.scorer_result",
    "function": "rulebook.api.functions",
    "DatasetClient": "rulebook.api.datasets",
    "DatasetReference": "rulebook.api.datasets",
    "DatasetDriftWarning": "rulebook.api.datasets",
    "DatasetError": "rulebook.errors",
    "Secret": "rulebook.api.secrets",
    "RulebookError": "rulebook.errors",
    "RuleFileError": "rulebook.errors",
    "UsageError": "rulebook.errors",
}
"""Every public name and the module that has it, imported when the name is first used."""

_FACES = ("judges", "schemas", "scorers")
"""Modules that are there without being imported by name, as `rulebook.scorers.exact_match`."""


def __getattr__(name: str) -> Any:
    if name in _FACES:
        return import_module(f"rulebook.{name}")
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module `rulebook` has no `{name}`")


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, *_FACES, "__version__"])
