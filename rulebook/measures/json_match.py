"""Whether two JSON documents agree, as a whole or at some paths."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rulebook.measures.json_reading import NotJson

ABSENT = object()
"""What a path finds where there is nothing."""

_PLAIN = (str, int, float)
_INDEX = re.compile("-?[0-9]{1,18}")


class JsonPathTo(NamedTuple):
    """A dotted path, and its steps."""

    text: str
    steps: tuple[str, ...]


def json_path_to(text: str) -> JsonPathTo:
    """Read a dotted path. A step is a key; on a list, digits are a position, counted from the end after a `-`."""
    return JsonPathTo(text, tuple(text.split(".")))


def json_match_score(
    candidate: object, reference: object, paths: Sequence[JsonPathTo] | None, names: tuple[str, str]
) -> tuple[float, Mapping[str, object]]:
    """The score, 0..1, and what is `mismatched`; 0 and an `error` where a side is no JSON.

    Both sides are documents as `read_json` gives them; `names` are what they are called in an error. Whole documents:
    1 or 0, with the differing keys of two mappings or positions of two lists, else nothing. Paths: the share that
    agrees; one that neither side has agrees. Source: scorers, json_match.
    """
    if isinstance(candidate, NotJson):
        return 0.0, {"error": f"{names[0]}: {candidate.reason}"}
    if isinstance(reference, NotJson):
        return 0.0, {"error": f"{names[1]}: {reference.reason}"}
    if paths is None:
        mismatched = _differing(candidate, reference)
        same = not mismatched if mismatched is not None else same_json(candidate, reference)
        return (1.0 if same else 0.0), {"mismatched": mismatched or []}
    differing = [path.text for path in paths if not same_json(at_path(candidate, path), at_path(reference, path))]
    return 1.0 - len(differing) / len(paths), {"mismatched": differing}


def json_match_scores(
    candidates: Sequence[object],
    references: Sequence[object],
    paths: Sequence[JsonPathTo] | None,
    names: tuple[str, str],
) -> Sequence[tuple[float, Mapping[str, object]]]:
    """The same for each pair of two columns."""
    if paths is None or len(paths) > 1 or len(paths[0].steps) > 1:
        return [json_match_score(*pair, paths, names) for pair in zip(candidates, references, strict=True)]
    (key,) = paths[0].steps
    found: list[tuple[float, Mapping[str, object]]] = []
    for candidate, reference in zip(candidates, references, strict=True):
        if type(candidate) is dict and type(reference) is dict:  # what nearly every row holds
            agrees = same_json(candidate.get(key, ABSENT), reference.get(key, ABSENT))
            found.append((1.0, {"mismatched": []}) if agrees else (0.0, {"mismatched": [paths[0].text]}))
        else:
            found.append(json_match_score(candidate, reference, paths, names))
    return found


def at_path(document: object, path: JsonPathTo) -> object:
    """What stands at the path; ABSENT where nothing does."""
    for step in path.steps:
        if isinstance(document, dict):
            if step not in document:
                return ABSENT
            document = document[step]
        elif isinstance(document, list) and _INDEX.fullmatch(step) is not None:
            position = int(step)
            if not -len(document) <= position < len(document):
                return ABSENT
            document = document[position]
        else:
            return ABSENT
    return document


def same_json(one: object, other: object) -> bool:
    """Whether two documents are equal: order of keys aside, 1 as 1.0, true never as 1. Any depth."""
    kind = type(one)
    if kind is type(other) and kind in _PLAIN:  # what most paths lead to
        return one == other
    left = [(one, other)]
    while left:
        first, second = left.pop()
        if first is second:
            continue
        if isinstance(first, dict):
            if not isinstance(second, dict) or first.keys() != second.keys():
                return False
            left += [(value, second[key]) for key, value in first.items()]
        elif isinstance(first, list):
            if not isinstance(second, list) or len(first) != len(second):
                return False
            left += zip(first, second, strict=True)
        elif isinstance(first, bool) or isinstance(second, bool) or first != second:
            return False
    return True


def _differing(one: object, other: object) -> list[str] | None:
    """The keys of two mappings or the positions of two lists at which they differ; None for anything else."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() if one.keys() == other.keys() else one.keys() | other.keys()
        return sorted(str(key) for key in keys if not same_json(one.get(key, ABSENT), other.get(key, ABSENT)))
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        unlike = [position for position, (first, second) in enumerate(pairs) if not same_json(first, second)]
        shorter, longer = sorted((len(one), len(other)))
        return [str(position) for position in (*unlike, *range(shorter, longer))]
    return None
