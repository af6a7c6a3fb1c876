"""A scorer of a `rulebook.evaluation` file against the labels of its rows, for the command."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from rulebook.api.evaluation_files import EvaluationRules, evaluation_in
from rulebook.checks import MODEL_KINDS
from rulebook.errors import UsageError
from rulebook.evidence.row_labels import ACCEPTED, Labels, read_labels
from rulebook.ports import Ports
from rulebook.report.calibration import Calibration, Terms, calibrated
from rulebook.services.clock import unix_ms
from rulebook.services.evaluation_journal import JournalHead, read_records
from rulebook.services.evaluation_runs import calibrations_folder, resumable
from rulebook.services.store import new_session_id
from rulebook.session.calibrating import Pairing, labelled_rows
from rulebook.session.evaluation_running import Plan, run_evaluation
from rulebook.spec.evaluation_parts import EvaluationSpec, ScorerSpec
from rulebook.spec.judge_cards import Subject, card_path
from rulebook.spec.judge_identity import Identity, identity_at
from rulebook.spec.judged_scorers import JevScorer
from rulebook.spec.params import param_values
from rulebook.spelling import guess, listed


class Asked(Struct, frozen=True):
    """What is calibrated: the column of the labels, the grade from which a label passes, and which rows.

    `scorer` None: the only one of the file that asks a model. `limit` None: all rows. `params` are values for those of
    the file.
    """

    column: str
    scorer: str | None = None
    mark: float = 0.5
    limit: int | None = None
    params: Mapping[str, object] = {}


class CalibrationRules:
    """One scorer of an evaluation's file, and the rows that have labels: ready to be run."""

    def __init__(self, path: str, asked: Asked, ports: Ports, *, allow_python: bool) -> None:
        """Raises RuleFileError, UsageError, DatasetError; UsageError also for labels that nobody can read.

        So it does where the task or the scorer reads the labels: they would be held to what they were shown.
        """
        spec = evaluation_in(path, ports)
        self.scorer = _chosen(spec, asked.scorer, path)
        self.rules = EvaluationRules(
            path, replace(spec, scorers=(self.scorer,), gates=()), ports, allow_python=allow_python
        )
        self.asked = asked
        self.subject = Subject(spec.head.name, self.scorer.name, self.scorer.kind, asked.column)
        self._spec, self._ports = spec, ports
        _check_column(asked.column, self.rules)
        _refuse_leaks(asked.column, self.rules, self.scorer)
        self.labels = _labels(asked, self.rules, self._names())

    def identity(self) -> Identity:
        """What the judge is. Raises UsageError where `rulebook.toml` is not valid, or knows no such model."""
        return identity_at(self.scorer, os.path.dirname(self.rules.path), self._ports.files)

    def card_path(self) -> str:
        """Where the card belongs: where the rule file says, else beside it."""
        return card_path(self.rules.path, self.scorer)

    @property
    def sources(self) -> Sequence[str]:
        """The files that are read, which no card may replace."""
        return (self.rules.path, self.rules.dataset.where)

    def run(self, *, resume: bool, heard: Callable[[int], object]) -> Calibration:
        """Judge the labelled rows, or go on with the latest such run, and hold the scores to the labels.

        `heard` is told now and then how many rows are done. Raises UsageError, DatasetError.
        """
        params = param_values(self._spec.params, self.asked.params)
        task = self.rules.at_work(params)
        folder = calibrations_folder(os.path.abspath(self.rules.path))
        fingerprint = self._fingerprint(params)
        before = resumable(folder, fingerprint) if resume else None
        if before is None:
            run = new_session_id(unix_ms(), bytes.fromhex(self._ports.chance.token()))
            before = os.path.join(folder, run), JournalHead(run, self.rules.name, [self.scorer.name], fingerprint)
        place, head = before
        work = self.rules.work(self.asked.limit, task)
        work = replace(work, rows=labelled_rows(work.rows, self.labels, self.asked.column))
        evaluated = run_evaluation(work, head, place, Plan(), heard, task.crew_of)
        found = Pairing(self.labels)
        found.add(read_records(place))
        keys = self.scorer.keys
        below = keys.bound() if isinstance(keys, JevScorer) else None
        terms = Terms(self.asked.mark, self.scorer.threshold, self.scorer.is_marked, self._names(), below)
        judged = calibrated(found.compared, self.labels, terms, found.unmeasured, found.failures)
        return replace(judged, spent=evaluated.spent)

    def _names(self) -> Mapping[str, float]:
        """The labels that the judge itself chooses from."""
        return self.scorer.keys.labels if isinstance(self.scorer.keys, JevScorer) else {}

    def _fingerprint(self, params: Mapping[str, object]) -> str:
        """A digest of the run that it would be, and of what is asked of it: the same wherever a run goes on."""
        said = [
            self.rules.fingerprint(self.rules.dataset.digest(), self.asked.limit, params),
            self.scorer.name,
            self.asked.column,
        ]
        return sha256(json.dumps(said).encode("ascii")).hexdigest()


def _chosen(spec: EvaluationSpec, name: str | None, path: str) -> ScorerSpec:
    names = [each.name for each in spec.scorers]
    if name is not None:
        found = next((each for each in spec.scorers if each.name == name), None)
        if found is None:
            raise UsageError(f"`{path}` has no scorer `{name}`.{guess(name, names)}")
        return found
    asking = [each for each in spec.scorers if each.kind in MODEL_KINDS]
    if len(asking) == 1:
        return asking[0]
    if len(spec.scorers) == 1:
        return spec.scorers[0]
    several = "has several scorers that ask a model" if asking else "has no scorer that asks a model"
    candidates = listed(each.name for each in asking) if asking else listed(names)
    raise UsageError(f"`{path}` {several}. Say which one with `--scorer`: {candidates}.")


def _check_column(column: str, rules: EvaluationRules) -> None:
    columns = list(rules.dataset.columns)
    if not columns:
        raise UsageError(f"`{rules.dataset.where}` has no rows that can be read, so there is nothing to compare.")
    if column not in columns:
        raise UsageError(f"No row has a column `{column}` with labels.{guess(column, columns)}")


def _refuse_leaks(column: str, rules: EvaluationRules, scorer: ScorerSpec) -> None:
    if column in (rules.scorers[0].inputs or ()):
        raise UsageError(
            f"The scorer `{scorer.name}` reads `{column}` itself, so it would be held to what it was shown. "
            "Let it read other columns (`inputs`), or name another column with `--labels`."
        )
    if column in rules.task_columns:
        raise UsageError(
            f"The task reads `{column}`, so what it gives would follow the labels. Let it read other columns, or name "
            "another column with `--labels`."
        )


def _labels(asked: Asked, rules: EvaluationRules, names: Mapping[str, float]) -> Labels:
    found = read_labels(islice(rules.dataset.rows(), asked.limit), asked.column, names)
    if found.by_row:
        return found
    if not found.unreadable:
        raise UsageError(f"No row has a label in `{asked.column}`: it is empty everywhere.")
    own = f"one of {listed(names)}, or " if names else ""
    raise UsageError(
        f"No label in `{asked.column}` can be read: {'; '.join(found.told)}. A label is {own}{ACCEPTED}."
    )  # fmt: skip
