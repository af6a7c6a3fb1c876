"""`rulebook task`: a task's steps, over recorded work or with a student."""

from collections.abc import Sequence

from rulebook.cli.arguments import Arguments, subcommand
from rulebook.cli.task_options import add_report_options, read_task, task_parser

PURPOSES = {
    "score": "score recorded work by a task's judges",
    "run": "play a whole task with a command as the student",
    "probe": "play students who misbehave against a task's judges",
}


def run(argv: Sequence[str]) -> int:
    """Run one of the task commands."""
    chosen = subcommand("task", argv, PURPOSES)
    if chosen is None:
        return 0
    name, rest = chosen
    if name == "run":
        from rulebook.cli.task_run import run_task

        return run_task(rest)
    if name == "probe":
        from rulebook.cli.task_probe import run_probe

        return run_probe(rest)
    return _score(rest)


def _score(argv: Sequence[str]) -> int:
    given, params = read_task(_parser(), argv)
    from rulebook.cli.task_work import score  # reading the options imports nothing of it

    return score(given, params)


def _parser() -> Arguments:
    parser = task_parser(
        "score",
        "Score recorded work: every step of a task is judged over a session and what was handed in, until one does "
        "not pass. No student is run.",
        "task.yaml --transcript session.jsonl --submissions work/",
        case="which of the task's cases it was",
    )
    parser.add_argument("--step", metavar="NAME", help="judge this step alone, whatever the others came to")
    parser.add_argument(
        "--transcript", required=True, metavar="ID|PATH", help="the session: a stored one's id, or a file"
    )
    parser.add_argument(
        "--submissions",
        metavar="DIR",
        help="the folder in which the student worked; what it handed in is copied from there before it is judged. A "
        "folder in it that is called like a step has what was handed in at that step",
    )
    add_report_options(parser)
    parser.add_argument("--allow-unchained", action="store_true", help="accept a log without a whole hash chain")
    parser.add_argument(
        "--session-format", metavar="NAME", help="the session's format, where it can't be told by itself"
    )
    return parser
