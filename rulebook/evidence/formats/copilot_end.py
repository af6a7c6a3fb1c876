"""How a Copilot CLI session ended, and what its shutdown says that it spent."""

from collections.abc import Mapping

from msgspec import Struct

from rulebook.evidence.session_files.values import count, mapping, word
from rulebook.evidence.transcript import End, Message, Usage


class Closing(Struct):
    """The last closing event: its type and data, until the conversation goes on."""

    kind: str | None = None
    data: Mapping[str, object] = {}

    def note(self, kind: str, data: Mapping[str, object]) -> None:
        """A shutdown, an abort or an error; a routine shutdown after one of the others only closes the window."""
        routine = kind == "session.shutdown" and data.get("shutdownType") != "error"
        if self.kind is None or not routine:
            self.kind, self.data = kind, data

    def goes_on(self) -> None:
        """The conversation went on."""
        self.kind, self.data = None, {}

    def end(self, messages: list[Message], unanswered: bool) -> End:
        """A routine shutdown ends the work only after a reply that waits for nothing."""
        match self.kind:
            case "session.error":
                return End("errored", (word(self.data.get("message")) or "")[:500], self.kind)
            case "abort":
                return End("canceled_by_user", (word(self.data.get("reason")) or "")[:500], self.kind)
            case "session.shutdown":
                raw = f"{self.kind}:{word(self.data.get('shutdownType')) or ''}"
                if self.data.get("shutdownType") == "error":
                    return End("errored", (word(self.data.get("errorReason")) or "")[:500], raw)
                if messages and messages[-1].role == "assistant" and not unanswered:
                    return End("finished", "", raw)
                return End("unknown", "it was shut down before the last reply was whole", raw)
            case _:
                return End("unknown", "no event says how the session ended")


def usage_of(shutdown: Mapping[str, object]) -> Usage | None:
    """The tokens of the session so far: by model, where the input includes the cache, or by kind, where it does not."""
    models = [mapping(model) for model in mapping(shutdown.get("modelMetrics")).values()]
    told = [mapping(model.get("usage")) for model in models]
    counts = [count(mapping(model.get("requests")).get("count")) for model in models]
    requests = sum(number for number in counts if number is not None) or None
    if told and all(told):
        return Usage(
            input=_sum(told, "inputTokens"),
            output=_sum(told, "outputTokens"),
            cache_read=_sum(told, "cacheReadTokens"),
            cache_write=_sum(told, "cacheWriteTokens"),
            requests=requests,
            source="reported",
        )
    kinds = {str(kind): count(mapping(detail).get("tokenCount")) for kind, detail in _details(shutdown).items()}
    fresh, output = kinds.get("input"), kinds.get("output")
    if fresh is None or output is None:
        return None
    read, write = kinds.get("cache_read"), kinds.get("cache_write")
    return Usage(fresh + (read or 0) + (write or 0), output, read, write, requests=requests, source="reported")


def _details(shutdown: Mapping[str, object]) -> Mapping[str, object]:
    return mapping(shutdown.get("tokenDetails"))


def _sum(told: list[Mapping[str, object]], key: str) -> int | None:
    numbers = [count(usage.get(key)) for usage in told]
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
