"""A rubric that a model judges, as a judge. Source: scoring, RubricJudge."""

import math
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from rulebook.api.judges import Judge
from rulebook.api.own_machine import own_ports
from rulebook.api.rubric_context import RubricContext, TranscriptContext
from rulebook.api.scoring import scoring_of
from rulebook.errors import NotHandedIn
from rulebook.evidence.rubric import Asking, Criterion, scored_by_rubric
from rulebook.evidence.run_events import TaskStartedEvent
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import Scoring
from rulebook.languages.endpoints import no_address, no_variable
from rulebook.outcome import student_fault


class RubricCriterion(TypedDict):
    """An entry of a rubric, for a type checker; any mapping with these keys is one."""

    criterion: str
    weight: float | str
    id: NotRequired[str]
    required: NotRequired[bool]


class RubricJudge(Judge):
    """A model says whether the work meets each criterion; the score is the sum of the weights of those it meets.

    Each entry of `rubric` has a `criterion` and a `weight`, and may have an `id`, under which the metadata holds the
    verdict and its reason. It passes when the score is more than `continue_threshold`. Without `context` the model is
    shown the whole transcript. Without `model`, the default one of `rulebook.toml` judges.
    """

    def __init__(
        self,
        rubric: Sequence[Mapping[str, object]],
        model: str | None = None,
        context: Sequence[RubricContext] | None = None,
        continue_threshold: float = 0.0,
        temperature: float | None = 0.0,
        *,
        base_url: str | None = None,
        api_key_env: str | None = None,
        votes: int = 1,
    ) -> None:
        """Raises ValueError for a rubric or a context that is empty or unfit, TypeError for what is no context
        or no criterion."""
        if not rubric:
            raise ValueError("A rubric without criteria would score 0 whatever happened. Write one or more.")
        if context is not None and not context:
            raise ValueError("A model that is shown nothing can judge nothing. Leave `context` out for the transcript.")
        if any(not isinstance(part, RubricContext) for part in context or ()):
            raise TypeError(
                "`context` is a list of contexts, such as `[FileContext([path])]`. A key is `api_key_env=`."
            )
        if base_url is not None and no_address(base_url):
            raise ValueError(f"`base_url` is an address such as `http://127.0.0.1:8000/v1`: it {no_address(base_url)}.")
        if api_key_env is not None and no_variable(api_key_env):
            words = "`api_key_env` is the name of the variable that holds the key"
            raise ValueError(f"{words}: it {no_variable(api_key_env)}.")
        self.criteria = tuple(_criterion(entry, number) for number, entry in enumerate(rubric, 1))
        if len({each.id for each in self.criteria}) < len(self.criteria):
            raise ValueError("Two criteria have the same `id`; give each its own.")
        self.context = (TranscriptContext(),) if context is None else tuple(context)
        self._asking = Asking(
            model=model,
            base_url=base_url,
            api_key_env=api_key_env,
            temperature=temperature,
            votes=votes,
            pass_above=continue_threshold,
        )

    def evaluate(self, transcript: Transcript) -> Scoring:
        """Ask the model about every criterion. Where the student left nothing to judge, it is not asked, and scores 0.

        Raises UnmeasuredError when a criterion that counts could not be judged.
        """
        try:
            text = self.render_context(transcript)
            outcome = scored_by_rubric(self.criteria, text, self._asking, own_ports(), _students(transcript))
        except NotHandedIn as absent:
            outcome = student_fault(absent.reason, cause=absent.cause)
        return scoring_of(outcome)

    def render_context(self, transcript: Transcript) -> str:
        """What the model is shown: the parts that are not empty, joined by blank lines. Raises NotHandedIn."""
        parts = (part.render(transcript) for part in self.context)
        return "\n\n".join(part for part in parts if part.strip())


def _students(transcript: Transcript) -> list[str]:
    """The models that worked, as far as the run says."""
    started = (event for event in transcript.events if isinstance(event, TaskStartedEvent))
    return [event.model for event in started if event.model]


def _criterion(entry: Mapping[str, object], number: int) -> Criterion:
    if not isinstance(entry, Mapping):
        raise TypeError(f"A criterion is written `{{'criterion': '…', 'weight': 1}}`; this is {entry!r:.80}.")
    text, weight = entry.get("criterion"), entry.get("weight")
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"Criterion {number} has no text: write `criterion`.")
    try:
        count = float(weight) if isinstance(weight, str | int | float) else math.nan
    except ValueError:
        count = math.nan
    if not math.isfinite(count):
        raise ValueError(f"The `weight` of criterion {number} must be a finite number; this is {weight!r:.80}.")
    return Criterion(text, count, str(entry.get("id", f"criterion_{number}")), bool(entry.get("required", False)))
