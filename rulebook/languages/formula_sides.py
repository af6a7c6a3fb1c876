"""What an expression compared: each side that was not written out, and its value. For people, not for verdicts."""

from collections.abc import Iterator

from rulebook.languages.formula_run import closure
from rulebook.languages.formula_terms import Choices, Compare, Joined, Literal, Lookup, Not, Search, Term


def sides_of(root: Term, text: str, lookup: Lookup, search: Search) -> dict[str, object]:
    """The compared terms by their text, in the order in which they stand."""
    terms = [term for term in _compared(root) if not isinstance(term, Literal | Choices)]
    return {text[term.start : term.end]: closure(term, text)(lookup, search) for term in terms}


def _compared(term: Term) -> Iterator[Term]:
    match term:
        case Joined(parts=parts) | Compare(parts=parts):
            for part in parts:
                yield from _compared(part) if isinstance(term, Joined) else (part,)
        case Not(part=part):
            yield from _compared(part)
        case _:
            yield term
