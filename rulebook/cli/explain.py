"""`rulebook explain`: the page of a kind of rule, of an event or of a message code."""

from collections.abc import Sequence

from rulebook.cli import output, pages
from rulebook.cli.arguments import Arguments
from rulebook.cli.event_pages import EVENT_NAMES
from rulebook.codes import CODES, is_like_a_code
from rulebook.errors import UsageError
from rulebook.spelling import guess
from rulebook.terminal import cut, painted, wrapped


def run(argv: Sequence[str]) -> int:
    """Print one page, or the list of all."""
    parser = Arguments(
        "explain",
        "Explain a kind of rule (its fields, defaults and an example), an event or a message code. "
        "Without a name it lists them all.",
        "rulebook explain contains",
    )
    parser.add_argument("word", nargs="?", metavar="KIND|EVENT|CODE", help="such as `regex`, `tool.call` or `RB403`")
    given = parser.read(argv)
    if given.word is None:
        output.put(_everything(output.stdout_colour(given.color)))
        return 0
    page = pages.page_named(given.word)
    if page is None:
        near = "" if is_like_a_code(given.word) else guess(given.word, pages.known_words(), list_up_to=0)
        raise UsageError(
            f"there is no kind, event or code called `{given.word}`.{near} rulebook explain lists them all."
        )
    output.put(page if page.endswith("\n") else page + "\n")
    return 0


def _everything(colour: bool) -> str:
    lines = [painted("Kinds of rule", "bold", colour), ""]
    for kind, page in pages.kind_pages().items():
        lines.append(cut(f"  {kind:<27} {pages.first_sentence(page)}", 100))
    lines += [
        "",
        painted("Events, for `event`, `sequence`, `required_events` and `forbidden_events`", "bold", colour),
        "",
    ]
    lines += [f"  {line}" for line in wrapped("  ".join(EVENT_NAMES), 98)]
    lines += ["", painted("Message codes", "bold", colour), ""]
    for code, entry in CODES.items():
        lines.append(f"  {code}  {entry.severity:<7}  {entry.name}")
    return "\n".join([*lines, ""])
