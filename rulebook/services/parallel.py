"""Work spread over processes of our own, its results in order: what one piece costs or breaks is its own affair."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[Given], Result], given: Iterable[Given], workers: int, lost: Callable[[Given], Result]
) -> Iterator[Result]:
    """`work` done on each, in `workers` processes, the results in the order of `given`, none of which is None.

    Only so many are under way that memory stays bounded. `lost` gives the result of a piece whose process died (killed,
    out of memory) twice. `work` raises nothing; what it returns must be picklable. With one worker, and where a process
    cannot be forked, all is done here.
    """
    if workers <= 1 or not hasattr(os, "fork"):
        yield from map(work, given)
        return
    from rulebook.services.process_pool import spread  # 20 ms, which work that is done here does not pay

    yield from spread(work, given, workers, lost)
