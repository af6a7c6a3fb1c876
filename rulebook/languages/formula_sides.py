"""What an expression compared: each side that was not written out, and its value. For people, not for verdicts."""

from collections.abc import Callable, Iterator
from functools import lru_cache

from rulebook.languages.formula_run import closure
from rulebook.languages.formula_terms import Choices, Compare, Joined, Literal, Lookup, Not, Search, Term


def sides_of(root: Term, text: str, lookup: Lookup, search: Search) -> dict[str, object]:
    """The compared terms by their text, in the order in which they stand."""
    return {side: value(lookup, search) for side, value in _sides(root, text)}


@lru_cache(maxsize=4096)
def _sides(root: Term, text: str) -> tuple[tuple[str, Callable[[Lookup, Search], object]], ...]:
    terms = [term for term in _compared(root) if not isinstance(term, Literal | Choices)]
    return tuple((text[term.start : term.end], closure(term, text)) for term in terms)


def _compared(term: Term) -> Iterator[Term]:
    match term:
        case Joined(parts=parts) | Compare(parts=parts):
            for part in parts:
                yield from _compared(part) if isinstance(term, Joined) else (part,)
        case Not(part=part):
            yield from _compared(part)
        case _:
            yield term
