"""What a condition tells of the rest of an expression: that a field is there, or which record is meant."""

from collections.abc import Iterable

from rulebook.languages.formula_terms import Call, Compare, Joined, Literal, Not, Read, Term
from rulebook.languages.types import RecordOf


def known_when(term: Term, truth: bool) -> frozenset[str]:
    """The paths that are surely there when `term` is `truth`: those that `known` was asked of."""
    match term:
        case Call(name="known", args=(Read(base=None, keys=keys),)) if truth:
            return frozenset(".".join(keys[: length + 1]) for length in range(len(keys)))
        case Not():
            return known_when(term.part, not truth)
        case Joined() if (term.word == "and") is truth:
            return frozenset().union(*(known_when(part, truth) for part in term.parts))
        case _:
            return frozenset()


def narrowed(parts: Iterable[Term], record: RecordOf) -> tuple[RecordOf, Term | None]:
    """The record that is left where all `parts` hold, and the part that says so: `name == 'usage'`."""
    for part in parts:
        match part:
            case Compare(operators=("==",), parts=(Read(keys=(key,), base=None), Literal(value=str() as word))):
                found = record.narrow.get(key, {}).get(word)
            case Compare(operators=("==",), parts=(Literal(value=str() as word), Read(keys=(key,), base=None))):
                found = record.narrow.get(key, {}).get(word)
            case _:
                continue
        if found is not None:
            return found, part
    return record, None
