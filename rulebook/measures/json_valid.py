"""Whether a text is a JSON document."""

from collections.abc import Mapping

from rulebook.measures.json_reading import NotJson


def json_valid_score(candidate: object) -> tuple[float, Mapping[str, object]]:
    """The score, 1 or 0, for what `read_json` made of a text; the metadata says what is wrong with it.

    Source: scorers, json_valid.
    """
    return (0.0, {"error": candidate.reason}) if isinstance(candidate, NotJson) else (1.0, {})
