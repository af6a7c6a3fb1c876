"""What a rule asks of one tool call, and whether a call fits it: yes, no, or nobody can tell."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from rulebook.evidence.escapes import unescaped
from rulebook.evidence.record import Call
from rulebook.languages.comparator import BoundName, Comparator, Comparison, Equals, Fields, OneOf, Reference
from rulebook.languages.comparator_reading import ArgumentsField, ComparisonField
from rulebook.languages.comparison import Compared, any_within, fields_hold, holds
from rulebook.languages.pattern import Pattern
from rulebook.languages.template import Template
from rulebook.place import Path

Verdict = Literal["yes", "no", "spoiled", "unknown"]
"""Whether a call fits.

`spoiled`: its arguments should have been JSON and are not; `unknown`: the format does not say.
"""

Status = Literal["ok", "error", "refused", "unfinished"]
ArgsMatch = Literal["partial", "exact", "ignore"]

_OPTIONS = {"arguments": "such arguments", "any_argument": "such an argument", "result": "such a result"}


class CallOptions(BaseModel):
    """What can be asked of a call beside the name of its tool; every attempt counts unless `status` says otherwise."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
        arbitrary_types_allowed=True,
        json_schema_extra={"type": ["object", "string"]},
    )

    arguments: ArgumentsField | None = Field(None, description="Arguments by name: each a value or a comparison.")
    any_argument: ComparisonField | None = Field(
        None, description="A value or a comparison for any argument, at any depth."
    )
    status: Status | None = Field(None, description="How it ended: `ok`, `error`, `refused` or `unfinished`.")
    result: ComparisonField | None = Field(None, description="What the tool answered: a text or a comparison.")

    def comparisons(self) -> dict[str, Comparison]:
        """The comparisons that are written, by their keys."""
        found = {key: getattr(self, key) for key in (*_OPTIONS, *self._more)}
        return {key: value for key, value in found.items() if value is not None}

    @property
    def _more(self) -> tuple[str, ...]:
        return ()

    def texts(self, bound: tuple[str, ...] | None) -> Iterable[tuple[Path, Pattern | Template | BoundName]]:
        """The patterns, templates and references in it; `bound` as in `BoundName`."""
        for key, comparison in self.comparisons().items():
            for path, text in comparison.texts:
                yield (key, *path), BoundName(text, bound) if isinstance(text, Reference) else text

    def names(self) -> frozenset[str]:
        """The top-level names that its templates read."""
        return frozenset[str]().union(*(comparison.names for comparison in self.comparisons().values()))

    def called(self, name: Comparison | None) -> str:
        """Such a call as people say it; `name` is what is asked of its tool."""
        names = tool_names(name)
        tool = (
            " or ".join(f"`{one}`" for one in names) if names else "a call" if name is None else "a call of such a tool"
        )
        asked = [words for key, words in _OPTIONS.items() if getattr(self, key) is not None]
        these = f" with {' and '.join(asked)}" if asked else ""
        return f"{tool}{these}{f' that ended `{self.status}`' if self.status else ''}"

    def shape(self, name: Comparison | None, match: ArgsMatch, fill: Callable[[Template], str]) -> "CallShape":
        """The same with its templates filled in, ready to be compared with many calls."""
        arguments = None if self.arguments is None or match == "ignore" else self.arguments.filled(fill).root
        within = None if self.any_argument is None or match == "ignore" else self.any_argument.filled(fill).root
        return CallShape(
            None if name is None else name.filled(fill).root,
            arguments.fields if isinstance(arguments, Fields) else None,
            within,
            self.status,
            None if self.result is None else self.result.filled(fill).root,
            match == "exact",
        )


class CallShape(Struct, frozen=True):
    """What is asked of one call; None where nothing is."""

    name: Comparator | None
    arguments: Mapping[str, Comparator] | None
    any_argument: Comparator | None
    status: Status | None
    result: Comparator | None
    exact: bool = False

    def verdict(self, call: Call, how: Compared, *, answers: bool) -> Verdict:
        """Whether `call` fits; `answers`: the session's format tells what tools answered.

        What is known not to fit decides, whatever else cannot be told.
        """
        if self.name is not None and not holds(self.name, call.name, how):
            return "no"
        found: list[Verdict] = []
        for ask in (self._status, self._result):
            found.append(ask(call, how, answers))
            if found[-1] == "no":
                return "no"
        for look in (self._arguments, self._any_argument):
            found.append(look(call, how))
            if found[-1] == "no":
                return "no"
        return "unknown" if "unknown" in found else "spoiled" if "spoiled" in found else "yes"

    def _status(self, call: Call, _: Compared, answers: bool) -> Verdict:
        if self.status is None:
            return "yes"
        if call.status is None or not answers:
            return "unknown"
        return "yes" if call.status == self.status else "no"

    def _result(self, call: Call, how: Compared, answers: bool) -> Verdict:
        if self.result is None:
            return "yes"
        if not answers:
            return "unknown"
        return "yes" if call.result is not None and holds(self.result, call.result, how) else "no"

    def _arguments(self, call: Call, how: Compared) -> Verdict:
        if self.arguments is None:
            return "yes"
        given = arguments_of(call)
        if given is None:
            return unread(call)
        exactly = Compared(how.search, self.exact, how.bound)
        return "yes" if fields_hold(self.arguments, given, exactly) else "no"

    def _any_argument(self, call: Call, how: Compared) -> Verdict:
        if self.any_argument is None:
            return "yes"
        given = arguments_of(call)
        if given is not None:
            return "yes" if any_within(self.any_argument, given, how) else "no"
        if holds(self.any_argument, unescaped(call.arguments_raw), how):
            return "yes"
        return "spoiled" if _is_broken(call) else "no"


def arguments_of(call: Call) -> Mapping[str, object] | None:
    """The call's arguments by name, none where nothing was written; None where they are no JSON object."""
    if call.arguments is None and not call.arguments_raw.strip():
        return {}
    return call.arguments


def tool_names(name: Comparison | None) -> tuple[str, ...] | None:
    """The only tools that such a name can mean; None where it can mean others."""
    return None if name is None else names_in(name.root)


def names_in(name: Comparator | None) -> tuple[str, ...] | None:
    """The only texts that such a comparison lets through; None where it lets others through."""
    match name:
        case Equals(str() as only):
            return (only,)
        case OneOf(values) if all(isinstance(value, str) for value in values):
            return tuple(str(value) for value in values)
        case _:
            return None


def fields_of(call: Call) -> Mapping[str, object]:
    """What a later step may take from a call."""
    known = {"name": call.name, "arguments": arguments_of(call), "result": call.result, "status": call.status}
    return {key: value for key, value in known.items() if value is not None}


def unread(call: Call) -> Verdict:
    """The verdict on arguments that are no JSON object: the student's doing, or how that tool is called."""
    return "spoiled" if _is_broken(call) else "unknown"


def _is_broken(call: Call) -> bool:
    """Whether its arguments began as a JSON object; other text is how that tool is called."""
    return call.arguments_raw.lstrip().startswith("{")
