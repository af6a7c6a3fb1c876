"""A recorded run as each of its steps left it: a judge sees the events so far, and none of what came later."""

from collections.abc import Sequence

from msgspec import Struct

from rulebook.errors import UnknownFormat
from rulebook.evidence.record import Record, Wants
from rulebook.evidence.run_events import Event, StepStartedEvent
from rulebook.evidence.run_transcript import Transcript, record_of_run
from rulebook.ports import Files
from rulebook.session.opening import Opened, located


class SoFar(Struct, frozen=True):
    """A session that was read. `run` is None where its format does not say where a step begins."""

    opened: Opened
    wants: Wants
    run: Transcript | None = None

    def at(self, step: int) -> Record:
        """What the session held when the step of that number, counted from 0, was judged."""
        cut = None if self.run is None else _end_of(step, self.run.events)
        if self.run is None or cut is None:
            return self.opened.record
        return record_of_run(Transcript(run_id=self.run.run_id, events=self.run.events[:cut]), self.wants)


def so_far(opened: Opened, word: str, wants: Wants, files: Files) -> SoFar:
    """The session that was opened by `word`, to be looked at step by step."""
    if opened.record.format != "karotte":
        return SoFar(opened, wants)
    try:
        return SoFar(opened, wants, Transcript.from_bytes(files.read(located(word)[0])))
    except (OSError, UnknownFormat):
        return SoFar(opened, wants)


def _end_of(step: int, events: Sequence[Event]) -> int | None:
    """Where the next step begins; None where none does."""
    for at, event in enumerate(events):
        if isinstance(event, StepStartedEvent) and event.step > step:
            return at
    return None
