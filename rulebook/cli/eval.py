"""`rulebook eval check`: a recorded session against an eval spec."""

import os
import re
from collections.abc import Sequence

from rulebook.cli.arguments import Arguments, choice, name_and_value, subcommand
from rulebook.errors import UsageError
from rulebook.services.rule_files import near_path

FORMATS = ("text", "json")


def run(argv: Sequence[str]) -> int:
    """Run one of the eval commands."""
    chosen = subcommand("eval", argv, {"check": "check a recorded session against an eval spec"})
    return 0 if chosen is None else _check(chosen[1])


def _check(argv: Sequence[str]) -> int:
    given = _parser().read(argv)
    params = dict(name_and_value("--param", word) for word in given.param)
    if not os.path.exists(given.spec):
        raise UsageError(f"there is no `{given.spec}`.{near_path(given.spec)}")
    from rulebook.cli.eval_work import check  # reading the options imports nothing of it

    return check(given, params)


def _workers(word: str) -> int:
    if re.fullmatch("[1-9][0-9]{0,2}", word) is None:
        raise UsageError(f"`--parallel {word}` is no number of processes. Write one from 1 to 999: `--parallel 4`.")
    return int(word)


def _parser() -> Arguments:
    parser = Arguments(
        "eval check",
        "Check a recorded session against an eval spec. No model is called; tests are run in a copy.",
        "rulebook eval check parser-eval.yaml --session session.jsonl --project work/\n"
        "  rulebook eval check parser-eval.yaml --session runs/ --output reports/",
    )
    parser.add_argument("spec", metavar="SPEC", help="a `chock.eval` file")
    parser.add_argument(
        "--session",
        required=True,
        action="append",
        metavar="ID|PATH|DIR",
        help="a stored session's id, a session file (`FILE#NAME` for one of several in it), or a folder of "
        "them; may be given several times",
    )
    parser.add_argument("--only", metavar="GLOB", help="of a folder only the files with such names: --only '*.jsonl'")
    parser.add_argument(
        "--parallel", type=_workers, metavar="N", help="check several sessions in N processes (default: as is worth it)"
    )
    parser.add_argument("--project", metavar="DIR", help="the resulting repository, in place of the spec's fixture")
    parser.add_argument("--skip-tests", action="store_true", help="run no declared test; they are listed as skipped")
    parser.add_argument(
        "--format",
        type=choice("--format", FORMATS),
        default="text",
        metavar="FORMAT",
        help="text (default) or json",
    )
    parser.add_argument(
        "--output", metavar="FILE|DIR", help="write the report there; of several sessions one report each, as JSON"
    )
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="set a parameter of the spec"
    )
    parser.add_argument("--allow-python", action="store_true", help="let judges of your own that the file names run")
    parser.add_argument("--allow-unchained", action="store_true", help="accept a log without a whole hash chain")
    parser.add_argument("--session-format", metavar="NAME", help="the file's format, where it can't be told by itself")
    return parser
