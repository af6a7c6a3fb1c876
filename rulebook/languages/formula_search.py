"""How `matches` searches: under a time limit, or only where none is needed."""

from rulebook.errors import NotHandedIn, OutOfTime, UsageError
from rulebook.languages.formula_terms import Search
from rulebook.languages.pattern import MAX_TEXT_CHARACTERS, SEARCH_LIMIT_S, Pattern
from rulebook.languages.pattern_compiled import compiled
from rulebook.ports import Ports


def search_with(ports: Ports) -> Search:
    """The search that measuring uses. It raises OutOfTime at the rule's deadline, NotHandedIn past its own limit."""

    def search(pattern: Pattern, text: str) -> bool:
        try:
            found = ports.patterns.search(pattern, text[:MAX_TEXT_CHARACTERS], ports.time_left(SEARCH_LIMIT_S))
        except TimeoutError as error:
            if ports.time_left(SEARCH_LIMIT_S) <= 0:
                raise OutOfTime(SEARCH_LIMIT_S, material=True) from error
            why = f"the search for `{pattern.text}` did not end within {SEARCH_LIMIT_S:g} s"
            raise NotHandedIn(why) from error
        return found is not None

    return search


def quick_search(pattern: Pattern, text: str) -> bool:
    """Python's own search, for a text on which the pattern is proved to be quick. Raises UsageError for others."""
    if not pattern.quick_on(len(text)):
        raise UsageError(f"`{pattern.text}` may search for long: pass a `search` that has a time limit")
    return compiled(pattern.text, pattern.flags).search(text) is not None
