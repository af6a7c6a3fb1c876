"""The work of `rulebook eval check`, apart from its options."""

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence

from rulebook.api.linting import lint_file
from rulebook.cli import output
from rulebook.errors import SeveralSessions, UsageError
from rulebook.report.batch import Sums, line_json, render_line, render_sums, sums_json
from rulebook.report.eval_report import eval_report
from rulebook.report.judged import Judged
from rulebook.report.plain_json import canonical, compact
from rulebook.report.rewards import exit_status
from rulebook.report.text import headline, render_report
from rulebook.services.code import with_code
from rulebook.services.output_files import refuse_over, write_text
from rulebook.services.ports import machine_ports
from rulebook.services.session_folders import gathered
from rulebook.session.checking import check_of
from rulebook.session.many import check_many


def check(given: Namespace, params: Mapping[str, str]) -> int:
    """Check the session, hand out the report, and give the exit status."""
    named = list(dict.fromkeys(given.session))
    if len(named) > 1 or os.path.isdir(named[0]):
        return _check_many(given, named, params)
    try:
        return _check_one(given, named[0], params)
    except SeveralSessions:
        return _check_many(given, named, params)


def _check_one(given: Namespace, session: str, params: Mapping[str, str]) -> int:
    if given.output is not None:
        refuse_over(given.output, (given.spec, session))
    judged = check_of(
        given.spec,
        with_code(machine_ports(given.spec), allowed=given.allow_python),
        project=given.project,
        skip_tests=given.skip_tests,
        params=params,
        allow_unchained=given.allow_unchained,
        session_format=given.session_format,
    ).one(session)
    _tell_warnings(given.spec)
    if given.output is None:
        output.put(_report(judged, given.format, output.stdout_colour(given.color)))
    else:
        write_text(given.output, _report(judged, given.format, colour=False), force=True)
        output.say_laid_out(headline(judged, colour=output.stderr_colour(given.color)))
        output.say(f"Wrote {given.output}.")
    return exit_status(judged)


def _check_many(given: Namespace, named: Sequence[str], params: Mapping[str, str]) -> int:
    """Check every session of the folders and files, print a line each and a summary."""
    if given.project is not None:
        raise UsageError("`--project` is one session's repository: leave it out, or check the sessions one at a time.")
    if given.output is not None and os.path.lexists(given.output) and not os.path.isdir(given.output):
        raise UsageError(f"`{given.output}` is no folder. Several sessions give a report each: name a folder.")
    check = check_of(
        given.spec,
        with_code(machine_ports(given.spec), allowed=given.allow_python),
        skip_tests=given.skip_tests,
        params=params,
        allow_unchained=given.allow_unchained,
        session_format=given.session_format,
        shared=True,
    )
    sessions = list(gathered(named, given.only))
    _tell_warnings(given.spec)
    sums, reports = Sums(), 0
    colour = output.stdout_colour(given.color)
    for line in check_many(check, sessions, output=given.output, workers=given.parallel):
        sums.add(line)
        reports += line.report is not None
        output.put(compact(line_json(line)) if given.format == "json" else render_line(line, colour=colour))
    output.put(compact(sums_json(sums)) if given.format == "json" else "\n" + render_sums(sums))
    if given.output is not None:
        count = "1 report" if reports == 1 else f"{reports:,} reports" if reports else "no report"
        output.say(f"Wrote {count} into {given.output}.")
    return sums.exit


def _tell_warnings(spec: str) -> None:
    warnings = sum(found.severity == "warning" for found in lint_file(spec).diagnostics)
    if warnings:
        count = "1 warning" if warnings == 1 else f"{warnings} warnings"
        output.say(f"rulebook: {spec} has {count}: rulebook lint {spec}")


def _report(judged: Judged, format: str, colour: bool) -> str:
    return canonical(eval_report(judged)) if format == "json" else render_report(judged, colour=colour)
