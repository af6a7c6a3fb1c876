"""What judge models cost in all, for every kind of report that has traces."""

from collections.abc import Iterable

from rulebook.interpreter.trace import Trace, spent_of
from rulebook.report.spent import spent_json, spent_lines


def models_json(traces: Iterable[Trace]) -> dict[str, object]:
    """`models` for a report as plain data; empty where no model was asked. What is not known is None, never 0."""
    spent = spent_of(traces)
    return {} if spent is None else {"models": spent_json(spent)}


def models_lines(traces: Iterable[Trace], width: int) -> list[str]:
    """The same as a sentence for people, in lines of at most `width` columns; none where no model was asked."""
    spent = spent_of(traces)
    return [] if spent is None else spent_lines("Judge models", spent, width)
