"""Asking a located document for what it holds, and collecting every problem with its place."""

from collections.abc import Collection, Iterable, Mapping
from typing import cast

from rulebook.codes import CODES
from rulebook.diagnostic import Diagnostic, Edit, Fix
from rulebook.languages.faults import Fault
from rulebook.place import Path, Span
from rulebook.source.located import EmptyZon, Located
from rulebook.spelling import guess, listed, nearest


class Reader:
    """A located document together with the problems found in it so far."""

    def __init__(self, document: Located) -> None:
        self.document = document
        self.problems: list[Diagnostic] = []

    def add(self, code: str, path: Path, span: Span | None = None, /, **words: object) -> None:
        """Note a problem at the value of `path`, or at `span` when that is given."""
        self._note(code, path, span or self.document.span(path), words)

    def add_words(self, code: str, path: Path, words: Mapping[str, object]) -> None:
        """Note a problem at the value of `path`, its sentence's blanks filled from `words`."""
        self._note(code, path, self.document.span(path), words)

    def add_at_key(self, code: str, path: Path, /, **words: object) -> None:
        """Note a problem at the key that ends `path`."""
        self._note(code, path, self.document.key_span(path), words)

    def add_fault(self, fault: Fault, path: Path) -> None:
        """Note a fault of a language in the text at `path`."""
        value = self._text_at(path)
        whole = self.document.span(path)
        if value is None:
            self._note(fault.code, path, whole, fault.words, fault.help)
            return
        fix = None
        if fault.mended is not None:
            fix = Fix(fault.mended, (Edit(whole.start, whole.end, quoted(fault.mended, self.document)),), fault.safe)
        end = len(value) if fault.end is None else fault.end
        place = whole if (fault.start, end) == (0, len(value)) else self.document.within(path, fault.start, end)
        self._note(fault.code, path, place, fault.words, fault.help, fix)

    def mapping(self, path: Path, thing: str) -> Mapping[str, object] | None:
        """The mapping at `path`; None, with the problem noted, when something else stands there."""
        value = self.document.at(path)
        if isinstance(value, dict):
            return cast(Mapping[str, object], value)
        self.wrong_type(path, thing, "a mapping (keys and values)")
        return None

    def wrong_type(self, path: Path, key: str, wanted: str) -> None:
        """Note that the value at `path` is of the wrong kind."""
        self.add("RB203", path, key=key, wanted=wanted, found=self.found(path))

    def entries(self, path: Path, key: str) -> int | None:
        """How many entries the list at `path` has; None, with the problem noted, when it is not a list."""
        value = self.document.at(path)
        if isinstance(value, EmptyZon):
            return 0
        if isinstance(value, list):
            return len(value)
        if isinstance(value, dict) or value is None:
            self.wrong_type(path, key, "a list")
        else:
            self.add("RB206", path, key=key, value=self.source_of(path))
        return None

    def only(self, path: Path, known: Collection[str], thing: str) -> None:
        """Note every key of the mapping at `path` that is not among `known`."""
        value = self.document.at(path)
        for key in value if isinstance(value, dict) else ():
            if key not in known:
                self.add_at_key("RB201", (*path, key), key=key, thing=thing, guess=guess(key, known))

    def unknown_reference(self, name: str, options: Iterable[str], path: Path, span: Span | None = None) -> None:
        """Note a name that nothing bears, with the nearest one."""
        options = list(options)
        packs_known = {option.partition(".")[0] for option in options if "." in option}
        lost = any(found.path[:1] == ("use",) and found.severity == "error" for found in self.problems)
        if "." in name and lost and name.partition(".")[0] not in packs_known:
            return  # the pack itself was not found, and that has been said
        best = nearest(name, options)
        hint = f" Did you mean `{best}`?" if best else f" Known here: {listed(options)}." if options else ""
        self.add("RB302", path, span, name=name, guess=hint)

    def found(self, path: Path) -> str:
        """What stands at `path`, in an author's words."""
        return in_words(self.document.at(path))

    def source_of(self, path: Path) -> str:
        """The value at `path` as it is written in the file, on one line and not too long."""
        span = self.document.span(path)
        text = " ".join(self.document.text[span.start : span.end].split())
        return text if len(text) <= 60 else text[:59] + "…"

    def _note(
        self, code: str, path: Path, span: Span, words: Mapping[str, object], help: str = "", fix: Fix | None = None
    ) -> None:
        message = CODES[code].message.format(**words)
        self.problems.append(Diagnostic(code, message, self.document.file, span, path, help, fix))

    def _text_at(self, path: Path) -> str | None:
        try:
            value = self.document.at(path)
        except KeyError:
            return None
        return value if isinstance(value, str) else None


def in_words(value: object) -> str:
    """A value in an author's words: "the number 2", "the text `abc`", "a list"."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "`true` (yes or no)" if value else "`false` (yes or no)"
        case int() | float():
            return f"the number {value}"
        case str():
            short = value if len(value) <= 40 else value[:39] + "…"
            return f"the text `{short}`" if value else "empty text"
        case list() | tuple():
            return "a list"
        case EmptyZon():
            return "empty"
        case _:
            return "a mapping"


def quoted(text: str, document: Located) -> str:
    """`text` as it is written in this file's language."""
    if document.language == "zon":
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return "'" + text.replace("'", "''") + "'"
