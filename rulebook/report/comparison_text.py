"""The comparison of two runs for people.

support-triage                                              WORSE  4 rows in both
A 01M8Q4W2X7N6R5T3V1Y0Z9A8BC · B 01M8Q4W9ZK0C5D7E9F1G3H5J7K

scorer    A       B   change       95 % interval   n  fixed  broken  lost        p  verdict
near      1  0.5172  -0.4828  -0.6557 to -0.3093  29      0      14     1  0.00012  worse

LOST: B has no score of `near` in 1 of the 30 rows that A measured
  row 5  CommandError: it ended with exit status 1

broken for near (14 rows, the first 5)
  row 3  1 to 0  A: 14  B: 24
"""

from collections.abc import Iterable, Iterator, Sequence

from rulebook.report.compared import Change, Compared
from rulebook.report.comparison import Comparison, Outputs
from rulebook.report.comparison_report import output_text
from rulebook.report.evaluation_text import figure
from rulebook.terminal import WIDTH, Shade, columns, cut, harmless, padded, painted, wrapped

_NAME = 22
_TITLE = 58
_OUTPUT = 30
_RUN = 40

MOST_SHOWN = 5
"""How many rows of each kind are shown for a scorer; the JSON report has all of them."""

_SHADES: dict[str, Shade] = {"better": "green", "worse": "red", "not measured": "yellow", "inconclusive": "dim"}


def render_comparison(found: Comparison, *, colour: bool = False) -> str:
    """The text report: at most `WIDTH` columns, in a stable layout."""
    lines = [headline(found, colour=colour), *_sides(found), "", *_table(found, colour), *_losses(found, colour)]
    if found.verdicts:
        lines += ["", "gate", *_gates(found, colour)]
    outputs = {each.row: each for each in found.outputs}
    for scorer in found.scorers:
        lines += [
            *_changes(scorer, "broken", scorer.broken, outputs),
            *_changes(scorer, "fixed", scorer.fixed, outputs),
        ]
    for note in [*_remarks(found), *found.notes]:
        lines += ["", *wrapped(harmless(note), WIDTH)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(found: Comparison, *, colour: bool = False) -> str:
    """The first line: the name, what came out, and how many rows both runs have."""
    verdicts = {each.verdict for each in found.scorers}
    if found.verdicts:
        words: tuple[str, Shade] = ("GATE MET", "green") if found.gates_are_met else ("GATE NOT MET", "red")
    elif "worse" in verdicts:
        words = "WORSE", "red"
    elif any(each.lost for each in found.scorers):
        words = "ROWS LOST", "red"
    elif "not measured" in verdicts:
        words = "NOT MEASURED", "yellow"
    else:
        words = ("BETTER", "green") if "better" in verdicts else ("INCONCLUSIVE", "dim")
    title = found.b.name if found.a.name == found.b.name else f"{found.a.name} → {found.b.name}"
    name = padded(cut(harmless(title), _TITLE), _TITLE + 2)
    return f"{name}{painted(*words, colour)}  {_count(found.rows, 'row')} in both"


def _sides(found: Comparison) -> Iterator[str]:
    yield f"A {cut(harmless(found.a.run), _RUN)} · B {cut(harmless(found.b.run), _RUN)}"


def _table(found: Comparison, colour: bool) -> list[str]:
    share = f"{found.confidence * 100:.6g} % interval"
    heads = ("A", "B", "change", share, "n", "fixed", "broken", "lost", "p")
    cells = [heads, *(_cells(each) for each in found.scorers)]
    names = ["scorer", *(cut(harmless(each.name), _NAME) for each in found.scorers)]
    verdicts = ["verdict", *(painted(each.verdict, _SHADES[each.verdict], colour) for each in found.scorers)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    name_width = max(map(columns, names))
    return [
        "  ".join([padded(name, name_width), *(c.rjust(width) for c, width in zip(row, widths, strict=True)), verdict])
        for name, row, verdict in zip(names, cells, verdicts, strict=True)
    ]


def _cells(found: Compared) -> tuple[str, ...]:
    figures, interval = found.figures, found.interval
    ends = "-" if interval is None else f"{figure(interval.low)} to {figure(interval.high)}"
    means = ("-", "-", "-") if figures is None else tuple(map(figure, (figures.mean_a, figures.mean_b)))
    change = () if figures is None else (_signed(figures.difference),)
    counts = map(str, (found.rows, len(found.fixed), len(found.broken), len(found.lost)))
    return (*means, *change, ends, *counts, _chance(found.chance))


def _chance(value: float | None) -> str:
    if value is None:
        return "-"
    return "<1e-06" if value < 1e-6 else f"{value:.2g}"


def _signed(value: float) -> str:
    return f"+{figure(value)}" if value > 0 else figure(value)


def _losses(found: Comparison, colour: bool) -> Iterator[str]:
    """What nobody may overlook: rows, and whole scorers, that the candidate could not measure."""
    for scorer in found.scorers:
        if not scorer.lost:
            continue
        name = harmless(scorer.name)
        yield ""
        yield painted(f"LOST: B has no score of `{cut(name, _NAME)}` in {_rows_of(scorer)}", "red", colour)
        for told in scorer.told:
            yield cut(f"  row {told.row}  {harmless(told.words)}", WIDTH)
    for name in found.only_a:
        yield ""
        yield painted(f"LOST: B does not have the scorer `{cut(harmless(name), _NAME)}`", "red", colour)


def _rows_of(scorer: Compared) -> str:
    measured = scorer.rows + len(scorer.lost)
    return f"{len(scorer.lost)} of the {_count(measured, 'row')} that A measured"


def _gates(found: Comparison, colour: bool) -> Iterator[str]:
    wide = max(columns(cut(harmless(verdict.scorer), _NAME)) for verdict in found.verdicts)
    for verdict in found.verdicts:
        word = painted("met    ", "green", colour) if verdict.is_met else painted("NOT MET", "red", colour)
        yield f"  {word}  {padded(cut(harmless(verdict.scorer), _NAME), wide)}  {verdict.figure:<8}  {verdict.words}"


def _changes(scorer: Compared, what: str, changes: Sequence[Change], outputs: dict[int, Outputs]) -> Iterator[str]:
    if not changes:
        return
    yield ""
    first = f", the first {MOST_SHOWN}" if len(changes) > MOST_SHOWN else ""
    yield f"{what} for {cut(harmless(scorer.name), _NAME)} ({_count(len(changes), 'row')}{first})"
    rows = [_told_change(each, outputs.get(each.row)) for each in changes[:MOST_SHOWN]]
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True))


