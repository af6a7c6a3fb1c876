"""Pictures of diagnostics: message, the way there in the author's own names, the line, and carets.

    RB403 error   There is no `cst` in the session. Did you mean `cost`?
      in step `fix` › judge › all › part 3 › expr                     line 41, column 29
       40 |         - regex: {patterns: ['answer: 42']}
       41 |         - expr: "turns <= 8 and cst < 1.0"
          |                                 ^^^
      Fix:  - expr: "turns <= 8 and cost < 1.0"
      More: rulebook explain RB403

The layout is stable: golden tests hold it. No line but an unbreakable word is wider than `width`
columns.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from rulebook.codes import Severity
from rulebook.diagnostic import Diagnostic
from rulebook.place import Path, Span
from rulebook.terminal import Shade, columns, cut, harmless, is_unsafe, padded, painted, width_of, wrapped

WIDTH = 120
MOST_OF_ONE_CODE = 10

_SHADES: dict[Severity, Shade] = {"error": "red", "warning": "yellow", "info": "blue"}
_MESSAGE_COLUMN = 14
_BREADCRUMB = 64
_GUTTER = 8
_PLACE = 20
_LEFT_OF_FAULT = 40

_THINGS = {
    "steps": "step",
    "tests": "test",
    "cases": "case",
    "examples": "example",
    "scorers": "scorer",
    "checks": "rule",
    "submissions": "submission",
    "params": "parameter",
    "criteria": "criterion",
    "patterns": "pattern",
    "calls": "call",
    "files": "file",
    "argv": "word",
    "hints": "hint",
}
_NAMED = frozenset(("checks", "submissions", "params"))
_PARTS = frozenset(
    ("all", "any", "none", "weighted", "sum", "min", "max", "mean", "product", "of", "first")
)  # fmt: skip


def render_problems(
    file: str,
    text: str,
    diagnostics: Sequence[Diagnostic],
    *,
    data: object = None,
    colour: bool = False,
    width: int = WIDTH,
) -> str:
    """All problems of one file under its name, in their order, at most `MOST_OF_ONE_CODE` of one code.

    `data` is what the file holds, where it could be read: the names that the author gave come from it.
    """
    seen: Counter[str] = Counter()
    total = Counter(diagnostic.code for diagnostic in diagnostics)
    blocks = [painted(harmless(file), "bold", colour)]
    for diagnostic in diagnostics:
        seen[diagnostic.code] += 1
        if seen[diagnostic.code] <= MOST_OF_ONE_CODE:
            blocks.append(render_diagnostic(diagnostic, text, data=data, colour=colour, width=width))
        elif seen[diagnostic.code] == MOST_OF_ONE_CODE + 1:
            rest = total[diagnostic.code] - MOST_OF_ONE_CODE
            blocks.append(_head(diagnostic, f"… and {rest} more like this", colour, width))
    return "\n\n".join(blocks)


def render_diagnostic(
    diagnostic: Diagnostic, text: str, *, data: object = None, colour: bool = False, width: int = WIDTH
) -> str:
    """One problem with its picture, without a newline at the end."""
    shade = _SHADES[diagnostic.severity]
    lines = [_head(diagnostic, diagnostic.message, colour, width)]
    if diagnostic.span is not None:
        lines += _place(breadcrumb(diagnostic.path, data), diagnostic.span, width)
        lines += _picture(text, diagnostic.span, shade, colour, width, before=True)
    for related in diagnostic.related:
        lines += _place(f"Also: {harmless(related.message)}", related.span, width)
        lines += _picture(text, related.span, shade, colour, width, before=False)
    if diagnostic.help:
        lines += _labelled("Help:", diagnostic.help, width)
    if diagnostic.fix is not None:
        lines += [cut(f"  Fix:  {harmless(part)}" if number == 0 else f"        {harmless(part)}", width)
                  for number, part in enumerate(diagnostic.fix.line.strip("\n").split("\n"))]  # fmt: skip
    lines.append(f"  More: rulebook explain {diagnostic.code}")
    return "\n".join(lines)


def breadcrumb(path: Path, data: object = None) -> str:
    """The way to a value, such as "in step `fix` › judge › all › part 3"; empty for the file itself."""
    steps = crumbs(path, data)
    return "in " + " › ".join(steps) if steps else ""


def crumbs(path: Path, data: object = None) -> list[str]:
    """The way to a value, a step at a time, in the author's own names as far as `data` has them."""
    steps: list[str] = []
    for depth, step in enumerate(path):
        parent = path[depth - 1] if depth else None
        data = _inside(data, step)
        thing = _THINGS.get(parent) if isinstance(parent, str) else None
        if isinstance(step, int):
            named = _name_of(data)
            crumb = f"`{harmless(named)}`" if named else str(step + 1)
            if thing:
                steps[-1] = f"{thing} {crumb}"
            else:
                steps.append(f"{'part' if parent in _PARTS else 'entry'} {crumb}")
        elif thing and parent in _NAMED and (depth == 1 or isinstance(path[depth - 2], int)):
            steps[-1] = f"{thing} `{harmless(step)}`"
        else:
            steps.append(harmless(step))
    return steps


