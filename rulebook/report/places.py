"""A finding and the very place where it was seen, as text. Nothing from the evidence can forge a line of it."""

from collections.abc import Sequence

from rulebook.report.stored import StoredFinding
from rulebook.report.text import shown
from rulebook.terminal import WIDTH, Shade, columns, cut, harmless, padded, painted, wrapped

_LABELS: dict[str, tuple[str, Shade]] = {
    "pass": ("PASS", "green"),
    "fail": ("FAIL", "red"),
    "misbehavior": ("MISB", "red"),
    "unmeasured": ("????", "yellow"),
    "skipped": ("SKIP", "dim"),
}
_LINES = 40


def render_finding(finding: StoredFinding, *, colour: bool = False) -> str:
    """The finding's own lines: what was asked, what was found, and why it was seen nowhere if it was not."""
    label, shade = _LABELS.get(finding.status, ("????", "yellow"))
    sides = []
    if finding.expected is not None or finding.actual is not None:
        sides = [f"expected {shown(finding.expected)} · actual {shown(finding.actual)}"]
    said = [*sides, *([harmless(finding.reason)] if finding.reason else [])]
    if not finding.at:
        said.append(f"Seen nowhere: {harmless(finding.no_place) or 'the report does not say why'}.")
    lines = [f"{painted(label, shade, colour)}  {harmless(finding.id)}"]
    lines += [f"      {line}" for sentence in said for line in wrapped(sentence, WIDTH - 6)]
    return "\n".join(lines) + "\n"


def render_place(heading: str, lines: Sequence[str], marked: int | None, *, full: bool, colour: bool = False) -> str:
    """One place: its heading, then its lines behind a margin; long ones are cut unless `full`."""
    kept = lines if full or len(lines) <= _LINES else lines[: _LINES - 1]
    room = WIDTH - 4
    said = ["", painted(harmless(heading), "bold", colour)]
    for number, line in enumerate(kept):
        text = harmless(line)
        sign = ">" if number == marked else "|"
        pieces = wrapped(text, room) if full and columns(text) > room else [text if full else cut(text, room)]
        said += [f"  {sign} {piece}".rstrip() for piece in pieces]
    if len(kept) < len(lines):
        said.append(f"  … {len(lines) - len(kept)} more lines: --full shows them")
    return "\n".join(said) + "\n"


def render_findings(findings: Sequence[StoredFinding], *, colour: bool = False) -> str:
    """Every finding on a line of its own, with how many places it has."""
    width = max((columns(harmless(finding.id)) for finding in findings), default=0)
    lines = []
    for finding in findings:
        label, shade = _LABELS.get(finding.status, ("????", "yellow"))
        count = len(finding.at)
        places = "1 place" if count == 1 else f"{count} places" if count else "seen nowhere"
        name = padded(cut(harmless(finding.id), 70), min(width, 70))
        lines.append(f"{painted(label, shade, colour)}  {name}  {places}")
    return "\n".join(lines) + "\n" if lines else "The report has no findings.\n"
