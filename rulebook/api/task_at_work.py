"""The task of an evaluation as a run takes it."""

from collections.abc import Callable

from msgspec import Struct

from rulebook.session.evaluating import Task
from rulebook.session.evaluating_together import Crew


class TaskAtWork(Struct, frozen=True):
    """`task` gives the output of one row after the other; `crew_of`, where it is not None, that of several at once."""

    task: Task | None = None
    crew_of: Callable[[], Crew] | None = None
