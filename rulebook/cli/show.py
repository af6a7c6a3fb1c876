"""`rulebook show`: the place in the evidence on which a finding of a report rests."""

import os
import shlex
from collections.abc import Sequence

from rulebook.cli import output
from rulebook.cli.arguments import Arguments

_PLACES = 20


def run(argv: Sequence[str]) -> int:
    """Print a finding with its places, or the list of a report's findings."""
    given = _parser().read(argv)
    from rulebook.report.places import render_finding, render_findings, render_place
    from rulebook.report.stored import read_report
    from rulebook.services.files import MachineFiles
    from rulebook.session.locating import Evidences

    path, id = _split(given.report)
    files, colour = MachineFiles(), output.stdout_colour(given.color)
    report = read_report(path, files)
    if id is None:
        output.put(render_findings(report.findings, colour=colour))
        output.say(f"One of them with its place:  rulebook show {shlex.quote(f'{path}#FINDING')}")
        return 0
    finding = report.finding(id)
    output.put(render_finding(finding, colour=colour))
    evidences = Evidences(report, files, given.session, given.project)
    shown = finding.at if given.full else finding.at[:_PLACES]
    for place in shown:
        there = evidences.locate(place)
        output.put(render_place(there.heading, there.lines, there.marked, full=given.full, colour=colour))
    if len(shown) < len(finding.at):
        output.put(f"\n… {len(finding.at) - len(shown)} more places: --full shows them\n")
    return 0


def _parser() -> Arguments:
    parser = Arguments(
        "show",
        "Print the very place in the evidence where a finding was seen: the event, message, tool call or line of a "
        "file. Exit status 9 when the evidence is no longer what was read.",
        "rulebook show 'report.json#forbidden_tools[browser]'",
    )
    parser.add_argument("report", metavar="REPORT#FINDING", help="a JSON report and a finding's id; without it, a list")
    parser.add_argument("--session", metavar="ID|PATH", help="where the session lies now, if it was moved")
    parser.add_argument("--project", metavar="DIR", help="where the repository lies now, if it was moved")
    parser.add_argument("--full", action="store_true", help="cut nothing")
    return parser


def _split(word: str) -> tuple[str, str | None]:
    """The report's path and the finding's id; a path may hold a `#` itself."""
    if os.path.lexists(word):
        return word, None
    at = word.find("#")
    while at > 0:
        if os.path.lexists(word[:at]):
            return word[:at], word[at + 1 :]
        at = word.find("#", at + 1)
    path, sign, id = word.partition("#")
    return path, id if sign else None
