"""What the options of all task commands have in common."""

import os
from argparse import Namespace
from collections.abc import Sequence

from rulebook.cli.arguments import Arguments, choice, name_and_value
from rulebook.errors import UsageError
from rulebook.services.rule_files import near_path

FORMATS = ("text", "json")


def task_parser(command: str, purpose: str, example: str, *, case: str) -> Arguments:
    """A parser that takes a task and one of its cases; `case` says what that is for."""
    parser = Arguments(f"task {command}", purpose, f"rulebook task {command} {example}")
    parser.add_argument("task", metavar="TASK", help="a `rulebook.task` file")
    parser.add_argument("--case", metavar="NAME", help=case)
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="set a parameter of the task"
    )
    return parser


def add_report_options(parser: Arguments) -> None:
    """How the report is handed out, and whether code that the file names may run."""
    parser.add_argument(
        "--format", type=choice("--format", FORMATS), default="text", metavar="FORMAT", help="text (default) or json"
    )
    parser.add_argument("--output", metavar="FILE", help="write the report there")
    parser.add_argument("--allow-python", action="store_true", help="let judges of your own that the file names run")


def read_task(parser: Arguments, argv: Sequence[str]) -> tuple[Namespace, dict[str, str]]:
    """The options, and the parameters among them. Raises UsageError where the task's file is not there."""
    given = parser.read(argv)
    params = dict(name_and_value("--param", word) for word in given.param)
    if not os.path.exists(given.task):
        raise UsageError(f"there is no `{given.task}`.{near_path(given.task)}")
    return given, params
