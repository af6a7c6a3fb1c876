"""What judge models cost in all, for every kind of report."""

from collections.abc import Iterable

from rulebook.interpreter.trace import Trace, spent_of
from rulebook.outcome import Spent
from rulebook.terminal import harmless, wrapped


def models_json(traces: Iterable[Trace]) -> dict[str, object]:
    """`models` for a report as plain data; empty where no model was asked. What is not known is None, never 0."""
    spent = spent_of(traces)
    return {} if spent is None else {"models": spent_json(spent)}


def spent_json(spent: Spent) -> dict[str, object]:
    """What was spent as plain data. What is not known is None, never 0."""
    currency = _currency(spent)
    return {
        "calls": spent.calls,
        "cached": spent.cached,
        "input_tokens": None if spent.uncounted else spent.input_tokens,
        "output_tokens": None if spent.uncounted else spent.output_tokens,
        "cost": spent.costs[currency] if currency else None,
        "currency": currency,
    }


def models_lines(traces: Iterable[Trace], width: int) -> list[str]:
    """The same as a sentence for people, in lines of at most `width` columns; none where no model was asked."""
    spent = spent_of(traces)
    return [] if spent is None else spent_lines("Judge models", spent, width)


def spent_lines(whose: str, spent: Spent, width: int) -> list[str]:
    """What was spent as a sentence that begins with `whose` it was."""
    parts = [_counted(spent.calls, "call")]
    if spent.cached:
        parts.append(f"{_counted(spent.cached, 'answer')} kept from earlier runs")
    if spent.uncounted:
        parts.append("tokens not known")
    elif spent.calls:
        parts.append(f"{spent.input_tokens:,} tokens read and {spent.output_tokens:,} written")
    currency = _currency(spent)
    if currency:
        parts.append(f"{spent.costs[currency]:.4g} {currency}")
    elif spent.calls:
        parts.append("cost not known")
    return wrapped(f"{whose}: {harmless(', '.join(parts))}.", width)


def _currency(spent: Spent) -> str | None:
    """The currency of the whole cost; None where a part is not known, or there are several."""
    return next(iter(spent.costs)) if not spent.unpriced and len(spent.costs) == 1 else None


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
