"""How a session can end, in the log's words, and whose doing each end is."""

from typing import Literal, get_args

OwnEnd = Literal[
    "finished",
    "turn_limit",
    "budget_reached",
    "time_limit",
    "context_limit",
    "truncated_output",
    "refused_by_model",
    "format_error",
    "forfeit",
    "no_progress",
    "empty_response",
]
"""Ends that the model brought about, or a limit of its task."""

OtherEnd = Literal["canceled_by_user", "errored", "rate_limited", "handed_over"]
"""Ends that somebody else brought about."""

EndWord = Literal[OwnEnd, OtherEnd]

OWN_ENDS: tuple[str, ...] = get_args(OwnEnd)
OTHER_ENDS: tuple[str, ...] = get_args(OtherEnd)
END_REASONS: tuple[str, ...] = (*OWN_ENDS, *OTHER_ENDS, "unknown")
"""Every word that an end can bear in expressions."""
