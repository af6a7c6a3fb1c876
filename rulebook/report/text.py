"""The report that people read in a terminal. Nothing from the evidence can forge a line of it.

parser rejects empty input                                  FAILED  score 0.83  no reward
session 01M8…  base 3f2c9d1e  native sandbox  log intact, 412 events, 6 turns

  fixture   2 of 3   weight 2
    FAIL  required_paths[src/parser.py]   expected present · actual absent
  budget    unmeasured
    ????  max_cost                        the log does not say what 2 of 6 turns cost
  harness 1 of 1 · model 3 of 3 · policy 3 of 3

1 check could not be measured, so there is no reward. …
"""

import json
from collections.abc import Mapping, Sequence

from rulebook.outcome import CATEGORIES, Category
from rulebook.report.findings import Finding, Status
from rulebook.report.judged import Judged
from rulebook.report.model_costs import models_lines
from rulebook.report.plain_json import plain
from rulebook.report.rewards import Totals, totals
from rulebook.terminal import WIDTH, Shade, columns, cut, harmless, padded, painted, wrapped

_NAME = 58
_LONGEST_ID = 44
_DETAIL = 10
_PLACES = 3
_MOST_LINES = 3

_LABELS: dict[Status, tuple[str, Shade]] = {
    "pass": ("NOTE", "dim"),
    "fail": ("FAIL", "red"),
    "misbehavior": ("MISB", "red"),
    "unmeasured": ("????", "yellow"),
    "skipped": ("SKIP", "dim"),
}
_WHERE = {
    "log": "byte {} of the log",
    "message": "message {}",
    "call": "tool call {}",
    "path": "{}",
    "line": "line {}",
}
_GRAVITY: tuple[Status, ...] = ("misbehavior", "fail", "unmeasured", "skipped", "pass")


def render_report(judged: Judged, *, colour: bool = False) -> str:
    """The text report of a checked session: at most `WIDTH` columns, in a stable layout."""
    sums = totals(judged)
    groups = [
        (category, own)
        for category in CATEGORIES
        if (own := [finding for finding in judged.findings if finding.category == category])
    ]
    quiet = [group for group in groups if not any(map(_is_listed, group[1]))]
    troubled = sorted((group for group in groups if group not in quiet), key=lambda group: _rank(group[1]))
    id_width = max((columns(_id(f)) for f in judged.findings if _is_listed(f)), default=0) + 3
    lines = [headline(judged, colour=colour), *_packed(_identity(judged), "  ", ""), ""]
    for category, own in troubled:
        lines.append(_group(category, own, sums, colour))
        for finding in sorted(filter(_is_listed, own), key=lambda f: _GRAVITY.index(f.status)):
            lines += _finding(finding, id_width, colour)
    lines += [*_quiet(quiet, sums), *([""] if groups else []), *wrapped(_closing(judged, sums), WIDTH)]
    lines += models_lines(judged.traces.values(), WIDTH)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(judged: Judged, *, colour: bool = False) -> str:
    """The first line of the report: name, verdict, score and reward."""
    sums = totals(judged)
    word, shade = verdict_word(judged, sums)
    score = "no score" if sums.score is None else f"score {figure(sums.score)}"
    reward = "no reward" if sums.reward is None else f"reward {figure(sums.reward)}"
    name = padded(cut(harmless(judged.name), _NAME), _NAME + 2)
    return f"{name}{painted(word, shade, colour)}  {score}  {reward}"


def verdict_word(judged: Judged, sums: Totals) -> tuple[str, Shade]:
    """The one word that says how it went, and its colour."""
    statuses = {finding.status for finding in judged.findings}
    if not judged.audit.accepted:
        return "AUDIT GAP", "red"
    if "misbehavior" in statuses:
        return "MISBEHAVED", "red"
    if "fail" in statuses:
        return "FAILED", "red"
    return ("PASSED", "green") if sums.passed else ("UNMEASURED", "yellow")


def figure(share: float) -> str:
    """A share with two decimals, which reads 0.00 or 1.00 only when it is that."""
    rounded = round(share, 2)
    if rounded == 1.0 and share < 1.0 - 1e-9:
        return "0.99"
    if rounded == 0.0 and share > 1e-9:
        return "0.01"
    return f"{rounded:.2f}"


