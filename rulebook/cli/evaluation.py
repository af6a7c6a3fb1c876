"""`rulebook evaluation`: a dataset, a task and scorers, run row by row."""

from collections.abc import Sequence

from rulebook.cli.arguments import Arguments, choice, name_and_value, rows_taken, subcommand

PURPOSES = {"run": "run an evaluation over its rows, or go on with a run that was stopped"}
FORMATS = ("text", "json")


def run(argv: Sequence[str]) -> int:
    """Run one of the evaluation commands."""
    chosen = subcommand("evaluation", argv, PURPOSES)
    if chosen is None:
        return 0
    given = _parser().read(chosen[1])
    params = dict(name_and_value("--param", word) for word in given.param)
    from rulebook.cli.evaluation_work import run_evaluation  # reading the options imports nothing of it

    return run_evaluation(given, params)


def _parser() -> Arguments:
    parser = Arguments(
        "evaluation run",
        "Give each row of a dataset to a task, score what it gives, and say what every scorer's mean is and whether "
        "the gates are met. What goes wrong with a row stays with that row and is never a 0. Exit status 3 when a gate "
        "is not met.",
        "rulebook evaluation run triage.yaml",
    )
    parser.add_argument("file", metavar="FILE", help="a `rulebook.evaluation` file")
    parser.add_argument("--limit", type=rows_taken, metavar="N", help="only the first N rows")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the latest run of the same file, rows, limit and parameters"
    )
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="set a parameter of the file"
    )
    parser.add_argument(
        "--format", type=choice("--format", FORMATS), default="text", metavar="FORMAT", help="text (default) or json"
    )
    parser.add_argument("--output", metavar="FILE", help="write the report there")
    parser.add_argument(
        "--table", metavar="FILE", help="write every row with its output, scores and errors there, as Parquet"
    )
    parser.add_argument("--cache", metavar="DIR", help="keep answers of models there, for this run and later ones")
    parser.add_argument("--allow-python", action="store_true", help="let functions of yours that the file names run")
    return parser
