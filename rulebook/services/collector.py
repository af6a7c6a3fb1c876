"""Python's collector of cycles, asked to look less often while much is made that holds none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 100_000
"""New objects between two looks. Looking after every 700 of them, as is usual, costs a fifth of scoring rows."""


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Look seldom within, and as before afterwards; a caller who has switched the collector off keeps it so."""
    before = gc.get_threshold()
    if 0 < before[0] < SELDOM:
        gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
