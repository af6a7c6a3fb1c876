"""Regular-expression search that ends in time: in process where that is proved, watched elsewhere."""

import re
import signal
import threading
from functools import lru_cache
from types import FrameType

from rulebook.errors import Missing
from rulebook.languages.pattern import Pattern
from rulebook.languages.pattern_compiled import compiled
from rulebook.ports import SearchPattern
from rulebook.services.pattern_workers import Workers

Found = tuple[int, int] | None


class PatternSearch:
    """Searches with a time limit; implements `ports.Patterns`.

    A pattern that is proved quick runs as it is. Any other runs under an interval timer in the main thread
    (and only while nobody else uses it), and in a worker process elsewhere, which is killed when the time is
    up.
    """

    def __init__(self) -> None:
        self._workers = Workers()

    def search(self, pattern: SearchPattern, text: str, limit_s: float) -> Found:
        """The first match's start and end in `text`, or None.

        Raises TimeoutError after `limit_s`, and Missing in `harness` when the engine that the file asks for
        is not here.
        """
        if limit_s <= 0:
            raise TimeoutError("no time is left for the search")
        if pattern.engine == "re2":
            return _search_with_re2(pattern.text, pattern.flags, text)
        own = compiled(pattern.text, pattern.flags)
        if Pattern(pattern.text, pattern.flags).quick_on(len(text)):
            return _span(own.search(text))
        if _timer_is_free():
            return _search_under_timer(own, text, limit_s)
        return self._workers.search(pattern.text, int(own.flags), text, limit_s)

    def close(self) -> None:
        """End every worker process."""
        self._workers.close()


class _Rang(Exception):
    """The interval timer went off."""


def _timer_is_free() -> bool:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        return False
    # None is a handler that was not set from Python, and could not be put back.
    return signal.getsignal(signal.SIGALRM) is not None and signal.getitimer(signal.ITIMER_REAL)[0] == 0


def _search_under_timer(pattern: re.Pattern[str], text: str, limit_s: float) -> Found:
    armed = True

    def ring(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if armed:
            raise _Rang

    previous = signal.signal(signal.SIGALRM, ring)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, limit_s)
            return _span(pattern.search(text))
        finally:
            armed = False
    except _Rang:
        raise TimeoutError(f"the search took more than {limit_s:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _search_with_re2(written: str, flags: str, text: str) -> Found:
    whole = _LONE_SURROGATES.sub("\ufffd", text)  # re2 reads UTF-8, which cannot hold half a pair
    found = _compiled_with_re2(written, flags).search(whole)
    return None if found is None else (found.start(), found.end())


_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=512)
def _compiled_with_re2(written: str, flags: str) -> re.Pattern[str]:
    try:
        import re2  # the optional extra `rulebook[re2]`
    except ImportError:
        raise Missing("harness", "`engine: re2` needs the extra `rulebook[re2]`, which is not installed") from None
    options = re2.Options()
    options.log_errors = False
    inline = f"(?{flags})" if flags else ""
    try:
        result: re.Pattern[str] = re2.compile(inline + written, options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise Missing("harness", f"the re2 engine refuses a pattern: {reason}") from None
    return result


def _span(found: re.Match[str] | None) -> Found:
    return None if found is None else found.span()
