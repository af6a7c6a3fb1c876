"""Reads ZON rule files as Zig does, and also `&.{…}` and keyword choices; goes on after a mistake."""

from rulebook.diagnostic import Edit, Fix, Related, has_errors, in_order, problem
from rulebook.place import Path
from rulebook.source import limits
from rulebook.source.located import EmptyZon, Located, Reading, Style
from rulebook.source.look_alikes import LOOK_ALIKES
from rulebook.source.offsets import offsets_of
from rulebook.source.places import Lines, Places
from rulebook.source.zon_cursor import ReadingStopped
from rulebook.source.zon_hints import (
    about_bad,
    about_between,
    about_condition,
    about_group,
    about_json,
    about_nameless_number,
    about_rest,
    about_trailing_dot,
    about_value,
    is_open_quote,
)
from rulebook.source.zon_lexer import KEYWORDS, Token
from rulebook.source.zon_names import NameReader
from rulebook.source.zon_values import ZonFault, character, number, text_value

_WORDS: dict[str, object] = {
    "true": True,
    "false": False,
    "null": None,
    "nan": float("nan"),
    "inf": float("inf"),
}


def read_zon(text: str, file: str) -> Reading:
    """The document that `text` holds, and everything that is wrong with its notation.

    A name written twice (the first counts) is an error that leaves a document behind; any other error leaves
    none. Never raises.
    """
    text = text.removeprefix("\ufeff")
    if limits.is_too_large(text):
        return Reading(None, (limits.too_many_bytes(file, None),))
    if (surrogate := limits.broken_character(text)) is not None:
        span = Lines(text).span(surrogate, surrogate + 1)
        return Reading(None, (problem("RB102", file, span, line=span.line),))
    reader = _Reader(text, file)
    reader.whole_file()
    diagnostics = in_order(reader.diagnostics)
    if has_errors(d for d in diagnostics if d.code != "RB110"):
        return Reading(None, diagnostics)
    places = Places(reader.lines, reader.values), Places(reader.lines, reader.keys)
    located = Located(file, text, "zon", reader.data, *places, reader.styles, offsets_of)
    return Reading(located, diagnostics)


