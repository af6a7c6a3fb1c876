"""Paths against the types of the evidence: what can never be there is found before anything runs."""

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from rulebook.languages.faults import Fault
from rulebook.languages.select_steps import Condition, Every, Filter, Index, Name, Slice, Step
from rulebook.languages.types import (
    ANYTHING,
    NOTHING,
    NUMBER,
    TEXT,
    YES_NO,
    ListOf,
    MapOf,
    RecordOf,
    Scalar,
    Scope,
    Type,
    described,
)
from rulebook.spelling import guess, listed, nearest


def faults_of(text: str, steps: Sequence[Step], scope: Scope) -> tuple[Fault, ...]:
    """Everything wrong with a path where `scope`'s names can be used."""
    if not steps or not isinstance(steps[0], Name) or steps[0].anywhere:
        words = {"what": "`$` without a name behind it", "instead": "begin with a name, like `$.messages`"}
        return (Fault("RB416", words),)
    walk = _Walk(text)
    walk.along(RecordOf(scope.place, scope.names), steps)
    return tuple(walk.faults)


class _Walk(Struct):
    text: str
    faults: list[Fault] = field(default_factory=list)

    def along(self, kind: Type, steps: Sequence[Step]) -> Type | None:
        """The kind of value that the steps lead to; None after a fault."""
        for position, step in enumerate(steps):
            match step:
                case Name(anywhere=True):
                    after = self._anywhere(kind, step)
                case Name():
                    after = self._named(kind, step, steps[position + 1 :])
                case Filter():
                    after = self._filtered(kind, step)
                case Index() | Slice() | Every():
                    after = self._item(kind, step)
            if after is None:
                return None
            kind = after
        return kind

    def _named(self, kind: Type, step: Name, rest: Sequence[Step]) -> Type | None:
        match kind:
            case Scalar(name="anything"):
                return ANYTHING
            case MapOf(value):
                return value
            case RecordOf(_, fields) if step.name in fields:
                return fields[step.name]
            case RecordOf(open=True):
                return ANYTHING
            case RecordOf(_, fields):
                self._unknown(step, rest, tuple(fields))
            case ListOf():
                mended = f"{self.text[: step.start]}[*]{self.text[step.start :]}"
                self._nothing(step, help="This is a list; `[*]` takes its items.", mended=mended)
            case _:
                self._nothing(step, help=f"Here stands {described(kind)}, which has no parts.")
        return None

    def _unknown(self, step: Name, rest: Sequence[Step], fields: tuple[str, ...]) -> None:
        whole, end = step.name, step.end
        for following in rest:
            if not isinstance(following, Name) or following.anywhere:
                break
            whole, end = f"{whole}.{following.name}", following.end
            if whole in fields:
                mended = f"{self.text[: step.start]}['{whole}']{self.text[end:]}"
                self.faults.append(Fault("RB415", {"name": whole}, step.start, end, mended=mended, safe=True))
                return
        best = nearest(step.name, fields)
        mended_step = None if best is None else self.text[: step.start] + _written(best) + self.text[step.end :]
        self._nothing(step, guess=guess(step.name, fields), mended=mended_step)

    def _item(self, kind: Type, step: Index | Slice | Every) -> Type | None:
        match kind:
            case Scalar(name="anything"):
                return ANYTHING
            case ListOf(item):
                return item
            case MapOf(value) if isinstance(step, Every):
                return value
            case RecordOf() if isinstance(step, Every):
                return ANYTHING
            case _:
                self._nothing(step, help=f"Here stands {described(kind)}, not a list.")
        return None

    def _anywhere(self, kind: Type, step: Name) -> Type | None:
        found = list(dict.fromkeys(map(repr, kinds := list(_below(kind, step.name)))))
        if not found:
            self._nothing(step, guess=guess(step.name, _names_below(kind), list_up_to=0))
            return None
        return kinds[0] if len(found) == 1 else ANYTHING

    def _filtered(self, kind: Type, step: Filter) -> Type | None:
        match kind:
            case Scalar(name="anything"):
                return ANYTHING
            case ListOf(item) | MapOf(item):
                kept: Type = item
            case _:
                self._nothing(step, help=f"Here stands {described(kind)}; a filter needs a list.")
                return None
        for condition in step.conditions:
            kept = _narrowed(kept, condition)
        before = len(self.faults)
        for condition in step.conditions:
            self._condition(kept, condition)
        return kept if len(self.faults) == before else None

    def _condition(self, item: Type, condition: Condition) -> None:
        kind = self.along(item, condition.path)
        if kind is None or not condition.operator:
            return
        given = _kind_of(condition.value)
        words = {
            "verb": "compares",
            "left": described(kind),
            "right": described(given),
            "why": "that never holds",
        }
        if not _comparable(kind, given):
            self.faults.append(Fault("RB407", words, condition.start, condition.end))
        elif isinstance(kind, Scalar) and kind.choices and condition.value not in (*kind.choices, None):
            value, key = str(condition.value), _written_path(condition.path)
            choices = {"value": value, "key": key, "choices": listed(kind.choices)}
            found = Fault(
                "RB204",
                {**choices, "guess": _guess_only(value, kind.choices)},
                condition.start,
                condition.end,
            )
            self.faults.append(found)

    def _nothing(self, step: Step, *, guess: str = "", help: str = "", mended: str | None = None) -> None:
        written = self.text[step.start : step.end].lstrip(".")
        self.faults.append(Fault("RB414", {"step": written, "guess": guess}, step.start, step.end, help, mended))


def _narrowed(item: Type, condition: Condition) -> Type:
    """What is left of a record once a condition says which of its kinds it is."""
    if not isinstance(item, RecordOf) or condition.operator != "==" or len(condition.path) != 1:
        return item
    step = condition.path[0]
    kinds = item.narrow.get(step.name, {}) if isinstance(step, Name) else {}
    return kinds.get(str(condition.value), item)


def _comparable(kind: Type, given: Scalar) -> bool:
    if not isinstance(kind, Scalar):
        return given is NOTHING
    return "anything" in (kind.name, given.name) or kind.name == given.name or given.name == "nothing"


def _kind_of(value: object) -> Scalar:
    match value:
        case bool():
            return YES_NO
        case int() | float():
            return NUMBER
        case str():
            return TEXT
        case _:
            return NOTHING


def _below(kind: Type, name: str) -> Iterator[Type]:
    """Every kind of value called `name` at any depth; anything at all where the depth is not known."""
    match kind:
        case Scalar(name="anything"):
            yield ANYTHING
        case ListOf(inner):
            yield from _below(inner, name)
        case MapOf(inner):
            yield inner
            yield from _below(inner, name)
        case RecordOf(_, fields, is_open):
            if name in fields:
                yield fields[name]
            if is_open:
                yield ANYTHING
            for inner in fields.values():
                yield from _below(inner, name)
        case _:
            return


def _names_below(kind: Type) -> Iterator[str]:
    match kind:
        case ListOf(inner) | MapOf(inner):
            yield from _names_below(inner)
        case RecordOf(_, fields):
            for name, inner in fields.items():
                yield name
                yield from _names_below(inner)
        case _:
            return


def _written(name: str) -> str:
    return f".{name}" if name.replace("-", "_").isidentifier() else f"['{name}']"


def _written_path(path: Sequence[Name | Index]) -> str:
    return "@" + "".join(_written(step.name) if isinstance(step, Name) else f"[{step.index}]" for step in path)


def _guess_only(value: str, choices: Sequence[str]) -> str:
    best = nearest(value, choices)
    return f" Did you mean `{best}`?" if best else ""
