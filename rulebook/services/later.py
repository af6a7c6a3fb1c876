"""What will be made of something that is not there yet."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def made_later(given: Future[Given], make: Callable[[Given], Made]) -> Future[Made]:
    """What `make`, which raises nothing, will make of it. It is cancelled, and it fails, as the given one does."""
    made: Future[Made] = Future()

    def done(future: Future[Given]) -> None:
        if future.cancelled():
            made.cancel()
        elif (error := future.exception()) is not None:
            made.set_exception(error)
        else:
            made.set_result(make(future.result()))

    given.add_done_callback(done)
    return made