def shown(value: object) -> str:
    """A value from a rule file or the evidence, in one harmless line."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value)
        case float():
            return f"{value:g}"
        case str():
            return harmless(value) if value else "empty text"
        case _:
            return harmless(json.dumps(plain(value), ensure_ascii=False, sort_keys=True))


def _identity(judged: Judged) -> list[str]:
    parts = [f"session {cut(harmless(judged.session), 60)}"] if judged.session else []
    if judged.base_commit:
        parts.append(f"base {harmless(judged.base_commit)[:8]}")
    if judged.sandbox_driver:
        parts.append(f"{cut(harmless(judged.sandbox_driver), 20)} sandbox")
    counts = [f"log {judged.audit.verdict.replace('_', ' ')}", _count(judged.audit.events, "event")]
    if judged.measured.turns is not None:
        counts.append(_count(judged.measured.turns, "turn"))
    parts.append(", ".join(counts))
    if judged.repository is not None:
        parts.append(f"repository from the {harmless(judged.repository.source)}")
    return parts


def _group(category: Category, own: Sequence[Finding], sums: Totals, colour: bool) -> str:
    passed = sum(finding.status == "pass" for finding in own)
    measured = passed + sum(finding.status == "fail" for finding in own)
    statuses = {finding.status for finding in own}
    unsure = sum(finding.status == "unmeasured" for finding in own)
    if measured:
        count = f"{passed} of {measured}" + (f", {unsure} unmeasured" if unsure else "")
    elif "misbehavior" in statuses:
        count = "misbehaviour"
    else:
        count = "unmeasured" if "unmeasured" in statuses else "skipped"
    weight = sums.weights[category]
    line = f"  {painted(category, 'bold', colour)}{' ' * (10 - len(category))}{count}"
    return line if weight == 1 else f"{line}   weight {weight:g}"


def _finding(finding: Finding, id_width: int, colour: bool) -> list[str]:
    label, shade = _LABELS[finding.status]
    first, *more = _beside(finding, WIDTH - _DETAIL - id_width)
    return [
        f"    {painted(label, shade, colour)}  {padded(_id(finding), id_width)}{first}",
        *(" " * (_DETAIL + id_width) + line for line in more),
        *(" " * _DETAIL + line for sentence in _below(finding) for line in _lines(sentence, WIDTH - _DETAIL)),
    ]


def _beside(finding: Finding, room: int) -> list[str]:
    """What stands beside a finding's id."""
    if finding.status == "pass":
        idle = "passed only because the session did nothing"
        return _lines(f"proves nothing: {harmless(finding.reason)}" if finding.reason else idle, room)
    if _has_sides(finding):
        sides = [f"expected {shown(finding.expected)}", f"actual {shown(finding.actual)}"]
        joined = " · ".join(sides)
        return [joined] if columns(joined) <= room else [line for side in sides for line in _lines(side, room)]
    return _lines(harmless(finding.reason) or "not passed", room)


def _below(finding: Finding) -> list[str]:
    """The sentences that stand below a finding, each harmless."""
    failed = finding.status == "fail"
    said = [
        harmless(finding.reason) if _has_sides(finding) else "",
        f"score {figure(finding.score)}" if failed and finding.score else "",
        harmless(finding.printed) if failed and finding.printed not in finding.reason else "",
        f"why: {harmless(finding.why)}" if finding.why and finding.status in ("fail", "misbehavior") else "",
        _places(finding.at),
    ]
    return [sentence for sentence in said if sentence]


def _has_sides(finding: Finding) -> bool:
    return finding.status == "fail" and (finding.expected is not None or finding.actual is not None)


def _lines(text: str, room: int) -> list[str]:
    lines = wrapped(text, room)
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"{lines[_MOST_LINES - 1]} …"]
    return [cut(line, room) for line in lines]


def _places(at: Sequence[Mapping[str, object]]) -> str:
    places = [place for place in map(_where, at) if place]
    more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    return "at " + "; ".join(places[:_PLACES]) + more if places else ""


def _where(place: Mapping[str, object]) -> str:
    said = [words.format(shown(place[key])) for key, words in _WHERE.items() if key in place]
    note = [f"({shown(place['note'])})"] if "note" in place else []
    return ", ".join(said) + (" " if said and note else "") + "".join(note)


def _quiet(groups: Sequence[tuple[Category, Sequence[Finding]]], sums: Totals) -> list[str]:
    """The groups without trouble, joined on as few lines as they need."""
    said = [
        f"{category} {len(own)} of {len(own)}" + (" weight 0" if sums.weights[category] == 0 else "")
        for category, own in groups
    ]
    return _packed(said, " · ", "  ") if said else []


def _closing(judged: Judged, sums: Totals) -> str:
    counts = {status: sum(f.status == status for f in judged.findings) for status in _GRAVITY}
    if not judged.audit.accepted:
        why = f": {harmless(judged.audit.reason)}" if judged.audit.reason else ""
        return f"The log is not accepted, so there is no score{why}. See rulebook session verify."
    said = []
    if counts["misbehavior"]:
        said.append("Misbehaviour was found, so score and reward are 0.")
    elif sums.no_reward:
        said.append(f"{sums.no_reward[0].upper()}{sums.no_reward[1:]}, so there is no reward.")
    elif counts["unmeasured"]:
        said.append(f"{_count(counts['unmeasured'], 'check')} could not be measured.")
    if counts["fail"]:
        said.append(f"{_count(counts['fail'], 'check')} failed.")
    if sums.passed:
        said.append("Everything that was asked holds.")
    else:
        said.append("More in --format json.")
    return " ".join(said)


def _packed(parts: Sequence[str], between: str, indent: str) -> list[str]:
    """Parts joined into lines of at most `WIDTH` columns, none of them split."""
    lines: list[str] = []
    for part in parts:
        if lines and columns(lines[-1]) + columns(between) + columns(part) <= WIDTH:
            lines[-1] += between + part
        else:
            lines.append(indent + cut(part, WIDTH - len(indent)))
    return lines


def _is_listed(finding: Finding) -> bool:
    return finding.status != "pass" or finding.vacuous


def _rank(own: Sequence[Finding]) -> int:
    return min(_GRAVITY.index(finding.status) for finding in own if _is_listed(finding))


def _id(finding: Finding) -> str:
    return cut(harmless(finding.id), _LONGEST_ID)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
