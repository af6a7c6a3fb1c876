"""Formats that are recognised and not read: naming one helps more than saying what it is not."""

from collections.abc import Callable

from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.values import mapping, sequence


def lookalike(sample: Sample) -> str | None:
    """What the file looks like, in words, when it is of a known kind that has no reader."""
    return next((words for words, holds in _KNOWN if holds(sample)), None)


def _first(sample: Sample) -> set[str]:
    return set(sample.keys or (sample.entries[0] if sample.entries else ()))


_KNOWN: tuple[tuple[str, Callable[[Sample], bool]], ...] = (
    ("it holds no Inspect log, which would have a `header.json`", lambda s: s.kind == "archive"),
    (
        "it looks like an audit log of ours, which is read as it is and not imported",
        lambda s: "chock_log" in _first(s),
    ),
    (
        "it is a JSON Schema, which says what messages look like and holds none",
        lambda s: "$defs" in _first(s) or str(s.keys.get("$schema", "")).startswith("http"),
    ),
    (
        "it looks like OpenTelemetry logs or metrics, and only spans hold a session",
        lambda s: bool({"resourceLogs", "resourceMetrics"} & _first(s)),
    ),
    (
        "its events are those of an Inspect sample, without the log and the messages around them",
        lambda s: any("event" in mapping(event) for event in sequence(s.keys.get("events"))),
    ),
    (
        "it is an export of conversations for training (ShareGPT), one an episode, and each repeats those before it",
        lambda s: "conversations" in _first(s),
    ),
    (
        "it looks like predictions: patches without the sessions that made them",
        lambda s: {"instance_id", "model_patch"} <= _first(s),
    ),
    ("it looks like recorded model replies", lambda s: {"method", "response"} <= _first(s)),
    (
        "it looks like token ids of a training library: without words there is no message in it",
        lambda s: bool(_first(s)) and all(str(key).endswith("token_ids") for key in _first(s)),
    ),
)
