"""The report of a task's run: as one JSON object, and for people."""

from collections.abc import Iterator

from rulebook import __version__
from rulebook.expression.nodes import AllOf, AtLeast, Numeric
from rulebook.interpreter.trace import Trace
from rulebook.outcome import Measurement, Misbehavior, Skipped, Unmeasured
from rulebook.report.eval_report import trace_json
from rulebook.report.model_costs import models_json, models_lines
from rulebook.report.plain_json import plain
from rulebook.report.task_scores import StepJudged, StepStatus, TaskJudged, TaskScore
from rulebook.report.text import shown
from rulebook.terminal import WIDTH, Shade, columns, cut, harmless, padded, painted, wrapped

SCHEMA = "rulebook.task-report"
VERSION = 1

_NAME = 58
_LABELS: dict[StepStatus, tuple[str, Shade]] = {
    "passed": ("PASS", "green"),
    "failed": ("FAIL", "red"),
    "misbehavior": ("MISB", "red"),
    "unmeasured": ("????", "yellow"),
    "skipped": ("SKIP", "dim"),
    "not reached": ("----", "dim"),
}
_MOST_LINES = 3
_MOST_PARTS = 8


def exit_status(judged: TaskJudged) -> int:
    """0 when the run passed, else 3."""
    return 0 if judged.total.passed else 3


def task_report(judged: TaskJudged) -> dict[str, object]:
    """The report as plain data."""
    sums = judged.total
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "producer": {"name": "rulebook", "version": __version__},
        "name": judged.spec.name,
        "task": {"path": judged.spec.document.file, "sha256": judged.spec_sha256},
        "case": judged.case,
        "step": judged.only,
        "params": plain(judged.params),
        "session": judged.session,
        "transcript": judged.transcript,
        "score": sums.score,
        "passed": sums.passed,
        "partial_score": sums.partial_score,
        "no_score": sums.why,
        "errored": judged.errored,
        **({"played": plain(judged.played)} if judged.played else {}),
        **models_json(_traces(judged)),
        "steps": [_step(step) for step in judged.steps],
    }


def _traces(judged: TaskJudged) -> list[Trace]:
    return [step.trace for step in judged.steps if step.trace is not None]


def _step(step: StepJudged) -> dict[str, object]:
    outcome = step.outcome
    found: dict[str, object] = {
        "name": step.name,
        "status": step.status,
        "score": plain(step.score),
        "passed": step.passed,
        "weight": step.weight,
        "reason": getattr(outcome, "reason", ""),
        "metadata": plain(getattr(outcome, "metadata", {})),
        "trace": None if step.trace is None else trace_json(step.trace),
    }
    match outcome:
        case Misbehavior(reason):
            found["metadata"] = {"misbehavior": plain(reason), **outcome.metadata}
        case Measurement():
            found["student_fault"] = outcome.student_fault
        case Unmeasured(category):
            found["category"] = category
        case Skipped() | None:
            pass
    return found


def render_task(judged: TaskJudged, *, colour: bool = False) -> str:
    """The text report: at most `WIDTH` columns, and nothing of the evidence can forge a line of it."""
    sums = judged.total
    lines = [headline(judged, colour=colour)]
    if judged.session or judged.transcript:
        lines.append("  " + cut(f"session {harmless(judged.session or judged.transcript or '')}", WIDTH - 2))
    lines.append("")
    width = min(40, max((columns(harmless(step.name)) for step in judged.steps), default=0)) + 3
    for step in judged.steps:
        lines += _step_lines(step, width, colour)
    lines += ["", *wrapped(_closing(judged, sums), WIDTH), *models_lines(_traces(judged), WIDTH)]
    notes = judged.played.get("notes")
    for note in notes if isinstance(notes, list) else []:
        lines += wrapped(harmless(str(note)), WIDTH)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(judged: TaskJudged, *, colour: bool = False) -> str:
    """The first line of the report: task, case, verdict and score."""
    sums = judged.total
    named = judged.spec.name + (f"  case {judged.case}" if judged.case is not None else "")
    word, shade = _verdict(judged, sums)
    score = f"score {sums.score:g}" if sums.score is not None else "no score"
    if sums.partial_score is not None:
        score += f"  partial score {sums.partial_score:g}"
    return f"{padded(cut(harmless(named), _NAME), _NAME + 2)}{painted(word, shade, colour)}  {score}"


