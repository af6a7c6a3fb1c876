"""How a Codex session ended and what it spent: the closing events, and the running count of tokens."""

from collections.abc import Mapping

from msgspec import Struct

from rulebook.evidence.session_files.values import count, mapping, word
from rulebook.evidence.transcript import End, EndReason, Usage

_ABORTS: dict[str, EndReason] = {
    "interrupted": "canceled_by_user",
    "replaced": "canceled_by_user",
    "review_ended": "canceled_by_user",
    "budget_limited": "budget_reached",
}
_ERRORS: dict[str, EndReason] = {
    "context_window_exceeded": "context_limit",
    "session_budget_exceeded": "budget_reached",
    "usage_limit_exceeded": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "cyber_policy": "refused_by_model",
}
_HARMLESS = frozenset(("thread_rollback_failed", "active_turn_not_steerable"))
"""Errors that leave the turn as it was."""


class Closing(Struct):
    """What the reading noted on the way.

    `last` is the end that the last closing event states, `went_on` whether the conversation went on after it,
    `trouble` an error after which the model said nothing more.
    """

    last: End | None = None
    went_on: bool = False
    trouble: End | None = None

    def completed(self, payload: Mapping[str, object]) -> None:
        """A turn ended: with the error that it states, or with one that nothing followed, else well."""
        error = payload.get("error")
        trouble = _trouble(mapping(error)) if isinstance(error, dict) else self.trouble
        self._ended(End("finished", "", "task_complete") if trouble is None else trouble, "task_complete")

    def aborted(self, payload: Mapping[str, object]) -> None:
        """A turn was broken off; versions that give no reason know only a person's interruption."""
        reason = word(payload.get("reason"))
        ours = "canceled_by_user" if reason is None else _ABORTS.get(reason, "unknown")
        raw = "turn_aborted" if reason is None else f"turn_aborted:{reason}"
        self._ended(End(ours, "the turn was aborted", raw), raw)

    def failed(self, payload: Mapping[str, object]) -> None:
        """An error was shown."""
        if _info(payload) not in _HARMLESS:
            self.trouble = _trouble(payload)

    def goes_on(self) -> None:
        """A person, the model or a new turn did something more."""
        self.went_on = self.last is not None
        self.trouble = None

    def end(self) -> End:
        """The end of the whole session; unknown when nothing closes it, or when it went on after the last closing."""
        if self.trouble is not None:
            return self.trouble
        if self.last is None:
            return End("unknown", "no record says how the last turn ended")
        if self.went_on:
            return End("unknown", f"the session went on after `{self.last.raw}`, and no record ends it", self.last.raw)
        return self.last

    def _ended(self, end: End, raw: str) -> None:
        self.last = End(end.reason, end.detail, raw)
        self.went_on, self.trouble = False, None


class Tokens(Struct):
    """The running total of a session's tokens, which every `token_count` event repeats.

    `fell` holds the line at which the count was lower than before, as after a restart, or could not be read: the true
    total is then at least `usage`.
    """

    usage: Usage | None = None
    fell: int | None = None

    def take(self, where: int | None, payload: Mapping[str, object]) -> None:
        """Take one `token_count` event. Its `info` may be null."""
        told = usage_of(mapping(mapping(payload.get("info")).get("total_token_usage")))
        if told is None or told.total is None:
            self.fell = where if payload.get("info") is not None and self.fell is None else self.fell
            return
        before = self.usage
        if before is None or before.total is None or told.total > before.total:
            requests = 0 if before is None else before.requests or 0
            told.requests = requests + bool(told.total)
            self.usage = told
        elif told.total < before.total and self.fell is None:
            self.fell = where


def usage_of(given: Mapping[str, object]) -> Usage | None:
    """Tokens in Codex's words: what came from the cache is a part of the input, reasoning a part of the output."""
    fresh, output = count(given.get("input_tokens")), count(given.get("output_tokens"))
    if fresh is None and output is None:
        return None
    return Usage(
        input=fresh,
        output=output,
        cache_read=count(given.get("cached_input_tokens")),
        cache_write=count(given.get("cache_write_input_tokens")),
        reasoning=count(given.get("reasoning_output_tokens")),
        source="reported",
    )


def _trouble(error: Mapping[str, object]) -> End:
    reason = _ERRORS.get(_info(error), "errored")
    return End(reason, (word(error.get("message")) or "")[:500], "error")


def _info(error: Mapping[str, object]) -> str:
    """The name of an error, which stands alone or as the key of its particulars."""
    info = error.get("codex_error_info")
    return info if isinstance(info, str) else next((str(key) for key in mapping(info)), "")
