"""Asking a located document for what it holds, and collecting every problem with its place."""

from collections.abc import Collection, Iterable, Mapping
from typing import cast

from rulebook.codes import message_of
from rulebook.diagnostic import Diagnostic, Edit, Fix
from rulebook.languages.faults import Fault, Shown
from rulebook.place import Path, Span, span_between
from rulebook.source.located import EmptyZon, Language, Located
from rulebook.spelling import guess, listed, nearest


class Reader:
    """A located document together with the problems found in it so far."""

    def __init__(self, document: Located) -> None:
        self.document = document
        self.problems: list[Diagnostic] = []
        self.lost_pack = False

    def add(self, code: str, path: Path, span: Span | None = None, /, **words: object) -> None:
        """Note a problem at the value of `path`, or at `span` when that is given."""
        self._note(code, path, span or self.document.span(path), words)

    def add_words(self, code: str, path: Path, words: Mapping[str, object], mended: str | None = None) -> None:
        """Note a problem at the value of `path`, its blanks filled from `words`; `mended` is what to write there."""
        span = self.document.span(path)
        fix = None if mended is None else Fix(mended, (Edit(span.start, span.end, mended),))
        self._note(code, path, span, words, fix=fix)

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
            from rulebook.source.notation import quoted  # only a problem pays for it

            mended = quoted(fault.mended, self.language)
            fix = Fix(fault.mended, (Edit(whole.start, whole.end, mended),), fault.safe)
        end = len(value) if fault.end is None else fault.end
        place = whole if (fault.start, end) == (0, len(value)) else self.document.within(path, fault.start, end)
        self._note(fault.code, path, place, fault.words, fault.help, fix)

    @property
    def language(self) -> Language:
        """The language that the file is written in."""
        return self.document.language

    def mapping(self, path: Path, thing: str, example: Shown | None = None) -> Mapping[str, object] | None:
        """The mapping at `path`; None, with the problem and the `example` noted, when something else stands there."""
        value = self.document.at(path)
        if isinstance(value, dict):
            return cast(Mapping[str, object], value)
        self.not_a_mapping(path, thing, "a mapping (keys and values)", self._example(example))
        return None

    def not_a_mapping(self, path: Path, key: str, wanted: str, hint: str = "", mended: str | None = None) -> None:
        """Note that no mapping stands at `path`, or what keeps it from being one: `max_turns:8` lacks a space."""
        if not self._missing_space(path):
            self.wrong_type(path, key, wanted, hint, mended)

    def wrong_type(self, path: Path, key: str, wanted: str, hint: str = "", mended: str | None = None) -> None:
        """Note that the value at `path` is of the wrong kind; `hint` says what to write, and begins with a space."""
        words = {"key": key, "wanted": wanted, "found": self.found(path), "hint": hint}
        self.add_words("RB203", path, words, mended)

    def entries(self, path: Path, key: str, example: Shown | None = None) -> int | None:
        """How many entries the list at `path` has; None, with the problem noted, when it is not a list."""
        value = self.document.at(path)
        if isinstance(value, EmptyZon):
            return 0
        if isinstance(value, list):
            return len(value)
        if isinstance(value, dict) or value is None or example is not None:
            self.wrong_type(path, key, "a list", self._example(example))
        else:
            self.add("RB206", path, key=key, list=self.list_of(path))
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
        if "." in name and (lost or self.lost_pack) and name.partition(".")[0] not in packs_known:
            return  # the pack itself cannot be used, and that has been said
        best = nearest(name, options)
        hint = f" Did you mean `{best}`?" if best else f" Known here: {listed(options)}." if options else ""
        self.add("RB302", path, span, name=name, guess=hint)

    def found(self, path: Path) -> str:
        """What stands at `path`, in an author's words."""
        return in_words(self.document.at(path))

    def shown(self, data: Shown) -> str:
        """Data as the file's own language writes it."""
        from rulebook.source.notation import entry, quoted, written  # as above

        if data.quotes and isinstance(data.data, str):
            return quoted(data.data, self.language)
        text = entry(data.key, data.data, self.language) if data.key else written(data.data, self.language)
        return data.around.format(text)

    def list_of(self, path: Path) -> str:
        """The value at `path` as the only entry of a list, in the file's language."""
        source = self.source_of(path)
        return f".{{ {source} }}" if self.language == "zon" else f"[{source}]"

    def source_of(self, path: Path) -> str:
        """The value at `path` as it is written in the file, on one line and not too long."""
        span = self.document.span(path)
        text = " ".join(self.document.text[span.start : span.end].split())
        return text if len(text) <= 60 else text[:59] + "…"

    def _note(
        self, code: str, path: Path, span: Span, words: Mapping[str, object], help: str = "", fix: Fix | None = None
    ) -> None:
        shown = {name: self.shown(word) if isinstance(word, Shown) else word for name, word in words.items()}
        if code == "RB127" and self.language == "zon":
            shown["pattern"] = shown["text"]  # every text is in quotes there, so no character class was meant
        self.problems.append(Diagnostic(code, message_of(code, shown), self.document.file, span, path, help, fix))

    def _example(self, example: Shown | None) -> str:
        return "" if example is None else f" Write `{self.shown(example)}`."

    def _missing_space(self, path: Path) -> bool:
        """Whether the text at `path` is a key whose colon has no space behind it, which is then said."""
        if self.language != "yaml" or self.document.styles.get(path) != "plain":
            return False
        from rulebook.source.yaml_flow import glued  # as above

        span = self.document.span(path)
        lines = self.document.text[span.start : span.end].split("\n")
        edits, start = [], span.start
        for line in lines:
            parts = glued(line.strip())
            if parts is None:
                return False
            place = start + line.index(":") + 1
            edits.append(Edit(place, place, " "))
            start += len(line) + 1
        mended = [": ".join(glued(line.strip()) or ()) for line in lines]
        said = f"A space is missing after the `:`. Write `{mended[0]}`."
        colon = span_between(self.document.text, edits[0].start - 1, edits[0].start)
        self._note("RB124", path, colon, {"sentence": said}, fix=Fix("\n".join(mended), tuple(edits)))
        return True

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
