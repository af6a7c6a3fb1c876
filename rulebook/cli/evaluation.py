"""`rulebook evaluation`: a dataset, a task and scorers, run row by row."""

from collections.abc import Callable, Mapping, Sequence

from rulebook.cli.arguments import Arguments, answers_folder, choice, name_and_value, rows_taken, subcommand

PURPOSES = {
    "run": "run an evaluation over its rows, or go on with a run that was stopped",
    "list": "list the runs, newest first",
    "compare": "hold two runs of the same rows against each other: what got better, and what worse",
}
FORMATS = ("text", "json")


def run(argv: Sequence[str]) -> int:
    """Run one of the evaluation commands."""
    chosen = subcommand("evaluation", argv, PURPOSES)
    if chosen is None:
        return 0
    name, rest = chosen
    given = _PARSERS[name]().read(rest)
    # reading the options imports nothing of the work
    if name == "compare":
        from rulebook.cli.evaluation_compare import compare

        return compare(given)
    if name == "list":
        from rulebook.cli.evaluation_list import list_all

        return list_all(given)
    params = dict(name_and_value("--param", word) for word in given.param)
    from rulebook.cli.evaluation_work import run_evaluation

    return run_evaluation(given, params)


def _run() -> Arguments:
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
    _report(parser)
    parser.add_argument(
        "--table",
        metavar="FILE",
        help="write every row with its output, scores and errors there: .csv, .jsonl or .parquet",
    )
    parser.add_argument(
        "--cache", type=answers_folder, metavar="DIR", help="keep answers of models there, for this run and later ones"
    )
    parser.add_argument("--allow-python", action="store_true", help="let functions of yours that the file names run")
    return parser


def _compare() -> Arguments:
    parser = Arguments(
        "evaluation compare",
        "Hold two runs of the same rows against each other, row by row: for every scorer how its mean changed, whether "
        "chance alone could do that, and which rows were fixed, broken or lost. A row that could not be measured is "
        "never a 0, and never speaks for the candidate. Exit status 3 when a gate is not met, or the runs say nothing "
        "about each other.",
        "rulebook evaluation compare 01M8Q4W2X7 01M8Q4W9ZK --gate",
    )
    parser.add_argument("a", metavar="RUN_A", help="the baseline: a run's id or how it begins, its folder, its report")
    parser.add_argument("b", metavar="RUN_B", help="the candidate")
    parser.add_argument(
        "--gate",
        action="append",
        nargs="?",
        const="",
        metavar="SCORER[:CHANGE]",
        help="status 3 where a scorer is worse or lost rows; with SCORER only where that one is; with "
        "`--gate intent-match:-0.02` where its mean fell by more than 0.02. Stands after the runs, and may be given "
        "several times",
    )
    parser.add_argument("--allow-lost", metavar="N", help="for gates: how many rows a scorer may lose (default: 0)")
    parser.add_argument(
        "--lower-is-better", action="append", default=[], metavar="SCORER", help="for this scorer less is better"
    )
    parser.add_argument("--confidence", default="0.95", metavar="SHARE", help="of intervals and verdicts: 0.95")
    _report(parser)
    return parser


def _list() -> Arguments:
    parser = Arguments("evaluation list", "List the runs of evaluations, newest first.", "rulebook evaluation list")
    _format(parser)
    return parser


def _format(parser: Arguments) -> None:
    parser.add_argument(
        "--format", type=choice("--format", FORMATS), default="text", metavar="FORMAT", help="text (default) or json"
    )


def _report(parser: Arguments) -> None:
    _format(parser)
    parser.add_argument("--output", metavar="FILE", help="write the report there")


_PARSERS: Mapping[str, Callable[[], Arguments]] = {"run": _run, "list": _list, "compare": _compare}
