"""The work of `rulebook eval check`, apart from its options."""

from argparse import Namespace
from collections.abc import Mapping

from rulebook.api.linting import lint_file
from rulebook.cli import output
from rulebook.report.eval_report import canonical, eval_report
from rulebook.report.judged import Judged
from rulebook.report.rewards import exit_status
from rulebook.report.text import headline, render_report
from rulebook.services.output_files import refuse_over, write_text
from rulebook.services.ports import machine_ports
from rulebook.session.checking import check_of


def check(given: Namespace, params: Mapping[str, str]) -> int:
    """Check the session, hand out the report, and give the exit status."""
    if given.output is not None:
        refuse_over(given.output, (given.spec, given.session))
    judged = check_of(
        given.spec,
        machine_ports(),
        project=given.project,
        skip_tests=given.skip_tests,
        params=params,
        allow_unchained=given.allow_unchained,
        session_format=given.session_format,
    ).one(given.session)
    warnings = sum(found.severity == "warning" for found in lint_file(given.spec).diagnostics)
    if warnings:
        count = "1 warning" if warnings == 1 else f"{warnings} warnings"
        output.say(f"rulebook: {given.spec} has {count}: rulebook lint {given.spec}")
    if given.output is None:
        output.put(_report(judged, given.format, output.stdout_colour(given.color)))
    else:
        write_text(given.output, _report(judged, given.format, colour=False), force=True)
        output.say(headline(judged, colour=output.stderr_colour(given.color)))
        output.say(f"Wrote {given.output}.")
    return exit_status(judged)


def _report(judged: Judged, format: str, colour: bool) -> str:
    return canonical(eval_report(judged)) if format == "json" else render_report(judged, colour=colour)
