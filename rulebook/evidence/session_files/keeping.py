"""What a reader of lines keeps of a session's texts: what is asked for, and no more than fits."""

from msgspec import Struct, field

from rulebook.evidence.record import EVERYTHING, Wants
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.transcript import SideEvent, ToolCall, Transcript

KEPT_CHARACTERS = 32 * 1024 * 1024
"""How much text is kept of one session to be judged. Who asks for everything (an import) gets everything."""

_TOLD = frozenset(("tools", "compaction"))
_OF_SUBAGENTS = ("prompt", "subagent_type", "description")


class Keeping(Struct):
    """Lets texts through as far as `wants` asks for them. `full`: some that were asked for no longer fitted."""

    wants: Wants = EVERYTHING
    left: int = field(default_factory=lambda: KEPT_CHARACTERS)
    full: bool = False

    def said(self, text: str) -> str:
        """What somebody said; nothing where nobody asks."""
        return self.anyway(text) if self.wants.texts else ""

    def answered(self, text: str) -> str:
        """What a tool answered; nothing where nobody asks."""
        return self.anyway(text) if self.wants.contents or self.wants.texts else ""

    def anyway(self, text: str) -> str:
        """What the reader itself needs later."""
        if self.wants == EVERYTHING:
            return text
        self.left -= len(text)
        if self.left >= 0:
            return text
        self.full = True
        return ""

    def called(self, call: ToolCall) -> ToolCall:
        """A call without its arguments where nobody asks; what a sub-agent is recognised by stays."""
        if self.wants.contents:
            whole = self.anyway(call.args_raw)
            return call if whole or not call.args_raw else ToolCall(call.id, call.name, None, "", "it did not fit")
        args = call.args or {}
        told = {key: self.anyway(value) for key in _OF_SUBAGENTS if isinstance(value := args.get(key), str)}
        return ToolCall(call.id, call.name, told if "prompt" in told else None, "")

    def event(self, event: SideEvent) -> SideEvent:
        """An event without its data where nobody asks."""
        if event.kind not in _TOLD and not self.wants.payloads:
            event.data = {}
        return event

    def tell(self, transcript: Transcript) -> None:
        """Note in the transcript that it was full."""
        if self.full:
            text = f"only {KEPT_CHARACTERS:,} characters of what was said and answered are kept"
            warn(transcript, "too_large", None, text)
