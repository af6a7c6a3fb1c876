"""The machine's clock."""

import time


class MachineClock:
    """Time as the machine tells it."""

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()
