"""The work of `rulebook task score`, apart from its options."""

from argparse import Namespace
from collections.abc import Mapping

from rulebook.cli import output
from rulebook.report.eval_report import canonical
from rulebook.report.task_report import exit_status, headline, render_task, task_report
from rulebook.services.code import with_code
from rulebook.services.output_files import refuse_over, write_text
from rulebook.services.ports import machine_ports
from rulebook.session.task_scoring import Recorded, load_task, score_task


def score(given: Namespace, params: Mapping[str, str]) -> int:
    """Score the work, hand out the report, and give the exit status."""
    if given.output is not None:
        refuse_over(given.output, (given.task, given.transcript))
    ports = with_code(machine_ports(given.task), allowed=given.allow_python)
    recorded = Recorded(given.transcript, given.submissions, given.session_format, given.allow_unchained)
    program = load_task(given.task, ports)
    judged = score_task(program, recorded, ports, case=given.case, only=given.step, params=params)
    in_colour = given.output is None and output.stdout_colour(given.color)
    text = canonical(task_report(judged)) if given.format == "json" else render_task(judged, colour=in_colour)
    if given.output is None:
        output.put(text)
    else:
        write_text(given.output, text, force=True)
        output.say(headline(judged, colour=output.stderr_colour(given.color)))
        output.say(f"Wrote {given.output}.")
    return exit_status(judged)
