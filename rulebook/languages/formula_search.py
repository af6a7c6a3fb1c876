"""How `matches` searches: under a time limit, or only where none is needed."""

from rulebook.errors import NotHandedIn, OutOfTime, UsageError
from rulebook.languages.formula_terms import Search
from rulebook.languages.pattern import MAX_TEXT_CHARACTERS, SEARCH_LIMIT_S, Pattern
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
        if len(text) > MAX_TEXT_CHARACTERS and (found is None or not safe_when_cut(pattern, found[1])):
            raise NotHandedIn(f"the text is too large to search for `{pattern.text}`", cause="excess")
        return found is not None

    return search


def safe_when_cut(pattern: Pattern, end: int) -> bool:
    """Whether a match that ends at `end` of a text cut to its limit would be one in the whole text too.

    A pattern that looks past its match, or asks for the end, can be deceived by the cut.
    """
    looks_past = ("(?", "$", r"\Z", r"\z", r"\b", r"\B")
    return end < MAX_TEXT_CHARACTERS and not any(sign in pattern.text for sign in looks_past)


def quick_search(pattern: Pattern, text: str) -> bool:
    """Python's own search, for a text on which the pattern is proved to be quick. Raises UsageError for others."""
    from rulebook.languages.pattern_compiled import compiled  # only what is evaluated pays for it

    if not pattern.quick_on(len(text)):
        raise UsageError(f"`{pattern.text}` may search for long: pass a `search` that has a time limit")
    return compiled(pattern.text, pattern.flags).search(text) is not None
