"""Threads of our own in which a task takes several rows at once."""

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from queue import SimpleQueue

from rulebook.services.undisturbed import undisturbed

_Row = Mapping[str, object]


class EndSign:
    """A descriptor from which something can be read as soon as the sign was given, by whoever waits for it."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def give(self) -> None:
        """Say that all that waits for it is to end."""
        os.eventfd_write(self.descriptor, 1)

    def close(self) -> None:
        """Let the descriptor go; nobody may wait for it any more."""
        os.close(self.descriptor)


class RowThreads:
    """Gives rows to `task`, at most `at_once` of them together; implements `session.evaluating_together.Crew`.

    A task that ends when `sign` is given is waited for at the end. One that cannot be ended, a function of a user's
    own, is left to itself then: no thread of these keeps the program from ending.
    """

    def __init__(self, task: Callable[[_Row], object], at_once: int, sign: EndSign | None = None) -> None:
        self.at_once = at_once
        self._task, self._sign = task, sign
        self._waiting: SimpleQueue[tuple[Future[object], _Row] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._is_over = False

    def begin(self, row: _Row) -> Future[object]:
        """What the task gives for a row, once a thread has come to it. Rows are begun in the order of these calls."""
        future: Future[object] = Future()
        self._waiting.put((future, row))
        if len(self._threads) < self.at_once:
            thread = threading.Thread(target=self._work, name="rulebook-rows", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def end(self) -> None:
        """Begin no row any more, and end what is under way where it can be ended. To be called once."""
        with undisturbed():
            self._is_over = True
            for _ in self._threads:
                self._waiting.put(None)
            if self._sign is not None:
                self._sign.give()
                for thread in self._threads:
                    thread.join()
                self._sign.close()

    def _work(self) -> None:
        while (given := self._waiting.get()) is not None and not self._is_over:
            future, row = given
            try:
                future.set_result(self._task(row))
            except BaseException as error:  # whoever waits for the row raises it
                future.set_exception(error)
