"""A condition over named rules becomes a tree of `all`, `any`, `not` and `at_least`."""

from fnmatch import fnmatchcase
from typing import Protocol

from rulebook.expression.nodes import AllOf, AnyOf, AtLeast, Common, Node, Not
from rulebook.languages.condition import Condition, Joined, Name, NotOf, Several
from rulebook.outcome import Category
from rulebook.spec.reader import Reader
from rulebook.spec.rules import RuleSpec


class Names(Protocol):
    """Looking up named rules, as the compiler does."""

    @property
    def nearest(self) -> tuple[str, ...]:
        """The names that `them` means; none: all that are not a pack's."""
        ...

    def part(self, name: str, pack: str) -> Node | None:
        """The tree of a named rule as a part whose pass decides."""
        ...

    def known_names(self, pack: str = "") -> tuple[str, ...]:
        """Every name that may be used."""
        ...

    def circle(self, name: str, pack: str) -> str | None:
        """How a name comes back to itself, or None."""
        ...

    def reader(self, spec: RuleSpec) -> Reader:
        """The reader of the file that a rule stands in."""
        ...


def condition_node(names: Names, spec: RuleSpec, condition: Condition, pack: str) -> Node | None:
    """The tree of a condition; None, with every problem noted, when a name in it is unknown."""
    match condition:
        case Name(name, start, end):
            return _name(names, spec, name, start, end, pack)
        case NotOf(part):
            node = condition_node(names, spec, part, pack)
            return None if node is None else Not(_common(spec, "not", (node,)), node)
        case Joined(word, parts):
            made = [condition_node(names, spec, part, pack) for part in parts]
            whole = tuple(node for node in made if node is not None)
            if len(whole) < len(made):
                return None
            return (
                AllOf(_common(spec, "all", whole), whole)
                if word == "and"
                else AnyOf(_common(spec, "any", whole), whole)
            )
        case Several():
            return _several(names, spec, condition, pack)


def _name(names: Names, spec: RuleSpec, name: str, start: int, end: int, pack: str) -> Node | None:
    reader = names.reader(spec)
    span = reader.document.within(spec.body_path, start, end)
    circle = names.circle(name, pack)
    if circle is not None:
        reader.add("RB303", spec.body_path, span, circle=circle)
        return None
    known = names.known_names(pack)
    if name not in known:
        reader.unknown_reference(name, known, spec.body_path, span)
        return None
    return names.part(name, pack)


def _several(names: Names, spec: RuleSpec, several: Several, pack: str) -> Node | None:
    reader = names.reader(spec)
    span = reader.document.within(spec.body_path, several.start, several.end)
    found = chosen(names, several, pack)
    if not found:
        reader.unknown_reference(several.pattern, names.known_names(pack), spec.body_path, span)
        return None
    if several.count is not None and several.count > len(found):
        reader.add("RB205", spec.body_path, span, key="the count", wanted=f"at most {len(found)}", value=several.count)
        return None
    made = [names.part(name, pack) for name in found]
    parts = tuple(node for node in made if node is not None)
    if len(parts) < len(made):
        return None
    if several.count is not None:
        return AtLeast(_common(spec, "at_least", parts), several.count, parts)
    return AllOf(_common(spec, "all", parts), parts) if several.every else AnyOf(_common(spec, "any", parts), parts)


def chosen(names: Names, several: Several, pack: str) -> tuple[str, ...]:
    """The named rules that `them` or a pattern of names stands for: a rule that asks is never one of them itself."""
    if several.pattern == "them":
        nearest = () if pack else names.nearest
        found = nearest or tuple(name for name in names.known_names(pack) if "." not in name)
    else:
        found = tuple(name for name in names.known_names(pack) if fnmatchcase(name, several.pattern))
    return tuple(name for name in found if names.circle(name, pack) is None)


def _common(spec: RuleSpec, kind: str, parts: tuple[Node, ...]) -> Common:
    found: set[Category] = {part.common.category for part in parts}
    return Common(kind, spec.document.file, spec.path, category=found.pop() if len(found) == 1 else "model")
