"""The vectors in what an OpenAI-compatible endpoint answered."""

import json
import math
from typing import Any

from rulebook.model_port import Embedded, Vector
from rulebook.services.model_replies import UNKNOWN, Fault, at, spent_by
from rulebook.spec.providers import Chosen


def vectors_in(body: bytes, chosen: Chosen, count: int) -> Embedded | Fault:
    """`count` vectors, in the order of the texts, from the body of a response whose status was 200.

    Vectors that are too many or too few, of different lengths, or hold what is no finite number are no answer: nothing
    could be said of the texts by them.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return Fault(f"{at(chosen)} answered with something that is not JSON", spent=UNKNOWN)
    spent = spent_by(_with_nothing_written(data), chosen)
    items = data.get("data") if isinstance(data, dict) else None
    found = [_vector(item) for item in items] if isinstance(items, list) else []
    if len(found) != count:
        return Fault(f"{at(chosen)} answered with {len(found)} vectors for {count} texts", spent=spent)
    vectors = [vector for vector in _in_order(items, found) if vector]
    if len(vectors) != count:
        return Fault(f"{at(chosen)} answered with a vector that is no list of finite numbers", spent=spent)
    if len({len(vector) for vector in vectors}) > 1:
        return Fault(f"{at(chosen)} answered with vectors of different lengths", spent=spent)
    return Embedded(vectors, spent)


def _vector(item: Any) -> Vector | None:
    numbers = item.get("embedding") if isinstance(item, dict) else None
    if not isinstance(numbers, list) or not numbers:
        return None
    try:
        vector = tuple(float(n) for n in numbers if isinstance(n, int | float) and not isinstance(n, bool))
    except OverflowError:
        return None
    return vector if len(vector) == len(numbers) and all(map(math.isfinite, vector)) else None


def _in_order(items: Any, found: list[Vector | None]) -> list[Vector | None]:
    """The vectors by the `index` of each where every one has its own, else as they came."""
    places: list[Any] = [item.get("index") if isinstance(item, dict) else None for item in items]
    if not all(type(place) is int for place in places) or sorted(places) != list(range(len(places))):
        return found
    return [vector for _, vector in sorted(zip(places, found, strict=True), key=lambda pair: int(pair[0]))]


def _with_nothing_written(data: Any) -> Any:
    """The response with the count of written tokens that embedding endpoints leave out: there are none."""
    usage = data.get("usage") if isinstance(data, dict) else None
    return {"usage": {"completion_tokens": 0, **usage}} if isinstance(usage, dict) else data
