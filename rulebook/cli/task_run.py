"""`rulebook task run`: a whole task, played with a command as the student."""

import os
import shlex
from collections.abc import Sequence

from rulebook.cli.arguments import Arguments, choice
from rulebook.cli.task_options import add_report_options, read_task, task_parser
from rulebook.errors import UsageError

SPEAKS = ("text", "events")
ON_ERROR = ("unmeasured", "score")


def run_task(argv: Sequence[str]) -> int:
    """Read the options and play the task."""
    given, params = read_task(_parser(), argv)
    if given.uid is not None and given.no_isolation:
        raise UsageError("`--uid` and `--no-isolation` exclude each other: give one of them.")
    from rulebook.cli.task_run_work import play  # reading the options imports nothing of it

    return play(given, params, _words(given.student))


def _words(command: str) -> tuple[str, ...]:
    """The command's words, as a shell would part them; a file of ours among them is named by its whole path."""
    try:
        words = shlex.split(command)
    except ValueError:
        raise UsageError(f"`--student` has a quote that is not closed: {command}") from None
    return tuple(os.path.abspath(word) if "/" not in word[:1] and os.path.isfile(word) else word for word in words)


def _uid(word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise UsageError(f"`--uid` needs the number of a user; `{word}` is none.")
    return int(word)


def _parser() -> Arguments:
    parser = task_parser(
        "run",
        "Play a whole task with any command as the student. At every step the command is started in a fresh folder "
        "and reads the conversation so far, the instructions last; what it prints is its reply, and what it leaves in "
        "its folder is what it hands in. Then the step is judged, and the next one begins when it passed.",
        "task.yaml --student 'python3 student.py'",
        case="which of the task's cases to play",
    )
    parser.add_argument(
        "--student", required=True, metavar="COMMAND", help="the command and its words; no shell runs it"
    )
    _add_student_options(parser)
    parser.add_argument(
        "--transcript", metavar="FILE", help="write the transcript there, and what was handed in beside it"
    )
    parser.add_argument("--no-artifacts", action="store_true", help="keep no copy of what was handed in")
    add_report_options(parser)
    return parser


def _add_student_options(parser: Arguments) -> None:
    """What the student is, and how far it is kept apart from us."""
    parser.add_argument(
        "--speaks",
        type=choice("--speaks", SPEAKS),
        default="text",
        metavar="HOW",
        help="text (default): it reads the conversation as text, and all that it prints is one reply. events: it reads "
        "and prints the events of a transcript, one JSON object a line, so that its turns, tokens and tool calls count",
    )
    parser.add_argument(
        "--uid",
        type=_uid,
        metavar="NUMBER",
        help="run it as this user instead of in a sandbox; the user is the student's alone: what it runs and what it "
        "left in the machine's common folders is removed (only root can)",
    )
    parser.add_argument(
        "--no-isolation",
        action="store_true",
        help="run it as you are, without a sandbox: it may read the answers and change what is judged",
    )
    parser.add_argument("--network", action="store_true", help="let it reach the network from its sandbox")
    parser.add_argument(
        "--show", action="append", default=[], metavar="PATH", help="show it a file or folder in its sandbox, read-only"
    )
    parser.add_argument(
        "--pass-env", action="append", default=[], metavar="NAME", help="hand it a variable, such as the key of a model"
    )
    parser.add_argument(
        "--on-student-error",
        type=choice("--on-student-error", ON_ERROR),
        default="unmeasured",
        metavar="WHAT",
        help="when the command itself breaks. unmeasured (default): the run has no score. score: judge what is there",
    )
    parser.add_argument(
        "--outside-container",
        action="store_true",
        help="with --uid where this is no container: its processes and files may go all the same; "
        "RULEBOOK_OUTSIDE_CONTAINER must name the user too",
    )
