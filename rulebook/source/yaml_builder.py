"""Builds a rule file's data and places from YAML events, in one pass."""

from itertools import islice
from typing import Any

from rulebook.diagnostic import Diagnostic, Edit, Fix, Related, problem
from rulebook.place import Path
from rulebook.source import limits
from rulebook.source.located import Style
from rulebook.source.places import Lines
from rulebook.source.yaml_notes import Notes
from rulebook.source.yaml_quoting import quoted, sign_at
from rulebook.source.yaml_scalars import TooManyDigits, plain_value

STYLES: dict[str | None, Style] = {
    "": "plain",
    None: "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}
MOST_PARTS = 20
"""Into so many parts, at most, are commas thought to have cut a value that has no quotes."""

_WORDS_FOR: dict[type, str] = {
    bool: "yes or no",
    int: "a number",
    float: "a number",
    TooManyDigits: "a number",
    type(None): "nothing",
    list: "a list",
    dict: "a mapping",
}


class _Open:
    """A list or mapping whose end has not been read yet.

    A `hidden` one leaves no trace in the document; `skips` hides just the value of the key read last.
    """

    __slots__ = (
        "path",
        "items",
        "keys",
        "key",
        "key_offsets",
        "start",
        "end",
        "flow",
        "hidden",
        "skips",
        "wants_key",
    )

    def __init__(self, path: Path, items: list[object] | dict[str, object], start: int, flow: bool) -> None:
        self.path = path
        self.items = items
        self.keys: dict[str, tuple[int, int]] = {}
        self.key = ""
        self.key_offsets = (start, start)
        self.start = start
        self.flow = flow
        self.hidden = False
        self.skips = False
        self.wants_key = isinstance(items, dict)
        self.end = start


class Builder:
    """Takes the events of one file in order. After the last, `data` and the places are whole.

    `stopped` says that a limit was met or a second document began: hand in no more. `last` is where the value
    stands that was read last, `last_quoted` the same when it was in quotes.
    """

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.lines = Lines(text)
        self.notes = Notes(text, file, self.lines)
        self.data: object = None
        self.values: dict[Path, tuple[int, int]] = {}
        self.keys: dict[Path, tuple[int, int]] = {}
        self.styles: dict[Path, Style] = {}
        self.stopped = False
        self.has_root = False
        self.last_quoted: tuple[int, int] | None = None
        self.last: tuple[int, int] = (0, 0)
        self._open: list[_Open] = []
        self._nodes = 0

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Every message so far, in the order in which its cause was met."""
        return self.notes.diagnostics

    def finish(self) -> None:
        """After the last event: say what can only be seen in the whole text."""
        if "\t" in self.text:
            self.notes.tabs(self.values[path] for path, style in self.styles.items() if style != "other")

    @property
    def plain_before(self) -> int | None:
        """Where the plain value starts that was read last in the innermost `{…}`; None when there is none."""
        return self._plain_value_of(self._open[-1]) if self.in_flow else None

    @property
    def in_flow(self) -> bool:
        """Whether the place reached lies inside `[…]` or `{…}`."""
        return bool(self._open) and self._open[-1].flow

    def document(self, start: int) -> None:
        """A document begins at `start`; only the first is read."""
        if self.has_root:
            self._say("RB117", start, start + 3)
            self.stopped = True

    def scalar(self, value: str, mark: str | None, start: int, end: int) -> None:
        """A key, or a value that is neither list nor mapping; `mark` is the sign of its style."""
        self._nodes += 1
        if self._nodes > limits.MAX_NODES:
            self._stop(start)
        style = STYLES[mark]
        if mark in ("|", ">"):
            end = start + len(self.text[start:end].rstrip())
        self.last = (start, end)
        self.last_quoted = (start, end) if style in ("single", "double") else None
        place = self._open[-1] if self._open else None
        if place is not None and place.wants_key:
            self._key(place, value, style, start, end)
            return
        plain = style == "plain"
        meaning = plain_value(value) if plain else value
        path = self._path(place)
        if place is None or not (place.hidden or place.skips):
            self.values[path] = (start, end)
            self.styles[path] = style if isinstance(meaning, str) else "other"
            if start == end and place is not None and isinstance(place.items, dict):
                self._no_value(place, path, end)
            elif plain:
                self.notes.plain(value, meaning, path, start, end)
            elif style == "double":
                self.notes.double_quoted(value, path, start, end)
        self._put(place, None if isinstance(meaning, TooManyDigits) else meaning, end)

    def begin(self, items: list[object] | dict[str, object], start: int, flow: bool) -> None:
        """A list or a mapping begins."""
        self._nodes += 1
        if self._nodes > limits.MAX_NODES:
            self._stop(start)
        place = self._open[-1] if self._open else None
        if len(self._open) >= limits.MAX_LEVELS:
            self.diagnostics.append(limits.too_deep(self.file, self.lines.span(start, start + 1)))
            self.stopped = True
            return
        opened = _Open(self._path(place), items, start, flow)
        opened.hidden = place is not None and (place.hidden or place.skips or place.wants_key)
        self._open.append(opened)

    def end(self, end: int) -> None:
        """The innermost list or mapping ends; `end` counts for one in brackets only."""
        closed = self._open.pop()
        if not closed.flow:
            end = max(closed.end, closed.start)
        self.last, self.last_quoted = (closed.start, end), None
        if not closed.hidden:
            self.values[closed.path] = (closed.start, end)
            self.styles[closed.path] = "other"
        place = self._open[-1] if self._open else None
        if place is not None and place.wants_key:
            self._group_as_key(place, closed, end)
        else:
            self._put(place, closed.items, end)

    def alias(self, start: int) -> None:
        """A `*name`: said, and read as nothing."""
        self.shared(start)
        place = self._open[-1] if self._open else None
        if place is not None and place.wants_key:
            place.wants_key, place.skips = False, True
            return
        self._put(place, None, start)

    def shared(self, start: int) -> None:
        """An anchor or an alias whose sign stands at or after `start`."""
        first, sign = sign_at(self.text, start, "&*")
        self._say("RB115", first, first + len(sign), sign=sign)

    def tagged(self, start: int, end: int | None) -> None:
        """A value with a `!tag` before it, from `start` on; `end` is None for a list or mapping."""
        first, tag = sign_at(self.text, start, "!")
        self.notes.tag(tag, first, None if end is None else max(end, first + len(tag)))

    def _key(self, place: _Open, value: str, style: Style, start: int, end: int) -> None:
        place.wants_key = False
        place.key_offsets = (start, end)
        place.key = value
        path = (*place.path, value)
        if value == "<<" and style == "plain":
            self._say("RB115", start, end, sign="<<")
        elif value in place.keys:
            self._written_twice(place, value, start, end)
            place.skips = True
            return
        elif style == "plain" and not isinstance(meaning := plain_value(value), str):
            if self._has_colon(end):
                self._not_text(meaning, start, end)
        elif ":" in value and style == "plain" and _is_glued(value):
            self.notes.no_colon(value, path, (start, end), None)
        elif len(value) > limits.MAX_KEY_CHARACTERS:
            self.diagnostics.append(limits.long_key(self.file, self.lines.span(start, end), len(value)))
        if not place.hidden:
            place.keys[value] = (start, end)
            self.keys[path] = (start, end)
            self.notes.key(start, end, path)

    def _no_value(self, place: _Open, path: Path, end: int) -> None:
        if place.flow and not self._has_colon(place.key_offsets[1]):
            self.notes.no_colon(place.key, path, place.key_offsets, self._plain_value_of(place))
        else:
            self.notes.empty(place.key, path, place.key_offsets, end)

    def _has_colon(self, key_end: int) -> bool:
        while self.text.startswith((" ", "\t"), key_end):
            key_end += 1
        return self.text.startswith(":", key_end)

    def _plain_value_of(self, place: _Open) -> int | None:
        """Where the last plain value of a mapping starts, keys without a value passed over; None when there is none."""
        keys = reversed(place.items) if isinstance(place.items, dict) else ()
        for key in islice(keys, MOST_PARTS):
            start, end = self.values.get((*place.path, key), (0, 0))
            if start < end:
                return None if self.text.startswith(("[", "{", "'", '"'), start) else start
        return None

    def _put(self, place: _Open | None, value: object, end: int) -> None:
        if place is None:
            self.data, self.has_root = value, True
            return
        if end > place.end:
            place.end = end
        if isinstance(place.items, list):
            place.items.append(value)
            return
        if not place.skips:
            place.items[place.key] = value
        place.wants_key, place.skips = True, False

    def _path(self, place: _Open | None) -> Path:
        if place is None:
            return ()
        if isinstance(place.items, list):
            return (*place.path, len(place.items))
        return (*place.path, place.key)

    def _stop(self, start: int) -> None:
        if not self.stopped:
            self.diagnostics.append(limits.too_many_nodes(self.file, self.lines.span(start, start + 1)))
            self.stopped = True

    def _group_as_key(self, place: _Open, closed: _Open, end: int) -> None:
        place.wants_key, place.skips = False, True
        if place.hidden:
            return
        if self.text.startswith("{{", place.start):
            place.hidden = True
            self.notes.braces(place.start)
        else:
            self._not_text(closed.items, closed.start, end)

    def _written_twice(self, place: _Open, key: str, start: int, end: int) -> None:
        if place.hidden:
            return
        first = self.lines.span(*place.keys[key])
        self.diagnostics.append(
            problem(
                "RB110",
                self.file,
                self.lines.span(start, end),
                path=(*place.path, key),
                related=(Related(f"`{key}` is written here first.", first),),
                key=key,
                line=first.line,
            )
        )

    def _not_text(self, value: object, start: int, end: int) -> None:
        written = self.text[start:end]
        text = quoted(written)
        self.diagnostics.append(
            problem(
                "RB203",
                self.file,
                self.lines.span(start, end),
                help=f"Quote it if it is the name of something: `{text}:`.",
                fix=Fix(f"{text}:", (Edit(start, end, text),)),
                key=written.split("\n")[0][:40],
                wanted="text, as every key is",
                found=_WORDS_FOR[type(value)],
            )
        )

    def _say(self, code: str, start: int, end: int, **words: Any) -> None:
        self.diagnostics.append(problem(code, self.file, self.lines.span(start, end), **words))


def _is_glued(key: str) -> bool:
    """Whether a list or mapping begins right behind a colon in what was read as a key: `a:{contains`."""
    from rulebook.source.yaml_flow import glued  # only a mistake pays for it

    parts = glued(key)
    return parts is not None and parts[1][0] in "[{"
