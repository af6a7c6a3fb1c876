"""What the re2 engine cannot read, found without the engine: a file means the same on every machine."""

import re

from rulebook.languages.faults import Fault
from rulebook.languages.pattern_pieces import Piece, pieces

MAX_REPEAT = 1000
"""re2 refuses a count above this, and counts inside counts that multiply past it."""


def faults_for_re2(text: str, flags: str) -> tuple[Fault, ...]:
    """Everything that re2 refuses in the pattern: RB424 for what it lacks, RB420 for plain mistakes."""
    found = [Fault("RB424", {"part": "the flag x"})] if "x" in flags else []
    found += [fault for piece in pieces(text) if (fault := _lacking(piece)) is not None]
    return tuple(found) or tuple(_mistakes(text))


def _lacking(piece: Piece) -> Fault | None:
    part = piece.text
    match piece.kind:
        case "comment" | "backreference":
            absent = True
        case "escape":
            absent = not _ESCAPE.fullmatch(part) and len(part) > 1
        case "set":
            absent = any(not _ESCAPE_IN_SET.fullmatch(escape) for escape in _ESCAPES.findall(part))
        case "open":
            absent = not _OPENING.fullmatch(part)
        case "flags":
            absent = not _FLAGS.fullmatch(part)
        case "repeat":
            absent = (part.endswith("+") and len(part) > 1) or part.startswith("{,") or _greatest(part) > MAX_REPEAT
        case _:
            absent = False
    return Fault("RB424", {"part": part}, piece.start, piece.end) if absent else None


def _mistakes(text: str) -> list[Fault]:
    opened: list[tuple[Piece, int]] = []
    inner = 1
    before: Piece | None = None
    repeatable = 0
    for piece in pieces(text):
        if piece.kind == "open":
            opened.append((piece, inner))
            inner = 1
        elif piece.kind == "close":
            if not opened:
                return [_mistake(piece, "this `)` closes nothing; write `\\)` for the sign itself")]
            repeatable, inner = inner, max(inner, opened.pop()[1])
        elif piece.kind == "repeat":
            if before is None or before.kind in {"open", "flags"} or before.text == "|":
                return [_mistake(piece, "there is nothing before this sign to repeat")]
            if before.kind == "repeat":
                return [_mistake(piece, "two repeat signs follow each other; keep one")]
            times = max(1, repeatable if before.kind == "close" else 1) * _greatest(piece.text)
            if times > MAX_REPEAT:
                return [Fault("RB424", {"part": piece.text}, piece.start, piece.end)]
            inner = max(inner, times)
        elif mistake := _mistake_of(piece):
            return [_mistake(piece, mistake)]
        before = piece
    if opened:
        return [_mistake(opened[-1][0], "this `(` is never closed; add `)`, or write `\\(` for the sign itself")]
    return []


def _mistake_of(piece: Piece) -> str | None:
    if piece.text == "[":
        return "this `[` is never closed; add `]`, or write `\\[` for the sign itself"
    if piece.text == "\\":
        return "it ends in a single `\\`; write `\\\\` for a backslash"
    if piece.kind == "repeat":
        return None
    if piece.kind == "set":
        if found := re.search(r"(?<!^.)(?<!^.\^)-(\\[dDsSwWpP])", piece.text, re.DOTALL):
            return f"no range ends in `{found[1]}`; write `\\-` for a dash"
        for low, high in _RANGES.findall(_without_escapes(piece.text)):
            if low > high:
                return f"`{low}-{high}` is no range; put the smaller sign first"
    return None


def _mistake(piece: Piece, sentence: str) -> Fault:
    return Fault("RB420", {"at": piece.start + 1, "sentence": sentence}, piece.start, piece.end)


def _greatest(repeat: str) -> int:
    numbers = [int(number) for number in re.findall(r"\d+", repeat)[:2] if len(number) < 10]
    return max(numbers, default=1 if not re.search(r"\d", repeat) else MAX_REPEAT + 1)


def _without_escapes(part: str) -> str:
    return re.sub(r"\[:\^?\w+:\]", "", _ESCAPES.sub("", part[1:-1].removeprefix("^")))


_ESCAPES = re.compile(r"\\(?:[pPx]\{[^}]*\}|x[0-9a-fA-F]{2}|[pP]\w|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:[AzbBCdDsSwWafnrtv]|[pP](?:\{\^?\w+\}|[CLMNPSZ])|x\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|0[0-7]{0,2}"
    r"|[1-7][0-7]{1,2}|[^A-Za-z0-9])",
    re.DOTALL,
)
_ESCAPE_IN_SET = re.compile(
    r"\\(?:[dDsSwWafnrtv]|[pP](?:\{\^?\w+\}|[CLMNPSZ])|x\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|0[0-7]{0,2}"
    r"|[1-7][0-7]{1,2}|[^A-Za-z0-9])",
    re.DOTALL,
)
_OPENING = re.compile(r"\((?:\?(?::|P?<[A-Za-z_]\w*>|[imsU]+:|[imsU]*-[imsU]+:))?")
_FLAGS = re.compile(r"\(\?(?:[imsU]+|[imsU]*-[imsU]+|)\)")
_RANGES = re.compile(r"([^\]\[-])-([^\]\[-])", re.DOTALL)
