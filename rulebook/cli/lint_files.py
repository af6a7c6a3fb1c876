"""The work of `rulebook lint`, apart from its options: they are read before anything is imported for it."""

import sys
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rulebook.api.linting import LintResult, lint_file, lint_text
from rulebook.cli import output
from rulebook.diagnostic import Diagnostic, in_order
from rulebook.errors import UsageError
from rulebook.report.lint_report import NARROWEST, WIDEST, Linted, count_of, lint_json, render_concise, render_lint
from rulebook.services.rule_files import rule_files_below, text_of
from rulebook.source.files import language_of, read_text
from rulebook.source.located import Language


class LintRun(Struct, frozen=True):
    """Everything that was linted, and how many rules were looked at."""

    files: Sequence[Linted]
    checks: int


def linted(paths: Sequence[str], stdin_name: str) -> LintRun:
    """Lint files and folders, `-` being stdin. Raises UsageError for a path that is not there."""
    found: dict[str, None] = {}
    for path in paths:
        found |= dict.fromkeys(["-"] if path == "-" else rule_files_below(path))
    results = [_from_stdin(stdin_name) if path == "-" else lint_file(path) for path in found]
    return LintRun(_by_file(results), sum(result.rule_count for result in results))


def shown(run: LintRun, kept: Callable[[Diagnostic], bool], format: str, strict: bool, colour: output.Colour) -> int:
    """Print the problems that are `kept` and give the exit status."""
    files = [replace(file, diagnostics=tuple(filter(kept, file.diagnostics))) for file in run.files]
    match format:
        case "json":
            from rulebook.report.plain_json import canonical  # the other formats do without a report

            output.put(canonical(lint_json(files)))
        case "concise":
            output.put(render_concise(files))
        case _:
            left_out = sum(len(f.diagnostics) for f in run.files) - sum(len(f.diagnostics) for f in files)
            in_colour = output.stdout_colour(colour)
            width = output.stdout_columns(WIDEST, NARROWEST, WIDEST)
            output.put(render_lint(files, run.checks, colour=in_colour, left_out=left_out, width=width))
    refused = count_of(files, "error") > 0 or (strict and count_of(files, "warning") > 0)
    return 1 if refused else 0


def _from_stdin(name: str) -> LintResult:
    if sys.stdin is None:
        raise UsageError("there is nothing to read from: stdin is closed.")
    try:
        text = sys.stdin.buffer.read().decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UsageError(f"what comes from stdin isn't UTF-8 (first odd byte: number {error.start + 1}).") from None
    return lint_text(text, name, _language(name))


def _by_file(results: Sequence[LintResult]) -> list[Linted]:
    """Each file once with its own problems; a pack's are found again by every file that uses it."""
    texts = {result.file: result.text for result in results}
    problems: dict[str, dict[Diagnostic, None]] = {result.file: {} for result in results}
    for result in results:
        for diagnostic in result.diagnostics:
            problems.setdefault(diagnostic.file, {})[diagnostic] = None
    return [_linted(file, texts.get(file, ""), list(found)) for file, found in problems.items()]


def _linted(file: str, text: str, found: list[Diagnostic]) -> Linted:
    if not found:
        return Linted(file, text, ())
    text = text or text_of(file)
    document = read_text(text, file, _language(file)).document
    return Linted(file, text, in_order(found), None if document is None else document.data)


def _language(file: str) -> Language:
    """The notation that a name stands for; a pack's name and stdin's may have any ending."""
    return language_of(file) or "yaml"
