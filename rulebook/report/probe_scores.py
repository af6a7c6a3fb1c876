"""What misbehaving students got from a task's judges, and what that says of the judges."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from rulebook.evidence.scoring_script import left_no_score
from rulebook.expression.nodes import Leaf
from rulebook.interpreter.trace import Trace
from rulebook.outcome import Measurement
from rulebook.report.task_scores import StepJudged
from rulebook.spec.steps import TaskSpec

Got = Literal["nothing", "hole", "no reward", "right", "not right", "not played"]
"""What a student got: a student who misbehaves gets `nothing`, and is a `hole` where it got more; where the judge could
not tell it gets `no reward`. The oracle is `right` or `not right`, or gets `no reward` where nobody could tell.
"""

StepKind = Literal["probed", "not probed", "open by design", "skipped"]

ORACLE = "oracle"


class Played(Struct, frozen=True):
    """One student, played against one step of one case.

    `about` says what it does, `advice` what is to be mended where it gets something. `judged` is None for one who could
    not be played on this machine, `reason` then says why. `earned` has what passed of the judge, in words. `plain` is
    one whose work can be read like anybody's.
    """

    student: str
    about: str
    judged: StepJudged | None
    reason: str = ""
    earned: tuple[str, ...] = ()
    advice: str = ""
    plain: bool = False

    @property
    def is_oracle(self) -> bool:
        """Whether it is the one who did the work."""
        return self.student == ORACLE

    @property
    def score(self) -> float | None:
        """Its score; None when it has none."""
        return None if self.judged is None else self.judged.score

    @property
    def broke(self) -> bool:
        """Whether it failed because a script of the author's left no score."""
        if self.judged is None or self.judged.trace is None:
            return False
        outcome = self.judged.outcome
        if not (isinstance(outcome, Measurement) and outcome.student_fault):
            return False
        leaves = [part for part in self.judged.trace.walk() if isinstance(part.node, Leaf)]
        return any(part.node.common.kind == "executable" and left_no_score(part.outcome) for part in leaves)

    def mend(self, allow: float) -> str:
        """What is to be mended, in words; empty where nothing is."""
        got = self.got(allow)
        if got == "hole" and self.score is not None and self.score <= allow:
            return (
                "It passes whatever it scores: write the least that goes on, a `continue_threshold` or a `threshold`."
            )
        return self.advice if got == "hole" or got == "not right" else ""

    def got(self, allow: float) -> Got:
        """What it got, where idle work may score `allow`."""
        if self.judged is None:
            return "not played"
        passed, score = self.judged.status == "passed", self.score
        if score is None:
            return "no reward"
        if self.is_oracle:
            return "right" if passed and score > allow else "not right"
        return "hole" if passed or score > allow else "nothing"


class StepProbed(Struct, frozen=True):
    """A step of one case, and everybody who was played against it. `why` says why nobody was, where nobody was."""

    case: str | None
    step: str
    played: tuple[Played, ...] = ()
    kind: Literal["played", "open by design", "skipped"] = "played"
    why: str = ""

    @property
    def status(self) -> StepKind:
        """Whether its judge was probed: it was not when it could tell nothing of any work that can be read.

        Nor was it when its script broke over whatever was handed in, and no right work shows that it ever judges.
        """
        if self.kind != "played":
            return self.kind
        telling = [each for each in self.played if each.plain or each.is_oracle]
        told = [each for each in telling if each.score is not None and (each.is_oracle or not each.broke)]
        return "probed" if told else "not probed"

    @property
    def oracle(self) -> Played | None:
        """The one who did the work; None where nobody wrote down how."""
        return next((each for each in self.played if each.is_oracle), None)


class Probed(Struct, frozen=True):
    """A task that was probed. `allow` is the most that idle work may score; `params` are the caller's."""

    spec: TaskSpec
    spec_sha256: str
    steps: tuple[StepProbed, ...]
    params: Mapping[str, object] = field(default_factory=dict)
    allow: float = 0.0
    strict: bool = False
    asked_models: bool = False
    judges_nothing: bool = False

    @property
    def holes(self) -> Sequence[tuple[StepProbed, Played]]:
        """Everybody who got reward that it should not."""
        return self._who("hole")

    @property
    def wronged(self) -> Sequence[tuple[StepProbed, Played]]:
        """The oracles that did not pass, those of whom nobody could tell among them."""
        who = [(step, step.oracle) for step in self.steps if step.oracle is not None]
        return [(step, each) for step, each in who if each.got(self.allow) in ("not right", "no reward")]

    @property
    def not_played(self) -> Sequence[tuple[StepProbed, Played]]:
        """Whoever could not be played on this machine."""
        return self._who("not played")

    @property
    def untold(self) -> Sequence[StepProbed]:
        """The steps whose judge could tell nothing."""
        return [step for step in self.steps if step.status == "not probed"]

    @property
    def idle(self) -> bool:
        """Whether no judge of any step was looked at, since none was reached."""
        return all(step.kind == "skipped" for step in self.steps)

    @property
    def passed(self) -> bool:
        """Whether nobody got what it should not, the oracle what it should, and every judge could tell."""
        lacking = self.strict and bool(self.not_played)
        return not (self.holes or self.wronged or self.untold or self.judges_nothing or self.idle or lacking)

    def _who(self, got: Got) -> Sequence[tuple[StepProbed, Played]]:
        return [(step, each) for step in self.steps for each in step.played if each.got(self.allow) == got]


def traces_of(probed: Probed) -> Sequence[Trace]:
    """The traces of every judge that was read."""
    judged = [each.judged for step in probed.steps for each in step.played if each.judged is not None]
    return [each.trace for each in judged if each.trace is not None]