class _Reader(NameReader):
    """Each method reads one part, whose first token is in hand, and leaves the token behind it in hand."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.data: object = None
        self.values: dict[Path, tuple[int, int]] = {}
        self.keys: dict[Path, tuple[int, int]] = {}
        self.styles: dict[Path, Style] = {}
        self._faulty = False
        self._open_quote = False

    def whole_file(self) -> None:
        """Read the file's one value, and say what follows it."""
        try:
            self.step()
            if self.at_end:
                raise ZonFault(0, 0, "This file is empty. Begin with `.{` and `.schema = …`.")
            after = self.after(self.token)
            json = about_json(self.text, self.token, after, self.after(after))
            if json is not None:
                raise json
            self.data = self._value((), 0)
            if not (self.at_end or self._faulty):
                raise about_rest(self.text, self.token)
        except ZonFault as fault:
            self._report_last(fault)
        except ReadingStopped:
            return

    def _report_last(self, fault: ZonFault) -> None:
        try:
            self.report(fault)
        except ReadingStopped:
            return

    def _value(self, path: Path, level: int) -> object:
        token = self.token
        self.count()
        value: object = None
        style: Style = "other"
        try:
            value, style = self._any_value(path, level)
        except ZonFault as fault:
            self.report(fault)
            self._faulty = True
            if self.token == token and not self.at_end and not self.is_sign("}", ","):
                self.step()
        self.values[path] = (token.start, max(self.before.end, token.start))
        self.styles[path] = style
        return value

    def _any_value(self, path: Path, level: int) -> tuple[object, Style]:
        token, word = self.token, self.word
        match token.kind:
            case "number":
                return self._number(1), "other"
            case "text":
                self.step()
                return text_value(word, token.start), "zon-string"
            case "letter":
                self.step()
                return character(word, token.start), "other"
            case "line":
                return self._lines_of_text(), "zon-lines"
            case "name" if word in _WORDS:
                self.step()
                return _WORDS[word], "other"
            case "sign" if word in ("-", "&", ".", "{", "["):
                return self._signed(word, path, level)
            case "bad":
                self._bad(token)
                return None, "other"
            case _:
                raise about_value(self.text, token, self.after(token))

    def _bad(self, token: Token) -> None:
        self.step()
        if self.text[token.start] not in LOOK_ALIKES:
            self._open_quote = self._open_quote or is_open_quote(self.text, token)
            raise about_bad(self.text, token)
        self.report_look_alike(token)

    def _signed(self, sign: str, path: Path, level: int) -> tuple[object, Style]:
        token = self.token
        if sign in ("{", "["):
            self.report(about_group(self.text, token))
            return self._group(path, level, "]" if sign == "[" else "}"), "other"
        self.step()
        if sign == "-":
            return self._negative(token), "other"
        if sign == "&":
            return self._pointer(token, path, level), "other"
        if self.is_sign("{"):
            return self._group(path, level, "}"), "other"
        return self._choice(token), "zon-name"

    def _number(self, sign: int) -> int | float:
        token = self.token
        self.step()
        if self.is_sign(".") and self.token.start == token.end:
            dot = self.token
            self.step()
            raise about_trailing_dot(self.text, dot, token)
        return sign * number(self.written(token), token.start)

    def _negative(self, minus: Token) -> int | float:
        if self.word == "inf":
            self.step()
            return float("-inf")
        if self.token.kind != "number":
            raise ZonFault(minus.start, minus.end, "A number must follow the `-`.")
        end = self.token.end
        value = self._number(-1)
        if value == 0 and isinstance(value, int):
            raise ZonFault(minus.start, end, "Write `0`, or `-0.0` if you mean it.", "0")
        return value

    def _pointer(self, sign: Token, path: Path, level: int) -> object:
        dot = self.token
        if not self.is_sign(".") or self.written(self.after(dot)) != "{":
            raise ZonFault(sign.start, sign.end, "`&` may stand before `.{` only. Leave it out.", "")
        fix = Fix(".{", (Edit(sign.start, dot.start, ""),), safe=True)
        span = self.lines.span(sign.start, sign.end)
        self.diagnostics.append(problem("RB121", self.file, span, path=path, fix=fix))
        self.step()
        return self._group(path, level, "}")

    def _choice(self, dot: Token) -> str:
        token, word = self.token, self.word
        if token.kind in ("name", "quoted-name"):
            self.step()
        if token.kind == "name" and word in KEYWORDS:
            fix = Fix(f'.@"{word}"', (Edit(token.start, token.end, f'@"{word}"'),), safe=True)
            span = self.lines.span(dot.start, token.end)
            self.diagnostics.append(problem("RB122", self.file, span, fix=fix, word=word))
        if self.is_sign(".") and self.token.start == token.end:
            start = self.token.start
            self.step()
            raise ZonFault(start, start + 1, "A choice is one word; nothing can follow it after a `.`.")
        return self.name_in(token, dot)

    def _lines_of_text(self) -> str:
        lines: list[str] = []
        while self.token.kind == "line":
            lines.append(self.word[2:])
            self.step()
        return "\n".join(lines)

    def _group(self, path: Path, level: int, closer: str) -> object:
        opener = self.token
        if level >= limits.MAX_LEVELS:
            span = self.lines.span(opener.start, opener.end)
            self.diagnostics.append(limits.too_deep(self.file, span))
            raise ReadingStopped
        self.step()
        fields: dict[str, object] = {}
        entries: list[object] = []
        while not self.is_sign(closer):
            if self.at_end:
                said = f"The `{self.written(opener)}` opened here is never closed."
                if not self._open_quote:  # which took the rest of its line, and what closes there, with it
                    self.report(ZonFault(opener.start, opener.end, said))
                raise ReadingStopped
            begun = self.token
            try:
                self._entry(path, level, fields, entries)
                self._comma(closer)
            except ZonFault as fault:
                self.report(fault)
                self._recover(closer, begun)
        self.step()
        return fields or entries or EmptyZon()

    def _entry(self, path: Path, level: int, fields: dict[str, object], entries: list[object]) -> None:
        start = self.token.start
        name = self.field_name(in_list=bool(entries))
        if name is None and not fields:
            entries.append(self._value((*path, len(entries)), level + 1))
        elif name is None:
            self._nameless(level)
        elif entries:
            said = "This is a list, whose entries have no names. Leave the name out, or name every entry."
            raise ZonFault(start, self.before.end, said)
        else:
            self._field((*path, name), name, start, level, fields)

    def _field(self, path: Path, name: str, start: int, level: int, fields: dict[str, object]) -> None:
        span = self.lines.span(start, self.before.end)
        if len(name) > limits.MAX_KEY_CHARACTERS:
            self.diagnostics.append(limits.long_key(self.file, span, len(name)))
        self.equals_sign(name)
        if name not in fields:
            self.keys[path] = (start, span.end)
            fields[name] = self._value(path, level + 1)
            return
        first = self.lines.span(*self.keys[path])
        related = (Related(f"`{name}` is written here first.", first),)
        self.diagnostics.append(
            problem("RB110", self.file, span, path=path, related=related, key=name, line=first.line)
        )
        self._unseen(level)

    def _nameless(self, level: int) -> None:
        start, begun, comma = self.token.start, self.token, self.before
        fault = about_nameless_number(self.text, begun, comma)
        if fault is not None:
            self.step()
            raise fault
        faults_before = len(self.diagnostics)
        self._unseen(level)
        if len(self.diagnostics) == faults_before:
            raise ZonFault(start, self.before.end, "Every entry needs a name here: `.name = …`.")

    def _unseen(self, level: int) -> None:
        """Read a value that has no place in the document."""
        kept = self.values, self.keys, self.styles
        self.values, self.keys, self.styles = {}, {}, {}
        self._value((), level + 1)
        self.values, self.keys, self.styles = kept

    def _comma(self, closer: str) -> None:
        token = self.token
        if self._faulty:
            self._faulty = False
            self._skip_line(closer)
            if self.is_sign(","):
                self.step()
        elif self.is_sign(","):
            self.step()
        elif self.is_sign(closer) or self.at_end:
            return
        elif token.kind == "bad" and self.text[token.start] in LOOK_ALIKES:
            self.report_look_alike(token)
            self.step()
        elif token.kind in ("number", "text", "line", "name", "quoted-name") or self.is_sign(".", "&", "{"):
            end = self.before.end
            condition = about_condition(self.text, token.start) if self.word in ("and", "or") else None
            if condition is not None:
                raise condition
            self.report(ZonFault(end, end, "A `,` is missing here.", ","))
        elif token.kind == "bad":
            self._open_quote = self._open_quote or is_open_quote(self.text, token)
            raise about_bad(self.text, token)
        else:
            raise about_between(self.text, token)

    def _skip_line(self, closer: str) -> None:
        """Pass over what is left of a value that could not be read, up to the end of its line."""
        depth = 0
        while not self.at_end and not (depth == 0 and self.is_sign(",", closer, "}")):
            if depth == 0 and "\n" in self.text[self.before.end : self.token.start]:
                return
            depth = max(0, depth + self._opens())
            self.step()

    def _recover(self, closer: str, begun: Token) -> None:
        """Go on behind the next comma of this group, or at its closing brace."""
        self._faulty = False
        depth = 0
        if self.token == begun and not self.is_sign(closer, "}", ","):
            self.step()
        while not self.at_end and not (depth == 0 and self.is_sign(",", closer, "}")):
            depth = max(0, depth + self._opens())
            self.step()
        if self.is_sign(","):
            self.step()
        elif self.is_sign("}") and closer != "}":
            raise ReadingStopped

    def _opens(self) -> int:
        return 1 if self.is_sign("{", "[", "(") else -1 if self.is_sign("}", "]", ")") else 0
