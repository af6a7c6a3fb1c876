"""The report of a run of an evaluation for people.

support-triage                                              GATES MET  4 rows

scorer                mean     n  failed  interval       p5  p25  p50  p75  p95
valid-json            0.75     4       0  0.30 to 0.95    0    …
intent-match          0.50     3       1  …

gates
  met      valid-json    mean        0.75 is at least 0.7
"""

from collections.abc import Iterator, Sequence

from rulebook.report.evaluation_outcome import MOST_TOLD, Evaluated, Told
from rulebook.report.evaluation_tally import Summary
from rulebook.report.spent import spent_lines
from rulebook.spec.gate_parts import PERCENTS
from rulebook.terminal import WIDTH, columns, cut, harmless, padded, painted, wrapped

_NAME = 30
_TITLE = 58
_INDENT = 6
_MESSAGE = 400
_HEADS = ("mean", "n", "failed", "95 % interval", *(f"p{percent}" for percent in PERCENTS))


def render_evaluation(found: Evaluated, *, colour: bool = False) -> str:
    """The text report: at most `WIDTH` columns, in a stable layout."""
    lines = [headline(found, colour=colour), "", *table_lines(found.scorers), *_rows(found)]
    if found.verdicts:
        lines += ["", "gates", *_gates(found, colour)]
    if found.told:
        lines += ["", *_failures(found.told)]
    if found.spent is not None:
        lines += ["", *spent_lines("Models", found.spent, WIDTH)]
        if found.spent_since is not None:
            lines += spent_lines("Of these since the run went on", found.spent_since, WIDTH)
    for note in found.notes:
        lines += ["", *wrapped(harmless(note), WIDTH)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(found: Evaluated, *, colour: bool = False) -> str:
    """The first line: the name, whether the gates are met, and how many rows there were."""
    if not found.gates_are_met:
        word = painted("GATES NOT MET", "red", colour)
    elif not found.is_measured:
        word = painted("NOT MEASURED", "yellow", colour)
    elif not found.verdicts:
        word = painted("NO GATES", "dim", colour)
    else:
        word = painted("GATES MET", "green", colour)
    name = padded(cut(harmless(found.name), _TITLE), _TITLE + 2)
    return f"{name}{word}  {_count(found.rows, 'row')}"


def table_lines(scorers: Sequence[Summary]) -> list[str]:
    """A table with one line for each scorer."""
    cells = [_HEADS, *(_cells(each) for each in scorers)]
    names = ["scorer", *(cut(harmless(each.name), _NAME) for each in scorers)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    name_width = max(map(columns, names))
    return [
        "  ".join([padded(name, name_width), *(cell.rjust(width) for cell, width in zip(row, widths, strict=True))])
        for name, row in zip(names, cells, strict=True)
    ]


def figure(value: float | None) -> str:
    """A score with up to four digits behind the point; one that is not measured is a dash."""
    if value is None:
        return "-"
    short = f"{value:.4f}".rstrip("0").rstrip(".")
    # what is not quite 0 or 1 must not read as if it were
    return f"{value:.6g}" if short in ("0", "1", "-0") and value not in (0.0, 1.0) else short


def _cells(found: Summary) -> tuple[str, ...]:
    interval = found.interval
    ends = "-" if interval is None else f"{figure(interval.low)} to {figure(interval.high)}"
    return (figure(found.mean), _covered(found), str(found.failed), ends, *map(figure, found.percentiles))


def _rows(found: Evaluated) -> Iterator[str]:
    if found.damaged or found.task_failed:
        parts = []
        if found.damaged:
            parts.append(f"{found.damaged} could not be read")
        if found.task_failed:
            parts.append(f"for {found.task_failed} the task failed")
        yield ""
        yield f"Of {_count(found.rows, 'row')} {' and '.join(parts)}: no scorer could measure them."


def _gates(found: Evaluated, colour: bool) -> Iterator[str]:
    wide = max(columns(cut(harmless(verdict.scorer), _NAME)) for verdict in found.verdicts)
    for verdict in found.verdicts:
        word = painted("met    ", "green", colour) if verdict.is_met else painted("NOT MET", "red", colour)
        yield f"  {word}  {padded(cut(harmless(verdict.scorer), _NAME), wide)}  {verdict.figure:<10}  {verdict.words}"


def _failures(told: Sequence[Told]) -> Iterator[str]:
    yield f"what could not be measured (at most {MOST_TOLD} rows of each kind)"
    alike: dict[tuple[str, str], list[str]] = {}
    for each in told:
        where = each.scorer or {"row": "the row itself", "task": "the task"}[each.stage]
        alike.setdefault((where, each.words), []).append(str(each.row))
    for (where, words), rows in alike.items():
        begin = f"  row{'' if len(rows) == 1 else 's'} {', '.join(rows)}  {cut(harmless(where), _NAME)}  "
        first, *others = wrapped(cut(harmless(words), _MESSAGE), WIDTH - _INDENT, indent=columns(begin) - _INDENT)
        yield cut(begin + first, WIDTH)
        yield from (cut(" " * _INDENT + line, WIDTH) for line in others)


def _covered(found: Summary) -> str:
    """How many scores there are, and where some rows gave several or none, how many rows they come from."""
    of = f" of {found.rows + found.empty}" if found.empty else ""
    if found.scores == found.rows:
        return f"{found.scores}{of}"
    return f"{found.scores} in {found.rows}{of} rows" if of else f"{found.scores} in {_count(found.rows, 'row')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
