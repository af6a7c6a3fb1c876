"""How a task is played: what is asked for, and what is known of the student that plays it."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

Speaks = Literal["text", "events"]
OnError = Literal["unmeasured", "score"]


class Played(Struct, frozen=True):
    """One run of a task.

    `speaks`: what the student prints is one reply in plain text, or events, one a line. `on_error`: what a command that
    breaks means, no score for the run, or that what is there is judged. `told`, and `notes` as sentences, are what the
    report says of the student. `run_id` and `transcript`, its file, are set when it begins.
    """

    case: str | None = None
    params: Mapping[str, object] = field(default_factory=dict)
    speaks: Speaks = "text"
    on_error: OnError = "unmeasured"
    told: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    run_id: str = ""
    transcript: str | None = None
