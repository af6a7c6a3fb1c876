"""The built-in scorers that look for a pattern, or read JSON or numbers. Source: scorers, "Built-in scorers"."""

import re
from collections.abc import Iterable
from functools import partial

from rulebook.api.scorer_handle import Measures, Scorer, declared
from rulebook.api.scorer_options import flag
from rulebook.api.text_scorers import PAIR
from rulebook.errors import UnfitKind, UnfitOption
from rulebook.languages.pattern import Pattern
from rulebook.languages.pattern_given import pattern_given
from rulebook.measures.numeric_close import CloseOptions, numeric_close_score, numeric_close_scores, read_number
from rulebook.measures.regex_match import Sought, regex_match_score, regex_match_scores
from rulebook.measures.texts import as_text
from rulebook.ports import SearchPattern

_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII | re.UNICODE


def regex_match(
    pattern: str,
    *,
    inputs: Iterable[str] = ("output",),
    name: str = "regex-match",
    flags: int = 0,
    full_match: bool = False,
    **keywords: object,
) -> Scorer:
    """A column holds the pattern, or with `full_match` is all of it: 1, else 0. Metadata: `match`, `groups`.

    `pattern` is of Python's `re`, `flags` are those of that module. White space at the ends of the column stays. A
    search ends after 2 s whatever the pattern, and that row scores 0 with an `error`.
    """
    sought = Sought(_pattern(pattern, flags), flag("full_match", full_match))
    own = _OwnPatterns()
    measures = (
        partial(regex_match_score, sought=sought, patterns=own),
        partial(regex_match_scores, sought=sought, patterns=own),
    )
    given = {"pattern": pattern, "flags": int(flags), "full_match": full_match}
    return declared("regex_match", (as_text,), lambda _: measures, inputs, name, given, keywords)


def json_valid(*, inputs: Iterable[str] = ("output",), name: str = "json-valid", **keywords: object) -> Scorer:
    """A column is a JSON document: 1, else 0 with an `error` in the metadata."""
    from rulebook.measures.json_reading import read_json  # orjson and decimals are for who reads JSON
    from rulebook.measures.json_valid import json_valid_score

    return declared("json_valid", (read_json,), lambda _: (json_valid_score, None), inputs, name, {}, keywords)


def json_match(
    *,
    inputs: Iterable[str] = PAIR,
    name: str = "json-match",
    paths: Iterable[str] | None = None,
    **keywords: object,
) -> Scorer:
    """Two columns agree as JSON: 1 or 0, or with dotted `paths` the share that agrees. Metadata: `mismatched`.

    The order of keys does not matter, that of a list does. A path that neither column has agrees.
    """
    from rulebook.measures.json_match import json_match_score, json_match_scores, json_path_to  # as above
    from rulebook.measures.json_reading import read_json

    texts = None if paths is None else _paths(paths)
    steps = None if texts is None else tuple(map(json_path_to, texts))

    def bound(columns: tuple[str, ...]) -> Measures:
        names = columns[0], columns[1]
        return partial(json_match_score, paths=steps, names=names), partial(json_match_scores, paths=steps, names=names)

    return declared("json_match", (read_json, read_json), bound, inputs, name, {"paths": texts}, keywords)


def numeric_close(
    *,
    inputs: Iterable[str] = PAIR,
    name: str = "numeric-close",
    tolerance: float | None = None,
    relative: bool = False,
    **keywords: object,
) -> Scorer:
    """Two columns agree as numbers: 1 within `tolerance`, else 0. Metadata: `difference`, signed.

    `relative` takes the tolerance as a share of the larger number. Without a tolerance the score falls from 1 to 0 as
    the gap grows to the size of the larger number.
    """
    options = CloseOptions(_tolerance(tolerance), flag("relative", relative))

    def bound(columns: tuple[str, ...]) -> Measures:
        names = columns[0], columns[1]
        alone = partial(numeric_close_score, options=options, names=names)
        return alone, partial(numeric_close_scores, options=options, names=names)

    return declared("numeric_close", (read_number, read_number), bound, inputs, name, options._asdict(), keywords)


class _OwnPatterns:
    """This machine's search with a time limit, made when the first pattern needs one."""

    def search(self, pattern: SearchPattern, text: str, limit_s: float) -> tuple[int, int] | None:
        from rulebook.api.own_machine import own_ports  # the services, which a quick pattern never needs

        return own_ports().patterns.search(pattern, text, limit_s)


def _pattern(pattern: object, flags: object) -> Pattern:
    if not isinstance(pattern, str):
        raise UnfitKind(f"`pattern` must be text; this is {pattern!r:.80}.")
    if isinstance(flags, bool) or not isinstance(flags, int):
        raise UnfitKind(f"`flags` are those of the module `re`, such as re.IGNORECASE; this is {flags!r:.80}.")
    if flags & ~int(_FLAGS):
        raise UnfitOption("`flags` may join IGNORECASE, MULTILINE, DOTALL, VERBOSE and ASCII of the module `re`.")
    try:
        re.compile(pattern, flags)
        return pattern_given(pattern, flags)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise UnfitOption(f"`pattern` has a mistake: {error}.") from error


def _paths(paths: object) -> tuple[str, ...]:
    if isinstance(paths, str) or not isinstance(paths, list | tuple | set | frozenset):
        raise UnfitKind(f"`paths` is a list of dotted paths, such as ['user.id']; this is {paths!r:.80}.")
    if not paths:
        raise UnfitOption("`paths` is empty. Leave it out to compare whole documents.")
    for path in paths:
        if not isinstance(path, str):
            raise UnfitKind(f"A path is text, such as 'items.0'; this is {path!r:.80}.")
    return tuple(paths)


def _tolerance(tolerance: object) -> float | None:
    if tolerance is None:
        return None
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise UnfitKind(f"`tolerance` must be a number; this is {tolerance!r:.80}.")
    if not 0 <= tolerance < float("inf"):
        raise UnfitOption(f"`tolerance` must be 0 or more and finite; this is {tolerance}.")
    return float(tolerance)
