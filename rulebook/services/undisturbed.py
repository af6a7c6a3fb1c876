"""Work that must not be cut short: what a signal's handler would raise is put off until it is done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let no handler of an interrupt, a request to end or a hang-up run until this is over; then it runs.

    Between starting a program and writing down that it runs, an exception would leave it to nobody. Handlers run in
    the main thread alone, so elsewhere this does nothing. Signals are not blocked: a child would inherit that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    before = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}
    try:
        for number in before:
            signal.signal(number, lambda number, frame: caught.append((number, frame)))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for arrived, frame in caught:
            before[signal.Signals(arrived)](arrived, frame)
