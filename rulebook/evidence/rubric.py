"""Asking a judge model about criteria one by one, and what the answers come to."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from rulebook.errors import NotHandedIn
from rulebook.evidence.fencing import SMALLEST_WINDOW, WINDOW_CHARACTERS, about_material, fence_for, window_of
from rulebook.evidence.model_names import same_model
from rulebook.evidence.rubric_question import question
from rulebook.evidence.verdict import Verdict, verdict_of
from rulebook.model_port import ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import TOLERANCE, Category, Measurement, Outcome, Spent, Unmeasured, spent_in_all, total
from rulebook.ports import Ports

REQUEST_LIMIT_S = 600.0
"""How long one question may take, all attempts together."""


class Criterion(Struct, frozen=True):
    """One thing to find out. `weight` is any finite number; without a `required` one the score is 0."""

    text: str
    weight: float
    id: str
    required: bool = False


class Asking(Struct, frozen=True):
    """How the model is asked, and what its answers count.

    `model`, `base_url` and `api_key_env` are as in `ModelRequest`. `on_unparsed` is what a reply means that cannot be
    read after it was asked for twice. Of a context of more than `window` characters, or more than the model takes, the
    beginning and the end are shown; `overflow` `unmeasured`: it is then not judged at all. It passes when the score
    is more than `pass_above`.
    """

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = 0.0
    votes: int = 1
    on_unparsed: Literal["unmeasured", "no"] = "unmeasured"
    overflow: Literal["cut", "unmeasured"] = "cut"
    window: int = WINDOW_CHARACTERS
    pass_above: float = 0.0


def scored_by_rubric(
    criteria: Sequence[Criterion], context: str, asking: Asking, ports: Ports, students: Collection[str] = ()
) -> Outcome:
    """The sum of the weights of the criteria that `context` meets: a call for each vote on each, all at the same time.

    The metadata holds each criterion's verdict and reason under its id. A criterion that could not be judged makes the
    whole unmeasured when it has a weight or is required; what the others came to, and what it all cost, is kept.
    `students` are the models whose work it is: it is told where one of them judged. Raises NotHandedIn when there is
    nothing to judge.
    """
    if not context.strip():
        raise NotHandedIn("there is nothing to judge", cause="absent")
    if asking.overflow == "unmeasured" and len(context) > asking.window:
        reason = f"the context has {len(context)} characters; at most {asking.window} are shown to the model"
        return Unmeasured("harness", reason, metadata={_CONTEXT: about_material(context, len(context))})
    return _Panel(criteria, context, asking, ports, students).outcome()


_CONTEXT, _MODEL, _OWN_MODEL = "rubric-context", "rubric-model", "rubric-own-model"
"""Keys of the metadata that no criterion's id can be: an id has no hyphen."""

_Key = tuple[int, int]
_Answer = ModelReply | ModelFailure


