"""A pattern cut into its written pieces, so that messages can point at them; it judges nothing."""

import re
from collections.abc import Iterator

from msgspec import Struct


class Piece(Struct, frozen=True):
    """One piece of a pattern: `text[start:end]`.

    `kind` is escape, quoted, set, flags, comment, backreference, open, close, repeat or other (one
    character).
    """

    kind: str
    text: str
    start: int
    end: int


def pieces(text: str, *, verbose: bool = False) -> Iterator[Piece]:
    """The pieces from left to right. `verbose`: the `x` flag is on, so that `#` begins a comment."""
    position = 0
    while position < len(text):
        if verbose and text[position] == "#":
            position = text.find("\n", position) + 1 or len(text)
            continue
        found = _PIECE.match(text, position)
        assert found is not None, "every character is a piece of some kind"
        kind = found.lastgroup or "other"
        yield Piece(kind, found.group(), position, found.end())
        position = found.end()


def depth(text: str) -> int:
    """How deep groups stand inside one another."""
    deepest = now = 0
    for piece in pieces(text):
        now += (piece.kind == "open") - (piece.kind == "close")
        deepest = max(deepest, now)
    return deepest


def repeated(text: str, *, verbose: bool = False) -> list[tuple[int, int]]:
    """The start and end of everything that is repeated, its repeat sign included, the shortest first."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    atom = 0
    for piece in pieces(text, verbose=verbose):
        if piece.kind == "open":
            opened.append(piece.start)
        elif piece.kind == "close":
            atom = opened.pop() if opened else piece.start
        elif piece.kind == "repeat":
            spans.append((atom, piece.end))
        else:
            atom = piece.start
    return sorted(spans, key=lambda span: (span[1] - span[0], span[0]))


_PIECE = re.compile(
    r"""
      (?P<quoted> \\Q.*?(?:\\E|\Z) )
    | (?P<escape> \\(?:[pPxN]\{[^}]*\}|[pP]\w|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{1,3}|.|\Z) )
    | (?P<set> \[\^?\]?+(?:\[:\^?\w+:\]|\\.|[^\]\\])*\] )
    | (?P<comment> \(\?\#[^)]*\)? )
    | (?P<backreference> \(\?P=[^)]*\)? )
    | (?P<flags> \(\?[A-Za-z-]*\) )
    | (?P<open> \((?:\?(?:P?<[^=!>)][^>)]*>|<=|<!|\([^)]*\)|[=!:>]|[A-Za-z-]+:)?)? )
    | (?P<close> \) )
    | (?P<repeat> (?:[*+?]|\{(?:\d+(?:,\d*)?|,\d*)\})[?+]? )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
