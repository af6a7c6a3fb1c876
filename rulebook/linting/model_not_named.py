"""RB511: a judge model that nothing names."""

from rulebook.checks import JUDGE_KINDS
from rulebook.errors import UsageError
from rulebook.expression.nodes import leaves_of
from rulebook.expression.program import Loaded, folder_of
from rulebook.ports import Files
from rulebook.spec.evaluation_parts import EvaluationSpec


def look(loaded: Loaded, files: Files) -> None:
    """Note every rule that asks a model where neither it nor the configuration names one."""
    leaves = [
        leaf for leaf in leaves_of(item.node for item in loaded.items) if _asks_any_model(leaf.check.kind, leaf.check)
    ]
    nameless = [(leaf.common.file, (*leaf.common.path, leaf.common.kind)) for leaf in leaves]
    if isinstance(loaded.content, EvaluationSpec):
        scorers = [each for each in loaded.content.scorers if _asks_any_model(each.kind, each.keys)]
        in_task = [("task", "model")] if _task_asks_any(loaded.content) else []
        nameless = [(loaded.file, path) for path in (*in_task, *(each.path for each in scorers))]
    how = _unnamed(loaded.file, files) if nameless else ""
    for file, path in nameless if how else ():
        loaded.readers[file].add_at_key("RB511", path, how=how)


def _task_asks_any(spec: EvaluationSpec) -> bool:
    return spec.task is not None and spec.task.model is not None and spec.task.model.model is None


def _asks_any_model(kind: str, options: object) -> bool:
    # asked of its key, lest the kind be imported for it
    return kind in JUDGE_KINDS and getattr(options, "model", "") is None and not getattr(options, "judges", None)


def _unnamed(file: str, files: Files) -> str:
    """What to do about there being no default model; empty where there is one."""
    from rulebook.spec.provider_files import config_files, read_providers  # only a rule that asks any model pays
    from rulebook.spec.providers import HOW_TO_NAME

    try:
        providers = read_providers(config_files(folder_of(file), files), files)
    except UsageError as error:
        return str(error)
    return "" if providers.model else HOW_TO_NAME
