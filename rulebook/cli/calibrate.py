"""`rulebook calibrate`: a judge against rows that people have labelled."""

from collections.abc import Sequence

from rulebook.cli.arguments import Arguments, answers_folder, choice, name_and_value, rows_taken
from rulebook.errors import UsageError

FORMATS = ("text", "json")


def run(argv: Sequence[str]) -> int:
    """Judge the labelled rows, and say how far the judge is to be trusted."""
    given = _parser().read(argv)
    params = dict(name_and_value("--param", word) for word in given.param)
    from rulebook.cli.calibrate_work import calibrate  # reading the options imports nothing of it

    return calibrate(given, params)


def _mark(word: str) -> float:
    try:
        mark = float(word)
    except ValueError:
        mark = -1.0
    if not 0 < mark <= 1:
        raise UsageError(f"`--mark {word}`: write from which label on a row passes, such as `--mark 0.5`.")
    return mark


def _parser() -> Arguments:
    parser = Arguments(
        "calibrate",
        "Hold the scores of a judge to the labels that people gave the same rows: how often they agree, beyond chance "
        "too, and from which score on a pass serves best. What was found is written to a card; `rulebook lint` says "
        "when the judge is no longer the one of its card. Exit status 3 when nothing could be measured.",
        "rulebook calibrate support.yaml --labels human",
    )
    parser.add_argument("file", metavar="FILE", help="a `rulebook.evaluation` file")
    parser.add_argument(
        "--labels",
        required=True,
        metavar="COLUMN",
        help="the column with the labels: yes/no, true/false, pass/fail, 1/0, numbers from 0 to 1, or jev's own labels",
    )
    parser.add_argument("--scorer", metavar="NAME", help="which scorer; without it the only one that asks a model")
    parser.add_argument(
        "--mark", type=_mark, default=0.5, metavar="NUMBER", help="from which label on a row passes (default 0.5)"
    )
    parser.add_argument("--limit", type=rows_taken, metavar="N", help="only the first N rows")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the latest run of the same file, rows and options"
    )
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="set a parameter of the file"
    )
    parser.add_argument(
        "--format", type=choice("--format", FORMATS), default="text", metavar="FORMAT", help="text (default) or json"
    )
    parser.add_argument(
        "--output", metavar="CARD", help="write the card there (default: the scorer's `card`, else beside FILE)"
    )
    parser.add_argument(
        "--cache", type=answers_folder, metavar="DIR", help="keep answers of models there, for this run and later ones"
    )
    parser.add_argument("--allow-python", action="store_true", help="let functions of yours that the file names run")
    return parser
