"""What parses as YAML and means something else than its author thinks."""

import re
from collections.abc import Iterable
from typing import Any

from rulebook.diagnostic import Diagnostic, Edit, Fix, problem
from rulebook.place import Path
from rulebook.source.look_alikes import first_look_alike, without_look_alikes, words_for
from rulebook.source.places import Lines
from rulebook.source.yaml_quoting import quoted
from rulebook.source.yaml_scalars import MAX_DIGITS, TooManyDigits, TwoReadings, digits_lost, two_readings

_CONTROL = re.compile("[\0\a\b\v\f\x1b]")
_ESCAPE = r"(?s)\\(x..|u.{4}|U.{8}|[^xuU])"
_CONTROL_LETTERS = frozenset("0abvfe")
_CURLY = "\u201c\u201d\u201e\u2018\u2019\u201a"
_WRAPPED = f"[{_CURLY}][^{_CURLY}]*[{_CURLY}]"
_WIDE_COLON = "-\u00a0+|[A-Za-z_][\\w.-]*(?:\uff1a|:\u00a0)"
_TAB_INDENT = r"(?m)^( *\t[ \t]*)(?=[^\s#])"
_ENTRY_BELOW = r"\n[ \t]*(?P<entry>-[ \t])"
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


class Notes:
    """Looks at each key and value as it is read and keeps what is to be said in `diagnostics`."""

    def __init__(self, text: str, file: str, lines: Lines) -> None:
        self.text = text
        self.file = file
        self.lines = lines
        self.diagnostics: list[Diagnostic] = []
        self._all_ascii = text.isascii()
        self._said_to = 0

    def key(self, start: int, end: int, path: Path) -> None:
        """Say when a key holds a character that only looks like its letters or signs."""
        if not self._all_ascii and (place := first_look_alike(self.text, start, end)) is not None:
            mended = without_look_alikes(self.text[start:end]).strip()
            self._say("RB120", place, place + 1, path, (start, end, mended), **words_for(self.text[place]))

    def empty(self, key: str, path: Path, key_offsets: tuple[int, int], end: int) -> None:
        """Say that a key has no value, and why when a `#` took it away."""
        start, key_end = key_offsets
        rest = self.text[end : self.lines.bounds(end)[1]].strip()
        glued = len(rest) > 1 and rest[0] == "#" and rest[1] not in " #!"
        help_ = f"`#` starts a comment. If it belongs to the text, write `{quoted(rest)}`." if glued else ""
        self._say("RB118", start, key_end, path, help=help_, key=key)

    def no_colon(self, key: str, path: Path, key_offsets: tuple[int, int], before: int | None) -> None:
        """Say what a key with no colon behind it was meant as; `before` is where the plain value before it starts."""
        from rulebook.source.yaml_flow import glued  # only a mistake pays for it

        start, end = key_offsets
        parts = glued(key)
        if parts is not None:
            place = start + len(parts[0])
            rest = self.text[place + 1 : self.lines.bounds(end)[1]] if parts[1][0] in "[{" else parts[1]
            mended = f"{parts[0]}: {rest.rstrip()}"
            said = f"A space is missing after the `:`. Write `{mended}`."
            self._say("RB124", place, place + 1, path, (place + 1, place + 1, " "), line=mended, sentence=said)
        elif start >= self._said_to and not (before is not None and self._cut_by_comma(before)):
            self._say("RB118", start, end, path, key=key)

    def plain(self, word: str, meaning: object, path: Path, start: int, end: int) -> None:
        """Say what else a value without quotes could have been meant as."""
        if self.text.startswith(" #", end) and isinstance(meaning, str):
            self._cut_by_hash(word, path, start, end)
        if path and type(path[-1]) is int and "\n" in self.text[start:end]:
            self._swallowed_entry(path, start, end)
        if isinstance(meaning, TooManyDigits):
            self._too_many_digits(meaning, path, start, end)
        elif (seen := two_readings(word)) is not None:
            self._two_readings(word, seen, path, start, end)
        elif (left := digits_lost(word, meaning)) is not None:
            self._say("RB113", start, end, path, value=word, number=left)
        if not self._all_ascii and isinstance(meaning, str):
            self._look_alike(path, start, end)

    def double_quoted(self, value: str, path: Path, start: int, end: int) -> None:
        """Say when an escape that is common in patterns became a control character."""
        if _CONTROL.search(value) is None:
            return
        inside = self.text[start + 1 : end - 1]
        for found in re.finditer(_ESCAPE, inside):
            if found.group(1) in _CONTROL_LETTERS:
                place = start + 1 + found.start()
                text = quoted(inside.replace('\\"', '"'))
                edit = (start, end, text)
                self._say("RB125", place, place + 2, path, edit, char=found.group(1), quoted=text)
                return

    def braces(self, start: int) -> None:
        """Say that a `{{ … }}` at `start` needs quotes."""
        line_end = self.lines.bounds(start)[1]
        close = self.text.find("}}", start, line_end)
        end = close + 2 if close >= 0 else line_end
        self._say("RB114", start, end, (), (start, end, quoted(self.text[start:end])))

    def tag(self, tag: str, start: int, end: int | None) -> None:
        """Say that a `!tag` is not part of the language; `end` is that of the text behind it, if it is one."""
        whole = tag if end is None else self.text[start:end].rstrip()
        rest = whole[len(tag) :].strip()
        text = rest if rest[:1] in ("'", '"') else quoted(rest if tag == "!!str" and rest else whole)
        edit = None if end is None else (start, start + len(whole), text)
        self._say("RB116", start, start + len(tag), (), edit, tag=tag, quoted=text)

    def tabs(self, texts: Iterable[tuple[int, int]]) -> None:
        """Say which lines are indented with tabs, the inner lines of the texts at those offsets left out."""
        inside = [(start, end) for start, end in texts if "\t" in self.text[start:end]]
        for found in re.finditer(_TAB_INDENT, self.text):
            start, end = found.span(1)
            if not any(first < end <= past for first, past in inside):
                spaces = found.group(1).expandtabs(2)
                self._say("RB103", start, end, (), (start, end, spaces), safe=True)

    def _two_readings(self, word: str, seen: TwoReadings, path: Path, start: int, end: int) -> None:
        edit = None if seen.yes_or_no else (start, end, seen.same)
        advice = f"Quote it if you mean the text, or write `{seen.plain}`."
        if seen.yes_or_no:
            meant = "yes" if seen.plain == "true" else "no"
            advice = f"Write `{seen.plain}` if you mean {meant}, `{seen.same}` if you mean the text."
        words: dict[str, Any] = {"ours": seen.ours, "theirs": seen.theirs, "advice": advice}
        self._say("RB112", start, end, path, edit, safe=True, value=word, **words)

    def _cut_by_comma(self, start: int) -> bool:
        """Whether the value at `start` goes on behind the comma that ends it, which is then said."""
        from rulebook.source.yaml_flow import MOST_CHARACTERS, meant_end  # as above

        length = meant_end(self.text[start : start + MOST_CHARACTERS].partition("\n")[0], 0)
        if length is None:
            return False
        self._said_to = end = start + length
        mended = quoted(self.text[start:end])
        said = f"A comma ends a value inside `{{ }}`. Put the whole value in quotes: `{mended}`."
        self._say("RB124", start, end, (), (start, end, mended), sentence=said)
        return True

    def _cut_by_hash(self, word: str, path: Path, start: int, end: int) -> None:
        line_start, line_end = self.lines.bounds(end)
        rest = self.text[end + 2 : line_end].rstrip()
        glued = rest[:1] not in ("", " ", "\t", "#", "!", "-", "=")
        split = any(word.count(o) > word.count(c) and rest.count(c) > rest.count(o) for o, c in _CLOSERS.items())
        if start < line_start or not (glued or split):
            return
        whole = end + 2 + len(rest)
        edit = (start, whole, quoted(self.text[start:whole]))
        self._say("RB111", end + 1, whole, path, edit, value=word)

    def _swallowed_entry(self, path: Path, start: int, end: int) -> None:
        """Say that an entry's text goes on with `- …`, which is a next entry with too many spaces before it."""
        found = re.compile(_ENTRY_BELOW).search(self.text, start, end)
        if found is None:
            return
        line_start = self.lines.bounds(start)[0]
        wanted = self.text.rfind("-", line_start, start) - line_start + 1
        place = found.start("entry")
        column = self.lines.span(place, place).column
        if wanted > 0:
            self._say("RB104", place, place + 1, path, key="-", found=column, wanted=wanted)

    def _too_many_digits(self, number: TooManyDigits, path: Path, start: int, end: int) -> None:
        key = next((step for step in reversed(path) if isinstance(step, str)), "A number")
        size = "one that is too large" if number.digits is None else f"one of {number.digits:,} digits"
        self._say(
            "RB205",
            start,
            end,
            path,
            (start, end, quoted(self.text[start:end])),
            help="Quote it if it is an id or a digest: then it is text and stays as it is.",
            key=key,
            wanted=f"a number of at most {MAX_DIGITS} digits",
            value=size,
        )

    def _look_alike(self, path: Path, start: int, end: int) -> None:
        place = first_look_alike(self.text, start, end)
        if place is None:
            return
        written = self.text[start:end]
        on_its_own_line = not self.text[self.lines.bounds(start)[0] : start].strip(" -")
        if re.fullmatch(_WRAPPED, written):
            mended = quoted(written[1:-1])
            self._say("RB120", start, start + 1, path, (start, end, mended), **words_for(written[0]))
        elif on_its_own_line and (head := re.match(_WIDE_COLON, written)):
            place = first_look_alike(self.text, start, start + head.end()) or place
            mended = _spaced(head.group())
            edit = (start, start + head.end(), mended)
            self._say("RB120", place, place + 1, path, edit, **words_for(self.text[place]))

    def _say(
        self,
        code: str,
        start: int,
        end: int,
        path: Path,
        edit: tuple[int, int, str] | None = None,
        *,
        safe: bool = False,
        help: str = "",
        line: str = "",
        **words: Any,
    ) -> None:
        fix = None if edit is None else Fix(line or edit[2], (Edit(*edit),), safe)
        span = self.lines.span(start, end)
        self.diagnostics.append(problem(code, self.file, span, path=path, help=help, fix=fix, **words))


def _spaced(head: str) -> str:
    mended = without_look_alikes(head).rstrip()
    return f"{mended} "
