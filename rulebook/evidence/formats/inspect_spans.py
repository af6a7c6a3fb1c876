"""Where in the work an Inspect event stands: with a grader, in an agent that was called, or in the main line."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from rulebook.evidence.session_files.values import mapping, sequence, word

_GRADING = frozenset(("scorer", "scorers"))
_AGENTS = frozenset(("agent", "subtask", "handoff"))
_BESIDE = "beside the messages"
_DEPTH = 100

Given = Mapping[str, object]


class Place(Struct, frozen=True):
    """`span` names the nearest agent's span and `name` that agent; `tool` is the call within which it stands."""

    span: str = _BESIDE
    name: str | None = None
    tool: str | None = None
    grading: bool = False


class _Spans:
    """The spans begun so far, and the steps of older logs, which say only where they begin and end."""

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self.steps: list[str] = []

    def begin(self, event: Given, outside: Place) -> None:
        span = word(event.get("id"))
        if span is None:
            return
        place = self.places.get(word(event.get("parent_id")) or "", outside)
        kind = word(event.get("type"))
        if kind in _AGENTS:
            place = Place(span, word(event.get("name")), place.tool, place.grading)
        self.places[span] = Place(place.span, place.name, place.tool, place.grading or kind in _GRADING)

    def step(self, event: Given) -> None:
        if event.get("action") == "begin":
            self.steps.append(str(event.get("type")))
        elif self.steps:
            self.steps.pop()

    def place(self, event: Given, outside: Place) -> Place:
        place = self.places.get(word(event.get("span_id")) or "", outside)
        grading = place.grading or any(step in _GRADING for step in self.steps)
        return Place(place.span, place.name, place.tool, grading)


def placed(events: list[object]) -> Iterator[tuple[Place, Given]]:
    """Every event with its place, in order; those that older logs nest in a tool's or a subtask's event after it."""
    return _placed(events, Place(), _Spans(), 0)


def _placed(events: list[object], outside: Place, spans: _Spans, depth: int) -> Iterator[tuple[Place, Given]]:
    for value in events:
        event = mapping(value)
        kind = event.get("event")
        if kind == "span_begin":
            spans.begin(event, outside)
        elif kind == "step":
            spans.step(event)
        place = spans.place(event, outside)
        yield place, event
        inner = sequence(event.get("events"))
        if inner and depth < _DEPTH:
            yield from _placed(inner, _inside(event, place), spans, depth + 1)


def _inside(event: Given, place: Place) -> Place:
    call = word(event.get("id")) if event.get("event") == "tool" else None
    name = word(event.get("function")) or word(event.get("name"))
    span = f"in {call}" if call is not None else f"in {name or 'a subtask'}"
    return Place(span, name, call or place.tool, place.grading)
