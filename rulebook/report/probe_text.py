"""The report of a probed task for people. Nothing of what students or judges wrote can forge a line of it.

sum the readings                                            1 HOLE  2 steps, 3 cases
  rules/sum-readings.yaml

  add_up  case hill; lake and coast are alike
    ok    nothing                0  failed       the submission `summary` was not handed in
    HOLE  a boast                1  passed
          It claims that all is done and right.
          What passed: regex (score 1): `done` is found in the answer.
    PASS  oracle                 1  passed
"""

from collections.abc import Iterator, Sequence

from rulebook.report.model_costs import models_lines
from rulebook.report.probe_scores import Got, Played, Probed, StepProbed, traces_of
from rulebook.spelling import listed
from rulebook.terminal import WIDTH, Shade, columns, cut, harmless, padded, painted, wrapped

_NAME = 58
_LABELS: dict[Got, tuple[str, Shade]] = {
    "nothing": ("ok", "dim"),
    "hole": ("HOLE", "red"),
    "no reward": ("????", "yellow"),
    "right": ("PASS", "green"),
    "not right": ("FAIL", "red"),
    "not played": ("n/a", "dim"),
}
_DETAIL = 10
_MOST_CASES, _MOST_LINES = 4, 3


def render_probe(probed: Probed, *, colour: bool = False) -> str:
    """The text report: at most `WIDTH` columns. Cases of a step that are alike, and have no hole, stand once."""
    lines = [headline(probed, colour=colour), "  " + cut(harmless(probed.spec.document.file), WIDTH - 2)]
    for group in _alike(probed):
        lines += ["", *_group(group, probed.allow, colour)]
    lines += ["", *(line for said in _closing(probed) for line in wrapped(harmless(said), WIDTH))]
    lines += models_lines(traces_of(probed), WIDTH) if probed.asked_models else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(probed: Probed, *, colour: bool = False) -> str:
    """The first line of the report: the task, the verdict, and how much was looked at."""
    word, shade = _verdict(probed)
    steps, cases = {step.step for step in probed.steps}, {step.case for step in probed.steps} - {None}
    size = _counted(len(steps), "step") + (f", {_counted(len(cases), 'case')}" if cases else "")
    name = padded(cut(harmless(probed.spec.name), _NAME), _NAME + 2)
    return f"{name}{painted(word, shade, colour)}  {size}"


def _verdict(probed: Probed) -> tuple[str, Shade]:
    if probed.judges_nothing:
        return "JUDGES NOTHING", "red"
    if probed.holes:
        return _counted(len(probed.holes), "HOLE", "S"), "red"
    if probed.untold or probed.idle:
        return "NOT PROBED", "yellow"
    if any(each.score is not None for _, each in probed.wronged):
        return "ORACLE FAILED", "red"
    if probed.wronged:
        return "ORACLE UNMEASURED", "yellow"
    return ("SOUND", "green") if probed.passed else ("NOT PLAYED", "yellow")


def _alike(probed: Probed) -> list[list[StepProbed]]:
    """The steps in order, their cases together where everybody got the same; one with a hole stands alone."""
    groups: dict[object, list[StepProbed]] = {}
    for number, step in enumerate(probed.steps):
        rows = [(each.student, each.got(probed.allow), each.score) for each in step.played]
        holes = any(got == "hole" for _, got, _ in rows)
        groups.setdefault((step.step, step.status, number if holes else tuple(rows)), []).append(step)
    return list(groups.values())


def _group(group: Sequence[StepProbed], allow: float, colour: bool) -> Iterator[str]:
    first = group[0]
    yield "  " + painted(cut(harmless(f"{first.step}{_cases(group)}"), WIDTH - 2), "bold", colour)
    if first.kind == "open by design":
        yield f"    Open by design: {first.why}."
    elif first.kind == "skipped":
        yield from _indented(f"Skipped, so nobody was judged: {first.why}.", 4)
    width = max((columns(each.student) for each in first.played), default=0)
    for each in first.played:
        yield from _row(each, allow, width, colour)
    if first.status == "not probed":
        broke = any(each.broke for each in first.played)
        what = "its script broke over all of it" if broke else "it could tell nothing of any work"
        said = f"This step's judge could not be probed: {what}."
        yield from (painted(line, "yellow", colour) for line in _indented(said, 4))


def _cases(group: Sequence[StepProbed]) -> str:
    names = [step.case for step in group if step.case is not None]
    if not names:
        return ""
    others = names[1:]
    if not others:
        return f"  case {names[0]}"
    told = ", ".join(others) if len(others) <= _MOST_CASES else f"{len(others)} other cases"
    return f"  case {names[0]}; {told} alike"


def _row(played: Played, allow: float, width: int, colour: bool) -> Iterator[str]:
    got = played.got(allow)
    word, shade = _LABELS[got]
    score = "-" if played.score is None else f"{played.score:g}"
    status = "not played" if played.judged is None else played.judged.status
    start = f"{padded(played.student, width)}  {score:>6}  {padded(status, 12)}"
    label = f"    {painted(word, shade, colour)}{' ' * (6 - len(word))}"
    if got not in ("hole", "not right"):
        yield label + cut(f"{start} {harmless(played.reason)}", WIDTH - _DETAIL)
        return
    yield label + start
    yield from _indented(f"The student {played.about}." if got == "hole" else "It should have passed.", _DETAIL)
    if played.reason:
        yield from _indented(played.reason, _DETAIL)
    if got == "hole":
        for part in played.earned:
            yield from _indented(f"What passed: {part}", _DETAIL, _MOST_LINES)
    yield from _indented(played.mend(allow), _DETAIL) if played.mend(allow) else ()


def _indented(text: str, indent: int, most: int | None = None) -> Iterator[str]:
    lines = wrapped(harmless(text), WIDTH - indent)
    if most is not None and len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1]} …"]
    for line in lines:
        yield " " * indent + cut(line, WIDTH - indent)


def _closing(probed: Probed) -> Iterator[str]:
    if probed.judges_nothing:
        yield "No step of this task judges anything: whatever a student does passes. Write a judge that looks at it."
        return
    if probed.holes:
        who = "One student" if len(probed.holes) == 1 else f"{len(probed.holes)} students"
        yield f"{who} got reward without the work. Tighten what is listed as passed, and probe again."
    if probed.idle:
        yield "No step was reached, so nothing is known of any judge."
    for step in probed.untold:
        why = next((each.reason for each in step.played if each.plain and (each.score is None or each.broke)), "")
        yield f"The judge of `{step.step}` could not be probed: {why or 'nobody could be judged'}. That is no pass."
    for step, each in probed.wronged:
        case = "" if step.case is None else f" in the case `{step.case}`"
        told = "could not be measured" if each.score is None else "did not pass"
        yield f"The oracle of `{step.step}`{case} {told}: {each.reason or 'right work must pass'}."
    if probed.not_played:
        names = ", ".join(sorted({each.student for _, each in probed.not_played}))
        yield f"Not played on this machine: {names}." + (" With `--strict` that is no pass." if probed.strict else "")
    judged = [step for step in probed.steps if step.kind == "played"]
    bare = sorted({step.step for step in judged if step.oracle is None})
    if bare:
        yield f"Nothing shows that right work passes {listed(bare)}: write `oracle:` there, or pass `--oracle DIR`."
    if probed.passed:
        yield "Nobody was rewarded for work that was not done" + ("." if bare else ", and right work passes.")


def _counted(count: int, thing: str, plural: str = "s") -> str:
    return f"{count} {thing}{'' if count == 1 else plural}"
