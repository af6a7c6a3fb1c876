"""One step of a sequence: a tool call or an event, and whether something that happened is one."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Self

from msgspec import Struct
from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator, model_validator

from rulebook.evidence.absence import hidden_calls
from rulebook.evidence.call_shape import CallOptions, CallShape, Verdict, fields_of, tool_names
from rulebook.evidence.document import event_data
from rulebook.evidence.event_names import EventName
from rulebook.evidence.event_types import payload_type
from rulebook.evidence.record import EventRecord, Record
from rulebook.evidence.timeline import Moment
from rulebook.languages.comparator import BoundName, Comparator, Equals, Fields, Reference
from rulebook.languages.comparator_reading import PayloadField, ToolName
from rulebook.languages.comparison import Compared, fields_hold
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.pattern import Pattern
from rulebook.languages.template import Template
from rulebook.languages.types import RecordOf, Scalar
from rulebook.languages.values import Named
from rulebook.place import Path
from rulebook.spelling import guess, listed

_OF_A_CALL = ("tool", "arguments", "any_argument", "status", "result")


class Step(CallOptions):
    """A call, or an event: the name of a tool, or a mapping that says more."""

    tool: ToolName | None = Field(None, description="The name of the tool, or a comparison with it.")
    event: Named | None = Field(None, description="The name of an event, in place of a call.")
    data: PayloadField | None = Field(None, description="Fields of that event's payload: each a value or a comparison.")
    as_: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] | None = Field(
        None, alias="as", description="A name under which the other step can take values from this one."
    )

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        return {"tool": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _of_one_sort(self) -> Self:
        written = self.model_fields_set - {"as_"}
        if not written:
            words = {"thing": "This step", "key": "tool", "purpose": "it says which call is meant."}
            raise refused(LanguageError(Fault("RB202", words)))
        odd = next((key for key in _OF_A_CALL if key in written), None)
        if self.event is not None and odd is not None:
            words = {"key": odd, "why": "this step is an event, which has `data` alone."}
            raise refused(LanguageError(Fault("RB215", words, path=(odd,))))
        if self.event is None and self.data is not None:
            words = {"key": "data", "where": "beside `event`"}
            raise refused(LanguageError(Fault("RB210", words, path=("data",))))
        return self

    @model_validator(mode="after")
    def _data_of_that_event(self) -> Self:
        payload = payload_type(self.event) if self.event is not None else None
        asked = self.data.root if self.data is not None else None
        if isinstance(payload, RecordOf) and isinstance(asked, Fields):
            faults = [
                fault for name, field in asked.fields.items() if (fault := _odd(name, field, payload)) is not None
            ]
            if faults:
                raise refused(LanguageError(*faults))
        return self

    @property
    def _more(self) -> tuple[str, ...]:
        return ("tool", "data")

    def known(self) -> tuple[str, ...] | None:
        """The only tools whose calls it can mean; None where it can mean others, or an event."""
        return None if self.event is not None else tool_names(self.tool)

    def steps_texts(
        self, bound: tuple[str, ...] | None
    ) -> Iterable[tuple[Path, Pattern | Template | BoundName | EventName]]:
        """What the linter can look at; `bound` as in `BoundName`."""
        yield from self.texts(bound)
        if self.event is not None:
            yield ("event",), EventName(self.event)

    def references(self) -> tuple[Reference, ...]:
        """What it takes from the other step."""
        return tuple(one for comparison in self.comparisons().values() for one in comparison.references)

    def described(self) -> str:
        """The step as people say it."""
        if self.event is not None:
            return f"an event `{self.event}`" + (" with such data" if self.data is not None else "")
        return self.called(self.tool)

    def step(self, fill: Callable[[Template], str]) -> "StepShape":
        """The same with its templates filled in."""
        bears, takes = self.as_ or "", self.references()
        if self.event is not None:
            data = None if self.data is None else self.data.filled(fill).root
            return StepShape(None, self.event, data.fields if isinstance(data, Fields) else None, bears, takes)
        return StepShape(self.shape(self.tool, "partial", fill), None, None, bears, takes)

    def blind(self, record: Record) -> str:
        """What may keep such a step from being seen in this session; empty when nothing does."""
        if self.event is None:
            return record.lack("tool_calls", "tool calls") or hidden_calls(record)
        possible = record.possible_events
        if possible is None or self.event in possible:
            return record.lack("events", f"`{self.event}` events")
        return f"{record.title} does not record `{self.event}` events"


class StepShape(Struct, frozen=True):
    """A step, ready to be compared with what happened.

    `bears` is the name that it binds, or empty; `references` is what it takes from the other step.
    """

    call: CallShape | None
    event: str | None
    data: Mapping[str, Comparator] | None
    bears: str
    references: tuple[Reference, ...]

    def verdict(self, moment: Moment, how: Compared, *, answers: bool) -> Verdict:
        """Whether it is what happened; `answers`: the session's format tells what tools answered."""
        if self.call is not None:
            return "no" if moment.call is None else self.call.verdict(moment.call, how, answers=answers)
        if moment.event is None or moment.event.name != self.event:
            return "no"
        return "yes" if self.data is None or fields_hold(self.data, payload_of(moment.event), how) else "no"


def payload_of(event: EventRecord) -> Mapping[str, object]:
    """An event's payload as rules see it."""
    data = event_data(event)["data"]
    return data if isinstance(data, Mapping) else {}


def bound_fields(moment: Moment) -> Mapping[str, object]:
    """What the other step may take from what happened."""
    if moment.call is not None:
        return fields_of(moment.call)
    return {} if moment.event is None else {"name": moment.event.name, "data": payload_of(moment.event)}


def _odd(name: str, field: Comparator, payload: RecordOf) -> Fault | None:
    """What is wrong with a field of an event's payload: there is none of that name, or it can never be that word."""
    kind = payload.fields.get(name)
    if kind is None:
        words = {"field": name, "place": payload.place, "guess": guess(name, payload.fields)}
        return Fault("RB403", words, path=("data", name))
    match field:
        case Equals(str(word)) if isinstance(kind, Scalar) and kind.choices and word not in kind.choices:
            words = {
                "value": word,
                "key": name,
                "choices": listed(kind.choices),
                "guess": guess(word, kind.choices, list_up_to=0),
            }
            return Fault("RB204", words, path=("data", name))
        case _:
            return None


def _one_or_more(value: object, handler: ValidatorFunctionWrapHandler) -> tuple[Step, ...]:
    # a lone step is validated by itself, so that its faults are not placed at the item of a list that nobody wrote
    if isinstance(value, list | tuple):
        steps: tuple[Step, ...] = handler(value)
        return steps
    return (Step.model_validate(value),)


Steps = Annotated[
    tuple[Step, ...],
    Field(strict=False, min_length=1, json_schema_extra={"type": ["array", "object", "string"]}),
    WrapValidator(_one_or_more),
]
"""A step, or a list of them of which any one counts."""
