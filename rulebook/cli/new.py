"""`rulebook new`: a commented rule file to start from."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from rulebook.cli import output
from rulebook.cli.arguments import Arguments, subcommand
from rulebook.cli.starters import EVAL_YAML, EVAL_ZON, EVALUATION_YAML, EVALUATION_ZON, TASK_YAML, TASK_ZON
from rulebook.services.output_files import write_text

_STARTERS = {
    "eval": (EVAL_YAML, EVAL_ZON),
    "task": (TASK_YAML, TASK_ZON),
    "evaluation": (EVALUATION_YAML, EVALUATION_ZON),
}


def run(argv: Sequence[str]) -> int:
    """Write a new rule file and say what to do next."""
    purposes = {
        kind: f"write a commented {'eval spec' if kind == 'eval' else kind} to start from" for kind in _STARTERS
    }
    chosen = subcommand("new", argv, purposes)
    if chosen is None:
        return 0
    kind, rest = chosen
    given = _parser(kind).read(rest)
    path = Path(given.name)
    ending = ".zon" if given.zon or path.suffix == ".zon" else ".yaml"
    if path.suffix not in (".yaml", ".yml", ".zon"):
        path = path.with_name(path.name + ending)
    title = json.dumps(path.stem, ensure_ascii=False)
    in_yaml, in_zon = _STARTERS[kind]
    if path.suffix == ".zon":
        text = in_zon.format(file=path.name, name=title[1:-1])
    else:
        text = in_yaml.format(file=path.name, name=title)
    write_text(str(path), text, force=given.force)
    output.say(f"Wrote {path}. Next: edit it, then run  rulebook lint {shlex.quote(str(path))}")
    return 0


def _parser(kind: str) -> Arguments:
    what = "eval spec" if kind == "eval" else kind
    parser = Arguments(f"new {kind}", f"Write a commented {what} to start from.", f"rulebook new {kind} parser")
    parser.add_argument("name", metavar="NAME", help="the file's name, with or without its ending")
    parser.add_argument("--zon", action="store_true", help="write ZON in place of YAML")
    parser.add_argument("--force", action="store_true", help="write over a file that is there already")
    return parser
