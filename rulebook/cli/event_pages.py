"""The page of an event of the log: the fields of its `data`, made from the types that expressions are checked with."""

from rulebook.evidence.event_names import owner_of_event
from rulebook.evidence.event_types import EVENT_NAMES, PAYLOADS
from rulebook.languages.types import ListOf, RecordOf, Scalar, Type, described
from rulebook.spelling import listed

__all__ = ["EVENT_NAMES", "event_page"]


def event_page(name: str) -> str | None:
    """The page of an event; None when no event is called so."""
    payload = PAYLOADS.get(name)
    if payload is None:
        return None
    rows = [f"| `{field}` | {_kind(kind)} | {'yes' if kind.optional else ''} |" for field, kind in payload.items()]
    return "\n".join(
        [
            f"# {name}",
            "",
            f"An event of a session. Without a `category`, a rule about it is the `{owner_of_event(name)}`'s.",
            "",
            "```yaml",
            "checks:",
            f'  my_rule: {{event: {{name: {name}, where: "{_example(payload)}"}}}}',
            "```",
            "",
            "| field of `data` | what it is | may be missing |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _kind(kind: Type) -> str:
    match kind:
        case Scalar(choices=choices) if choices:
            return f"one of {listed(choices)}"
        case ListOf(RecordOf(place, fields)):
            return f"a list; each item, {place}, has {listed(fields)}"
        case RecordOf(_, fields):
            return f"a mapping with {listed(fields)}"
        case _:
            return described(kind)


def _example(payload: dict[str, Type]) -> str:
    """A condition that holds of some such events."""
    sure = {field: kind for field, kind in payload.items() if isinstance(kind, Scalar) and not kind.optional}
    chosen = next(((field, kind.choices[0]) for field, kind in sure.items() if kind.choices), None)
    if chosen is not None:
        return f"data.{chosen[0]} == '{chosen[1]}'"
    counted = next((field for field, kind in sure.items() if kind.name == "number"), None)
    if counted is not None:
        return f"data.{counted} > 0"
    named = next((field for field in ("tool", "path", "name", "title") if field in sure), None)
    return f"data.{named} == '…'" if named is not None else f"known(data.{next(iter(payload))})"
