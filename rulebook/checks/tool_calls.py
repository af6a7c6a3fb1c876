"""`tool_calls`: the tool calls of the session, in order, exactly, in any order, or counted."""

from collections.abc import Iterable
from functools import partial
from typing import Self

from pydantic import Field, model_validator

from rulebook.checks import Check, Checked
from rulebook.evidence.absence import (
    called_instead,
    need_every_call,
    need_whole,
    unknown_tools,
    unseen_agents,
)
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.call_shape import ArgsMatch, CallOptions, tool_names
from rulebook.evidence.call_verdicts import CallVerdicts, Doubt, listed_calls, undecided
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Call, Record, Wants
from rulebook.evidence.trajectory import Matched, Order, matched
from rulebook.languages.comparator_reading import CalledName
from rulebook.languages.comparison import Compared
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.formula import search_with
from rulebook.languages.types import Scope
from rulebook.languages.values import Several
from rulebook.outcome import Outcome, binary
from rulebook.place import Path
from rulebook.ports import Ports
from rulebook.spelling import listed

MOST_CALLS = 200
"""So many calls one rule may ask for."""

_SEEN_AT_MOST = 20


class WantedCall(CallOptions):
    """One call: the name of its tool, or a mapping that says more of it."""

    name: CalledName | None = Field(None, description="The name of the tool, or a comparison with it.")

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if not self.model_fields_set:
            words = {"thing": "This call", "key": "name", "purpose": "it says which call is meant."}
            raise refused(LanguageError(Fault("RB202", words)))
        return self

    @property
    def _more(self) -> tuple[str, ...]:
        return ("name",)

    def described(self) -> str:
        """The call as people say it."""
        return self.called(self.name)


