"""`rulebook task probe`: students who misbehave, against a task's own judges."""

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence

from rulebook.cli.arguments import Arguments
from rulebook.cli.task_options import add_report_options, read_task, task_parser
from rulebook.errors import UsageError


def run_probe(argv: Sequence[str]) -> int:
    """Probe a task."""
    given, params = read_task(_parser(), argv)
    return _probe(given, params)


def _probe(given: Namespace, params: Mapping[str, str]) -> int:
    from rulebook.cli.handing_out import hand_out
    from rulebook.cli.task_work import with_task  # reading the options imports nothing of it
    from rulebook.report.probe_report import exit_status, probe_report
    from rulebook.report.probe_text import headline, render_probe
    from rulebook.session.task_probing import Probing, probe_task

    program, ports = with_task(given, [given.oracle_transcript] if given.oracle_transcript else [])
    how = Probing(
        case=given.case,
        step=given.step,
        params=params,
        allow=given.allow,
        oracle=given.oracle,
        oracle_transcript=given.oracle_transcript,
        folder=given.folder,
        ask_models=given.ask_models,
        strict=given.strict,
    )
    probed = probe_task(program, how, ports)
    hand_out(given, probed, probe_report, render_probe, headline)
    return exit_status(probed)


def _score(word: str) -> float:
    try:
        score = float(word)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise UsageError(f"`--allow {word}`: write the most that idle work may score, such as `--allow 0.1`.")
    return score


def _parser() -> Arguments:
    parser = task_parser(
        "probe",
        "Play students who misbehave against the judge of each step: nothing handed in, a boast, the instructions "
        "echoed, links to the answer, programs that write the score, and so on. None may get reward; right work, where "
        "the task says what it is, must. Exit status 3 otherwise.",
        "task.yaml",
        case="only this case of the task",
    )
    parser.add_argument("--step", metavar="NAME", help="only this step")
    parser.add_argument(
        "--oracle",
        metavar="DIR",
        help="right work, as a student would leave it, in place of what the task's own `oracle:` hands in: "
        "DIR/CASE/STEP, DIR/CASE, DIR/STEP or DIR itself",
    )
    parser.add_argument("--oracle-transcript", metavar="ID|PATH", help="the session in which the right work was done")
    parser.add_argument(
        "--allow", type=_score, default=0.0, metavar="SCORE", help="the most that idle work may score; 0 by default"
    )
    parser.add_argument(
        "--ask-models",
        action="store_true",
        help="let judge models be asked; else what they judge is unmeasured",
    )
    parser.add_argument(
        "--folder",
        metavar="DIR",
        help="where the students work, if a judge knows that by heart: an empty folder, or one that is not there",
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse too when a student cannot be played on this machine"
    )
    add_report_options(parser)
    return parser
