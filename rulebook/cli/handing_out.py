"""A report as its command was asked to give it: printed, or written to a file with a line that says so."""

from argparse import Namespace
from collections.abc import Callable
from typing import TypeVar

from rulebook.cli import output
from rulebook.report.plain_json import canonical
from rulebook.services.output_files import write_text

Found = TypeVar("Found")


def hand_out(
    given: Namespace,
    found: Found,
    report: Callable[[Found], dict[str, object]],
    rendered: Callable[..., str],
    headline: Callable[..., str],
) -> None:
    """Print the report of what was `found`, or write it where it was asked for and print its `headline`.

    Both texts take `found` and `colour`.
    """
    in_colour = given.output is None and output.stdout_colour(given.color)
    text = canonical(report(found)) if given.format == "json" else rendered(found, colour=in_colour)
    if given.output is None:
        output.put(text)
        return
    write_text(given.output, text, force=True)
    output.say_laid_out(headline(found, colour=output.stderr_colour(given.color)))
    output.say(f"Wrote {given.output}.")
