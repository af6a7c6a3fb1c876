"""The work of the task commands, apart from their options."""

from argparse import Namespace
from collections.abc import Mapping, Sequence

from rulebook.cli.handing_out import hand_out
from rulebook.expression.task_program import TaskProgram
from rulebook.ports import Ports
from rulebook.report.task_report import exit_status, headline, render_task, task_report
from rulebook.services.code import with_code
from rulebook.services.output_files import refuse_over
from rulebook.services.ports import machine_ports
from rulebook.session.task_scoring import Recorded, load_task, score_task


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