class _Panel:
    """The votes on every criterion, while they come in."""

    def __init__(
        self, criteria: Sequence[Criterion], context: str, asking: Asking, ports: Ports, students: Collection[str]
    ) -> None:
        self.criteria, self.context, self.asking, self.ports = criteria, context, asking, ports
        self.students = students
        self.window = min(asking.window, len(context))
        self.spent: list[Spent] = []
        self.models: dict[str, None] = {}
        self.votes: dict[_Key, Verdict] = {}
        self.failures: dict[_Key, ModelFailure] = {}

    def outcome(self) -> Outcome:
        keys = [(index, vote) for index in range(len(self.criteria)) for vote in range(self.asking.votes)]
        self._ask(keys, again=False)
        unread = [key for key in keys if key in self.votes and self.votes[key].met is None]
        if unread:
            self._ask(unread, again=True)
        found = [self._settled(index) for index in range(len(self.criteria))]
        return _outcome(self.criteria, found, self.asking, self._metadata(found), spent_in_all(self.spent))

    def _ask(self, keys: Sequence[_Key], *, again: bool) -> None:
        """Ask, and ask those again with less of the context that it was too long for."""
        waiting = list(keys)
        while waiting:
            answers = self._answers(waiting, again)
            too_long = [k for k, a in zip(waiting, answers, strict=True) if isinstance(a, ModelFailure) and a.too_long]
            for key, answer in zip(waiting, answers, strict=True):
                self._take(key, answer)
            waiting = too_long if self._narrowed(bool(too_long)) else []

    def _narrowed(self, wanted: bool) -> bool:
        if not wanted or self.asking.overflow == "unmeasured" or self.window // 2 < SMALLEST_WINDOW:
            return False
        self.window //= 2
        return True

    def _answers(self, keys: Sequence[_Key], again: bool) -> Sequence[_Answer]:
        left_s = self.ports.time_left(REQUEST_LIMIT_S)
        if left_s <= 0:
            return [ModelFailure("harness", "the rule's time ran out before the model was asked")] * len(keys)
        shown = window_of(self.context, self.window)
        return self.ports.models.ask([self._request(key, shown, again, left_s) for key in keys])

    def _request(self, key: _Key, shown: str, again: bool, left_s: float) -> ModelRequest:
        asking, (index, vote) = self.asking, key
        criterion = self.criteria[index].text
        fence = fence_for(self.ports.chance.token, criterion + shown)
        system, user = question(criterion, shown, fence, again=again)
        return ModelRequest(
            system,
            user,
            fence,
            model=asking.model,
            base_url=asking.base_url,
            api_key_env=asking.api_key_env,
            temperature=asking.temperature,
            sample=vote,
            timeout_s=left_s,
        )

    def _take(self, key: _Key, answer: _Answer) -> None:
        self.spent.append(answer.spent)
        if isinstance(answer, ModelFailure):
            self.failures[key] = answer
            return
        self.models[answer.model] = None
        self.failures.pop(key, None)
        self.votes[key] = verdict_of(answer)

    def _settled(self, index: int) -> "_Settled":
        """What most of the votes on a criterion say; open where those that are missing could change it."""
        keys = [(index, vote) for vote in range(self.asking.votes)]
        failures = [self.failures[key] for key in keys if key in self.failures]
        read = [self.votes[key] for key in keys if key in self.votes and key not in self.failures]
        unread = [vote for vote in read if vote.met is None]
        yes = [vote for vote in read if vote.met is True]
        no = [vote for vote in read if vote.met is False or (vote.met is None and self.asking.on_unparsed == "no")]
        counts = len(yes), len(no), len(keys)
        if 2 * len(yes) > len(keys):
            return _Settled(True, yes[0].reason, counts)
        if 2 * len(no) > len(keys):
            return _Settled(False, no[0].reason, counts)
        if failures:
            return _Settled(None, failures[0].reason, counts, failures[0].category)
        return _Settled(None, unread[0].reason, counts)

    def _metadata(self, found: Sequence["_Settled"]) -> Mapping[str, object]:
        verdicts = {criterion.id: each.told() for criterion, each in zip(self.criteria, found, strict=True)}
        own = [judge for judge in self.models if any(same_model(judge, student) for student in self.students)]
        told = {_OWN_MODEL: ", ".join(own)} if own else {}
        about = about_material(self.context, self.window)
        return {**verdicts, _MODEL: ", ".join(self.models) or None, **told, _CONTEXT: about}


class _Settled(Struct, frozen=True):
    """A criterion's verdict; `met` None: it could not be judged, by the fault of `category`."""

    met: bool | None
    reason: str
    votes: tuple[int, int, int]
    category: Category = "harness"

    def told(self) -> Mapping[str, object]:
        """What the metadata says of it."""
        yes, no, cast = self.votes
        votes = {"votes": {"yes": yes, "no": no, "unread": cast - yes - no}} if cast > 1 else {}
        return {"met": self.met, "reason": self.reason, **votes}


def _outcome(
    criteria: Sequence[Criterion],
    found: Sequence[_Settled],
    asking: Asking,
    metadata: Mapping[str, object],
    spent: Spent,
) -> Outcome:
    judged = list(zip(criteria, found, strict=True))
    gap = next(((c, s) for c, s in judged if s.met is None and (c.weight != 0 or c.required)), None)
    if gap is not None:
        criterion, settled = gap
        reason = f"the criterion `{criterion.id}` could not be judged: {settled.reason}"
        return Unmeasured(settled.category, reason, metadata=metadata, spent=spent)
    score = total(criterion.weight for criterion, settled in judged if settled.met)
    lacking = [criterion for criterion, settled in judged if criterion.required and not settled.met]
    if lacking:
        score = min(score, 0.0)
    passed = score > asking.pass_above + TOLERANCE and not lacking
    own = metadata.get(_OWN_MODEL)
    met = sum(settled.met is True for settled in found)
    return Measurement(
        score,
        passed,
        "" if passed else _why_not(judged, lacking),
        f"{len(criteria)} criteria" if len(criteria) > 1 else criteria[0].text if criteria else "",
        f"{met} of {len(criteria)} met" + (f", judged by the student's own model `{own}`" if own else ""),
        metadata,
        spent=spent,
    )


def _why_not(judged: Sequence[tuple[Criterion, _Settled]], lacking: Sequence[Criterion]) -> str:
    told = [(c, s) for c, s in judged if (c in lacking if lacking else not s.met)]
    word = "is required and not met" if lacking else "is not met"
    return "; ".join(f"`{criterion.id}` {word}: {settled.reason}" for criterion, settled in told)