def _told_change(change: Change, outputs: Outputs | None) -> tuple[str, str, str, str]:
    own = outputs or Outputs(change.row)
    scores = f"{figure(change.a)} to {figure(change.b)}"
    return f"row {change.row}", scores, _output("A", own.a), _output("B", own.b)


def _output(side: str, output: object) -> str:
    text = output_text(output)
    return "" if text is None else f"{side}: {cut(harmless(text) or 'nothing', _OUTPUT)}"


def _remarks(found: Comparison) -> Iterable[str]:
    """What must be known to read the table."""
    gained = [f"`{each.name}` {len(each.gained)}" for each in found.scorers if each.gained]
    if gained:
        yield f"Rows that B measured and A did not, which count in no figure: {', '.join(gained)}."
    neither = [f"`{each.name}` {each.neither}" for each in found.scorers if each.neither]
    if neither:
        yield f"Rows that neither run measured: {', '.join(neither)}."
    for each in found.scorers:
        if each.if_lost is not None and each.verdict == "inconclusive":
            yield (
                f"`{each.name}` is not called better: with {figure(each.if_lost.score)} in the rows that B lost, the "
                f"change would be {_signed(each.if_lost.difference)}."
            )
    tested = sum(each.chance is not None for each in found.scorers)
    if tested > 1:
        yield f"p is Holm's for {tested} scorers tested at once, and decides the verdict."
    if found.only_b:
        yield f"Scorers of B alone: {', '.join(f'`{name}`' for name in found.only_b)}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
