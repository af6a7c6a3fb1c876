"""`rulebook session`: verifying, showing, listing, importing and exporting sessions."""

from collections.abc import Callable, Mapping, Sequence

from rulebook.cli.arguments import Arguments, choice, subcommand

PURPOSES = {
    "verify": "say whether a log is whole, and where it breaks",
    "show": "print a session as a readable transcript",
    "list": "list the stored sessions, newest first",
    "import": "turn another agent's session file into a chained log",
    "export": "write a stored session into a file",
}


def run(argv: Sequence[str]) -> int:
    """Run one of the session commands."""
    chosen = subcommand("session", argv, PURPOSES)
    if chosen is None:
        return 0
    name, rest = chosen
    given = _PARSERS[name]().read(rest)
    from rulebook.cli.session_work import COMMANDS  # reading the options imports nothing of it

    return COMMANDS[name](given)


def _verify() -> Arguments:
    parser = Arguments(
        "session verify",
        "Say whether a log's hash chain is whole. Exit status 9 when it is not, or cannot be read.",
        "rulebook session verify session.jsonl",
    )
    parser.add_argument("sessions", nargs="+", metavar="ID|PATH", help="stored sessions' ids, or logs")
    parser.add_argument("--allow-unchained", action="store_true", help="accept a log without a whole hash chain")
    _data_format(parser)
    return parser


def _show() -> Arguments:
    parser = Arguments(
        "session show",
        "Print a session as a readable transcript, or as the neutral transcript in JSON.",
        "rulebook session show session.jsonl",
    )
    _session(parser)
    parser.add_argument("--full", action="store_true", help="cut nothing, and show sub-agents' conversations too")
    _data_format(parser)
    _session_format(parser)
    return parser


def _list() -> Arguments:
    parser = Arguments("session list", "List the stored sessions, newest first.", "rulebook session list")
    _data_format(parser)
    return parser


def _import() -> Arguments:
    parser = Arguments(
        "session import",
        "Turn another agent's session file into a chained log. Its verdict is `imported`.",
        "rulebook session import ~/.claude/projects/app/5c03.jsonl",
    )
    parser.add_argument("file", metavar="FILE", help="the session file")
    parser.add_argument("--to", metavar="PATH", help="where to write the log (default: the store)")
    parser.add_argument("--project", metavar="DIR", default=".", help="whose session it is (default: this folder)")
    _session_format(parser)
    return parser


def _export() -> Arguments:
    parser = Arguments(
        "session export",
        "Write a stored session into a file: the log byte for byte, or the neutral transcript.",
        "rulebook session export 01M8Q4W2X7N6R5T3V1Y0Z9A8BC --to session.jsonl",
    )
    _session(parser)
    parser.add_argument("--to", required=True, metavar="FILE", help="the file to write; one that is there stays")
    parser.add_argument(
        "--format",
        type=choice("--format", ("log", "transcript")),
        default="log",
        metavar="FORMAT",
        help="log (default) or transcript",
    )
    return parser


def _session(parser: Arguments) -> None:
    parser.add_argument("session", metavar="ID|PATH", help="a stored session's id, or a session file")


def _data_format(parser: Arguments) -> None:
    parser.add_argument(
        "--format",
        type=choice("--format", ("text", "json")),
        default="text",
        metavar="FORMAT",
        help="text (default) or json",
    )


def _session_format(parser: Arguments) -> None:
    parser.add_argument("--session-format", metavar="NAME", help="the file's format, where it can't be told by itself")


_PARSERS: Mapping[str, Callable[[], Arguments]] = {
    "verify": _verify,
    "show": _show,
    "list": _list,
    "import": _import,
    "export": _export,
}
