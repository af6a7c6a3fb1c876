"""`rulebook lint`: everything that is wrong with rule files, and what to write instead."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rulebook.cli.output import Colour
from rulebook.codes import CODES, code_named, is_like_a_code
from rulebook.diagnostic import Diagnostic
from rulebook.errors import UsageError
from rulebook.spelling import guess

FORMATS = ("text", "concise", "json")
_SYNTAX_TO_LANGUAGE = ("RB1", "RB2", "RB3", "RB4")


class Given(NamedTuple):
    """What the command line says."""

    paths: Sequence[str]
    strict: bool = False
    format: str = "text"
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    stdin_name: str = "stdin.yaml"
    color: Colour = "auto"


def run(argv: Sequence[str]) -> int:
    """Lint files and folders; 1 when there are errors, or warnings under `--strict`."""
    given = _with_options(argv) if any(word.startswith("-") for word in argv) else Given(argv)
    kept = _selection(given.select, given.ignore)
    from rulebook.cli.lint_files import linted, shown

    return shown(linted(given.paths or ["."], given.stdin_name), kept, given.format, given.strict, given.color)


def _with_options(argv: Sequence[str]) -> Given:
    from rulebook.cli.arguments import Arguments, choice  # argparse takes 5 ms, which a list of paths does not pay

    parser = Arguments(
        "lint",
        "Say what is wrong with rule files, and what to write instead. Nothing is changed or run.",
        "rulebook lint rules/ --strict",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders (default: this folder); - is stdin")
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    parser.add_argument(
        "--format",
        type=choice("--format", FORMATS),
        default="text",
        metavar="FORMAT",
        help="text (default), concise or json",
    )
    parser.add_argument("--select", action="append", default=[], metavar="CODES", help="show only these: RB403,RB7")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODES", help="leave these out")
    parser.add_argument("--stdin-name", default="stdin.yaml", metavar="NAME", help="the name of what comes from stdin")
    return Given(**vars(parser.read(argv)))


def _selection(select: Iterable[str], ignore: Iterable[str]) -> Callable[[Diagnostic], bool]:
    chosen, ignored = _codes("--select", select), _codes("--ignore", ignore)
    for word, codes in ignored.items():
        if all(map(_keeps_from_loading, codes)):
            raise UsageError(f"`{word}` can't be ignored: it keeps a file from being loaded.")
    wanted = {code for codes in chosen.values() for code in codes} or set(CODES)
    unwanted = {code for codes in ignored.values() for code in codes if not _keeps_from_loading(code)}
    return lambda diagnostic: diagnostic.code in wanted - unwanted


def _keeps_from_loading(code: str) -> bool:
    return CODES[code].severity == "error" and code.startswith(_SYNTAX_TO_LANGUAGE)


def _codes(flag: str, words: Iterable[str]) -> dict[str, list[str]]:
    """The codes that each word of an option stands for: a code, its name, or a beginning such as RB4."""
    found: dict[str, list[str]] = {}
    for word in (part.strip() for given in words for part in given.split(",")):
        exact = code_named(word)
        codes = [exact] if exact else [code for code in CODES if code.startswith(word.upper()) and len(word) > 1]
        if not codes:
            names = [] if is_like_a_code(word) else [code.name for code in CODES.values()]
            near = guess(word, names, list_up_to=0)
            raise UsageError(f"`{flag}` doesn't know `{word}`.{near} rulebook explain lists all codes.")
        found[word] = codes
    return found
