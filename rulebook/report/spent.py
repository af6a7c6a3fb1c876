"""What asking models came to, as data and as a sentence."""

from rulebook.outcome import Spent
from rulebook.terminal import harmless, wrapped


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


def spent_lines(whose: str, spent: Spent, width: int) -> list[str]:
    """What was spent as a sentence that begins with `whose` it was."""
    parts = [_counted(spent.calls, "call")]
    if spent.cached:
        parts.append(f"{_counted(spent.cached, 'answer')} kept from before")
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