def _head(diagnostic: Diagnostic, message: str, colour: bool, width: int) -> str:
    severity = painted(diagnostic.severity, _SHADES[diagnostic.severity], colour)
    room = width - _MESSAGE_COLUMN
    first, *more = wrapped(harmless(message), room)
    head = f"{diagnostic.code} {severity}{' ' * (8 - len(diagnostic.severity))}{first}"
    return "\n".join([head, *(" " * _MESSAGE_COLUMN + line for line in more)])


def _place(left: str, span: Span, width: int) -> list[str]:
    right = f"line {span.line}, column {span.column}"
    if not left:
        return [f"  {right}"]
    return [f"  {padded(cut(left, width - 4 - len(right)), min(_BREADCRUMB, width - _PLACE) - 2)}  {right}"]


def _labelled(label: str, text: str, width: int) -> list[str]:
    lines = wrapped(harmless(text), width - 8)
    return [f"  {label} {lines[0]}", *(" " * 8 + line for line in lines[1:])]


def _picture(text: str, span: Span, shade: Shade, colour: bool, width: int, *, before: bool) -> list[str]:
    lines, room = text.split("\n"), width - _GUTTER
    if span.line > len(lines):
        return []
    last, last_column = _end(lines, span)
    first_end = last_column if last == span.line else len(lines[span.line - 1].rstrip("\r")) + 1
    window = _window(lines[span.line - 1], span.column - 1, first_end - 1, room)
    drawn = [_source(span.line - 1, lines[span.line - 2], window, room)] if before and span.line > 1 else []
    drawn += _marked(span.line, lines[span.line - 1], span.column - 1, first_end - 1, window, room, shade, colour)
    if last > span.line + 1:
        drawn.append("    … |")
    if last > span.line:
        indent = len(lines[last - 1]) - len(lines[last - 1].lstrip())
        window = _window(lines[last - 1], indent, last_column - 1, room)
        start = min(indent, last_column - 1)
        drawn += _marked(last, lines[last - 1], start, last_column - 1, window, room, shade, colour)
    return drawn


def _end(lines: Sequence[str], span: Span) -> tuple[int, int]:
    """The last line that a span touches and the column past its end, blank lines at its end left out."""
    line, column = min(span.end_line, len(lines)), span.end_column
    while line > span.line and not lines[line - 1][: column - 1].strip():
        line -= 1
        column = len(lines[line - 1].rstrip("\r")) + 1
    return line, column


def _marked(
    number: int, line: str, start: int, end: int, window: int, room: int, shade: Shade, colour: bool
) -> list[str]:
    cells = _cells(line)
    shown = _shown(cells, window, room)
    offset = 1 if window else 0
    left = offset + _total(cells[window:start]) if start > window else offset
    carets = max(1, _total(cells[max(start, window) : end]))
    carets = min(carets, max(1, columns(shown) - left))
    gutter = f"      | {' ' * left}"
    return [_source(number, line, window, room), gutter + painted("^" * carets, shade, colour)]


def _source(number: int, line: str, window: int, room: int) -> str:
    return f"{number:>5} | {_shown(_cells(line), window, room)}".rstrip()


def _shown(cells: Sequence[tuple[str, int]], window: int, room: int) -> str:
    """The part of a line that begins at its character `window`, with `…` where it is cut."""
    if window >= len(cells):
        return "…" if window and cells else ""
    kept = ("…" if window else "") + "".join(char for char, _ in cells[window:])
    return cut(kept, room)


def _window(line: str, start: int, end: int, room: int) -> int:
    """The character at which a long line's picture begins, so that the fault is in it."""
    cells = _cells(line)
    if _total(cells) <= room or _total(cells[: max(end, start + 1)]) < room:
        return 0
    left, first = min(_LEFT_OF_FAULT, room // 2), min(start, len(cells))
    while first > 0 and left > 0:
        first -= 1
        left -= cells[first][1]
    return first


def _cells(line: str) -> list[tuple[str, int]]:
    """Each character as it is drawn with its width: a tab is `→`, what cannot be seen is `�`."""
    return [_cell(char) for char in line.rstrip("\r")]


def _cell(char: str) -> tuple[str, int]:
    if char == "\t":
        return "→", 1
    if is_unsafe(char):
        return "�", 1
    return char, width_of(char)


def _total(cells: Iterable[tuple[str, int]]) -> int:
    return sum(width for _, width in cells)


def _inside(data: object, step: str | int) -> object:
    match data, step:
        case dict(), str():
            return data.get(step)
        case list(), int() if 0 <= step < len(data):
            return data[step]
        case _:
            return None


def _name_of(data: object) -> str:
    name = data.get("name") if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""
