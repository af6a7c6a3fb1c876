"""The work of the task commands, apart from their options."""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rulebook.cli import output
from rulebook.expression.task_program import TaskProgram
from rulebook.ports import Ports
from rulebook.report.eval_report import canonical
from rulebook.report.task_report import exit_status, headline, render_task, task_report
from rulebook.services.code import with_code
from rulebook.services.output_files import refuse_over, write_text
from rulebook.services.ports import machine_ports
from rulebook.session.task_scoring import Recorded, load_task, score_task

Found = TypeVar("Found")


def score(given: Namespace, params: Mapping[str, str]) -> int:
    """Score the work, hand out the report, and give the exit status."""
    program, ports = with_task(given, [given.transcript])
    recorded = Recorded(given.transcript, given.submissions, given.session_format, given.allow_unchained)
    judged = score_task(program, recorded, ports, case=given.case, only=given.step, params=params)
    hand_out(given, judged, task_report, render_task, headline)
    return exit_status(judged)


def with_task(given: Namespace, reads: Sequence[str]) -> tuple[TaskProgram, Ports]:
    """The task that was named, and the machine to judge on. Raises UsageError if the report would go over `reads`."""
    if given.output is not None:
        refuse_over(given.output, (given.task, *reads))
    ports = with_code(machine_ports(given.task), allowed=given.allow_python)
    return load_task(given.task, ports), ports


def hand_out(
    given: Namespace,
    found: Found,
    report: Callable[[Found], dict[str, object]],
    rendered: Callable[..., str],
    headline: Callable[..., str],
) -> None:
    """Print the report of what was `found`, or write it where it was asked for and print its `headline`.

    Both texts take `found` and `colour`.
    """
    in_colour = given.output is None and output.stdout_colour(given.color)
    text = canonical(report(found)) if given.format == "json" else rendered(found, colour=in_colour)
    if given.output is None:
        output.put(text)
        return
    write_text(given.output, text, force=True)
    output.say_laid_out(headline(found, colour=output.stderr_colour(given.color)))
    output.say(f"Wrote {given.output}.")