class ToolCalls(Check, kind="tool_calls"):
    """These calls were made: in this order, exactly, or in any; or, with `min` or `max`, so many that fit one of them.

    An attempt counts, also one that failed or was refused.
    """

    short = "calls"

    calls: Several[WantedCall] = Field(description="The calls, each a name or a mapping.", max_length=MOST_CALLS)
    order: Order = Field("in_order", description="`in_order`, `exact` (in order, and no other call) or `any_order`.")
    allow_extra: bool = Field(True, description="Whether there may be other calls; `exact` allows none.")
    args_match: ArgsMatch = Field(
        "partial", description="`partial` allows other arguments, `exact` does not, `ignore` compares none."
    )
    min: int | None = Field(None, ge=0, description="The fewest calls that fit one of these; then no order is asked.")
    max: int | None = Field(None, ge=0, description="The most calls that fit one of these; 0 forbids them.")

    @model_validator(mode="after")
    def _options_agree(self) -> Self:
        written = self.model_fields_set
        if self._counts:
            for key in written & {"order", "allow_extra"}:
                self._refuse("RB215", key, why="with `min` or `max` calls are counted in whatever order.")
        if self.order == "exact" and "allow_extra" in written and self.allow_extra:
            self._refuse("RB215", "allow_extra", why="`order: exact` allows no other call. Keep one.")
        if self.max is not None and self._least > self.max:
            self._refuse("RB205", "max", wanted=f"{self._least} or more, since `min` is {self._least}", value=self.max)
        return self

    def forbids(self) -> bool:
        """A bound from above and none from below."""
        return self.max is not None and self._least == 0

    def wants(self) -> Wants:
        """The calls, and what its templates need."""
        names = frozenset[str]().union(*(call.names() for call in self.calls))
        named = all(call.comparisons().keys() <= {"name"} for call in self.calls)
        return Wants(calls=named, tool_calls=not named) | wants_of_names(names)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The patterns and templates in the calls."""
        for index, call in enumerate(self.calls):
            for path, text in call.texts(None):
                yield ("calls", index, *path), text, scope

    def sentence(self) -> str:
        """What it asks for."""
        if self._counts:
            calls = " or ".join(call.described() for call in self.calls)
            return f"Calls like {calls}: {self._bounds()}."
        return f"The tools are called like this: {self._expected()}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the calls; what cannot be told of one counts only where it could decide."""
        record = evidence.session
        fill = partial(filled, evidence=evidence)
        shapes = [call.shape(call.name, self.args_match, fill) for call in self.calls]
        look = CallVerdicts(record, shapes, Compared(search_with(ports)))
        if not self._counts:
            record.need("tool_calls", "tool calls")
            return self._in_a_row(record, look)
        moments = evidence.timeline(frozenset()).calls(look.names)
        return self._counted(record, look, [moment.call for moment in moments if moment.call is not None])

    @property
    def _counts(self) -> bool:
        return self.min is not None or self.max is not None

    @property
    def _least(self) -> int:
        return self.min if self.min is not None else 0 if self.max is not None else 1

    def _refuse(self, code: str, key: str, **words: object) -> None:
        raise refused(LanguageError(Fault(code, {"key": key, **words}, path=(key,))))

    def _counted(self, record: Record, look: CallVerdicts, calls: list[Call]) -> Outcome:
        found = [(call, look.any_of(call)) for call in calls]
        sure = [call for call, verdict in found if verdict == "yes"]
        doubtful = [Doubt(call, verdict) for call, verdict in found if verdict in ("spoiled", "unknown")]
        most = len(sure) + len(doubtful)
        over = self.max is not None and len(sure) > self.max
        expected, seen = self._bounds(), tuple(call.seen for call in sure[:_SEEN_AT_MOST])
        if self.max is None or sum(call.thread is None for call in sure) <= self.max:
            record.need("tool_calls", "tool calls")
        if over or most < self._least:
            if not over:
                need_every_call(record, self.owner())
            return binary(False, listed_calls(sure) if over else "", expected=expected, actual=len(sure), seen=seen)
        if len(sure) < self._least or (self.max is not None and most > self.max):
            return undecided(doubtful, record, expected)
        if self.max is not None:
            need_every_call(record, self.owner())
        idle, note = (record.did_nothing, "") if self.forbids() else (False, "")
        if self.forbids():
            unknown = self._unknown(record)
            note = f"no tool is known to be called {listed(unknown)}" if unknown else unseen_agents(record)
            idle = idle or bool(unknown)
        return binary(True, note, expected=expected, actual=len(sure), seen=seen, vacuous=idle)

    def _in_a_row(self, record: Record, look: CallVerdicts) -> Outcome:
        """The main thread's calls: those of a sub-agent stand in no order to them."""
        extra = self.allow_extra and self.order != "exact"
        size = len(self.calls), len(record.calls)
        match = partial(matched, self.order, *size, allow_extra=extra, candidates=look.candidates)
        certain = match(lambda want, call: look.verdict(want, call) == "yes")
        doubtful = list(look.doubts)
        if not certain.whole and doubtful and match(lambda want, call: look.verdict(want, call) != "no").whole:
            return undecided(doubtful, record, self._expected())
        if (certain.missing is not None and certain.extra is None) or (certain.whole and not extra):
            need_whole(record, self.owner())
        seen = tuple(record.calls[call].seen for _, call in certain.pairs[:_SEEN_AT_MOST])
        if certain.extra is not None:
            seen = (*seen, record.calls[certain.extra].seen)
        actual = f"{len(certain.pairs)} of {len(self.calls)}" if not certain.whole else "as expected"
        reason = self._reason(certain, record)
        return binary(certain.whole, reason, expected=self._expected(), actual=actual, seen=seen)

    def _reason(self, found: Matched, record: Record) -> str:
        said: list[str] = []
        if found.missing is not None:
            wanted = self.calls[found.missing].described()
            after = record.calls[found.pairs[-1][1]] if found.pairs and self.order != "any_order" else None
            where = f" after call {after.index} (`{after.name}`)" if after is not None else ""
            said.append(f"there is no call like {wanted}{where}")
            names = tool_names(self.calls[found.missing].name)
            said.append(called_instead(record, names) if names else "")
        if found.extra is not None:
            extra = record.calls[found.extra]
            said.append(f"call {extra.index} (`{extra.name}`) is not among those that are asked for here")
        return "; ".join(part for part in said if part)

    def _unknown(self, record: Record) -> list[str]:
        """The names that no tool bears, when nothing but them is asked for."""
        names = [tool_names(call.name) for call in self.calls]
        known = [name for given in names if given for name in given]
        unknown = unknown_tools(record, known)
        return unknown if None not in names and len(unknown) == len(known) else []

    def _expected(self) -> str:
        calls = [call.described() for call in self.calls]
        if self.order == "any_order":
            return f"{', '.join(calls)}, in any order{'' if self.allow_extra else ', and no other call'}"
        only = self.order == "exact" or not self.allow_extra
        return f"{', then '.join(calls)}{', and no other call' if only else ''}"

    def _bounds(self) -> str:
        if self.max is None:
            return f"at least {self._least}"
        if self.max == self._least:
            return f"exactly {self.max}" if self.max else "none"
        return f"{self._least} to {self.max}" if self._least else f"at most {self.max}"
