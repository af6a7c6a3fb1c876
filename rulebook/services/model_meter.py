"""What is spent on models while somebody listens: whoever asks them, and through whichever ports."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rulebook.outcome import Spent, spent_in_all


class Meter:
    """Adds up what asking models came to; None: nobody asked one."""

    def __init__(self) -> None:
        self._spent: Spent | None = None

    def add(self, spent: Spent) -> None:
        """One asking more."""
        self._spent = spent if self._spent is None else spent_in_all([self._spent, spent])

    def taken(self) -> Spent | None:
        """What came together since this was asked last."""
        spent, self._spent = self._spent, None
        return spent


_LISTENING: ContextVar[Meter | None] = ContextVar("rulebook-meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter for what the code within asks of models, threads that it starts left out."""
    meter = Meter()
    before = _LISTENING.set(meter)
    try:
        yield meter
    finally:
        _LISTENING.reset(before)


def tell_meter(spent: Spent) -> None:
    """Say what an asking came to, to whoever listens."""
    meter = _LISTENING.get()
    if meter is not None:
        meter.add(spent)