def _verdict(judged: TaskJudged, sums: TaskScore) -> tuple[str, Shade]:
    if sums.passed is None:
        return "ERRORED" if judged.errored else "UNMEASURED", "yellow"
    if any(step.status == "misbehavior" for step in judged.steps):
        return "MISBEHAVED", "red"
    return ("PASSED", "green") if sums.passed else ("FAILED", "red")


def _step_lines(step: StepJudged, width: int, colour: bool) -> Iterator[str]:
    label, shade = _LABELS[step.status]
    score = f"score {step.score:g}" if step.score is not None else step.status
    yield f"  {painted(label, shade, colour)}  {padded(cut(harmless(step.name), width - 3), width)}{score}"
    if step.trace is not None and not step.trace.parts and _is_trouble(step.trace):
        yield from _indented(_in_a_line(step.trace), 8)
        return
    yield from _indented(getattr(step.outcome, "reason", ""), 8)
    if step.trace is None:
        return
    looked_at = _counted_in(step.trace) if step.status == "passed" else step.trace.walk()
    parts = [part for part in looked_at if part is not step.trace and not part.parts and _is_trouble(part)]
    for part in parts[:_MOST_PARTS]:
        yield from _indented(_in_a_line(part), 8)
    if len(parts) > _MOST_PARTS:
        yield f"        … and {len(parts) - _MOST_PARTS} more"


def _counted_in(trace: Trace) -> Iterator[Trace]:
    """The parts that would add to the score: what failed of them is lacking, though the step passed."""
    yield trace
    match trace.node:
        case AllOf() | AtLeast() | Numeric(how="weighted" | "sum" | "mean" | "min" | "product"):
            for part in trace.parts:
                if part.node.common.weight > 0:
                    yield from _counted_in(part)


def _is_trouble(part: Trace) -> bool:
    if isinstance(part.outcome, Measurement):
        return not part.outcome.passed
    return isinstance(part.outcome, Misbehavior | Unmeasured)


def _in_a_line(part: Trace) -> str:
    """A part that did not pass: what it is called, what was asked and what was found."""
    common, outcome = part.node.common, part.outcome
    said = [f"{common.kind} `{common.name}`" if common.name else common.kind]
    if isinstance(outcome, Measurement) and (outcome.expected is not None or outcome.actual is not None):
        said.append(f"expected {shown(outcome.expected)} · actual {shown(outcome.actual)}")
    reason = getattr(outcome, "reason", "")
    return "  ".join([*said, *([reason] if reason else []), *([f"why: {common.why}"] if common.why else [])])


def _indented(text: str, indent: int) -> Iterator[str]:
    lines = wrapped(harmless(text), WIDTH - indent) if text else []
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"{lines[_MOST_LINES - 1]} …"]
    for line in lines:
        yield " " * indent + cut(line, WIDTH - indent)


def _briefly(judged: TaskJudged, sums: TaskScore) -> str:
    """Why there is no score, without the reason where that stands beside its step already."""
    broken = next((step for step in judged.steps if step.status == "unmeasured"), None)
    if broken is None:
        return sums.why
    return f"the step `{broken.name}` " + ("broke the run off" if judged.errored else "could not be measured")


def _closing(judged: TaskJudged, sums: TaskScore) -> str:
    if sums.score is None:
        return f"There is no score: {harmless(_briefly(judged, sums)).removesuffix('.')}."
    scored = sum(step.score is not None for step in judged.steps)
    how = judged.spec.score if isinstance(judged.spec.score, str) else harmless(judged.spec.score.text)
    steps = "1 step" if len(judged.steps) == 1 else f"{len(judged.steps)} steps"
    counted = f"{scored} of {steps} {'was' if scored == 1 else 'were'} scored"
    said = f"{counted}; the score is {how}." if judged.only is None else f"Only the step `{judged.only}` was judged."
    return said if sums.passed else f"{said} More in --format json."
