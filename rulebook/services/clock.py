"""The machine's clock."""

import time


class MachineClock:
    """Time as the machine tells it."""

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()


def unix_ms() -> int:
    """The time of day as Unix milliseconds, for stamping what is imported now."""
    return time.time_ns() // 1_000_000


def minute_of(time_ms: int) -> str:
    """A moment of Unix milliseconds for people, to the minute, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time_ms / 1000))
