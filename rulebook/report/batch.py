"""Many sessions checked against one spec: a line each, and what they came to together."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from rulebook.report.findings import Finding
from rulebook.report.judged import Judged
from rulebook.report.rewards import AUDIT_GAP, REFUSED, exit_status, totals
from rulebook.report.text import figure, verdict_word
from rulebook.terminal import WIDTH, Shade, columns, cut, harmless, padded, painted, wrapped

FAULT = 2

Verdict = Literal["passed", "failed", "misbehaved", "unmeasured", "audit gap", "not read", "fault"]

_SHADES: dict[str, Shade] = {
    "passed": "green",
    "failed": "red",
    "misbehaved": "red",
    "unmeasured": "yellow",
    "audit gap": "red",
    "not read": "red",
    "fault": "red",
}
_NAMED = 3
_OFTENEST = 5
_LABEL, _REASON = 32, 20


class Line(Struct, frozen=True):
    """What one session of many came to.

    `label` names it as it was asked for, `exit` is the status that it alone would have given. `refused` holds the ids
    of the findings that did not pass, those that could not be measured too. `report` is where its report was written.
    """

    label: str
    verdict: Verdict
    exit: int
    session: str | None = None
    score: float | None = None
    reward: float | None = None
    refused: tuple[str, ...] = ()
    reason: str = ""
    report: str | None = None


class Sums(Struct):
    """The lines of a run, added up one by one: nothing of a line is kept."""

    verdicts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    rewards: list[float] = field(default_factory=list)
    exits: set[int] = field(default_factory=set)

    def add(self, line: Line) -> None:
        """Count one line."""
        self.verdicts[line.verdict] += 1
        self.refused.update(line.refused)
        self.exits.add(line.exit)
        if line.reward is not None:
            self.rewards.append(line.reward)

    @property
    def sessions(self) -> int:
        """How many there were."""
        return self.verdicts.total()

    @property
    def reward(self) -> float | None:
        """The mean of the rewards that there are; None when there is none."""
        return math.fsum(self.rewards) / len(self.rewards) if self.rewards else None

    @property
    def exit(self) -> int:
        """The gravest status: a fault of ours, then an audit gap, then a refusal."""
        return next((status for status in (FAULT, AUDIT_GAP, REFUSED) if status in self.exits), 0)


def line_of(label: str, judged: Judged, report: str | None = None) -> Line:
    """The line of a session that was checked."""
    sums = totals(judged)
    refused = tuple(finding.id for finding in judged.findings if _is_refused(finding))
    return Line(
        label,
        _VERDICTS[verdict_word(judged, sums)[0]],
        exit_status(judged, sums),
        judged.session,
        sums.score,
        sums.reward,
        refused,
        judged.audit.reason if not judged.audit.accepted else "",
        report,
    )


def render_line(line: Line, *, colour: bool = False) -> str:
    """One line of at most `WIDTH` columns: verdict, score, reward, which session, and what did not pass."""
    word = padded(line.verdict.upper(), 10)
    score = "no score  " if line.score is None else f"score {figure(line.score)}"
    reward = "no reward  " if line.reward is None else f"reward {figure(line.reward)}"
    start = f"{word}  {score}  {reward}  "
    room, why = WIDTH - columns(start), _why(line)
    label = harmless(line.label)
    wide = min(max(columns(label), _LABEL), room - _REASON) if why else room
    rest = padded(_tail(label, wide), wide) + (f"  {cut(why, room - wide - 2)}" if why else "")
    return f"{painted(word, _SHADES[line.verdict], colour)}{start[len(word) :]}{rest}".rstrip() + "\n"


def render_sums(sums: Sums) -> str:
    """What the sessions came to, in a few lines."""
    counts = [f"{sums.verdicts[verdict]} {verdict}" for verdict in _SHADES if sums.verdicts[verdict]]
    said = [f"{_sessions(sums.sessions)}: {', '.join(counts)}."]
    if sums.reward is not None:
        over = "" if len(sums.rewards) == sums.sessions else f" over the {len(sums.rewards)} that have one"
        said.append(f"Mean reward {figure(sums.reward)}{over}.")
    else:
        said.append("None has a reward.")
    lines = [" ".join(said)]
    often = sums.refused.most_common(_OFTENEST)
    if often:
        named = ", ".join(f"{cut(harmless(id), 40)} {count}" for id, count in often)
        lines.append(f"Most often not passed: {named}.")
    return "\n".join(piece for line in lines for piece in wrapped(line, WIDTH)) + "\n"


def line_json(line: Line) -> dict[str, object]:
    """One line as plain data."""
    return {
        "label": line.label,
        "session": line.session,
        "verdict": line.verdict,
        "exit": line.exit,
        "score": line.score,
        "reward": line.reward,
        "refused": list(line.refused),
        "reason": line.reason,
        "report": line.report,
    }


def sums_json(sums: Sums) -> dict[str, object]:
    """The summary as plain data; `n` is how many sessions have a reward."""
    return {
        "schema": "rulebook.check-summary",
        "version": 1,
        "sessions": sums.sessions,
        "verdicts": {verdict: sums.verdicts[verdict] for verdict in _SHADES},
        "reward": {"mean": sums.reward, "n": len(sums.rewards)},
        "refused": dict(sorted(sums.refused.items())),
        "exit": sums.exit,
    }


_VERDICTS: dict[str, Verdict] = {
    "PASSED": "passed",
    "FAILED": "failed",
    "MISBEHAVED": "misbehaved",
    "UNMEASURED": "unmeasured",
    "AUDIT GAP": "audit gap",
}


def _is_refused(finding: Finding) -> bool:
    return finding.status in ("fail", "misbehavior", "unmeasured")


def _why(line: Line) -> str:
    if line.reason:
        return harmless(line.reason)
    return _some([harmless(id) for id in line.refused])


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return ", ".join(ids[:_NAMED]) + more


def _tail(text: str, room: int) -> str:
    """The end of a path, which tells more than its beginning."""
    if columns(text) <= room:
        return text
    kept = text
    while kept and columns(kept) > room - 1:
        kept = kept[max(1, len(kept) - room) :] if len(kept) > room else kept[1:]
    return "…" + kept


def _sessions(number: int) -> str:
    return "1 session" if number == 1 else f"{number:,} sessions"
