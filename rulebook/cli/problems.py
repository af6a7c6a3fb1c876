"""Showing what is wrong with a rule file that a command was asked to use."""

from collections.abc import Sequence

from rulebook.cli import output
from rulebook.diagnostic import Diagnostic
from rulebook.picture import render_problems
from rulebook.report.lint_report import NARROWEST, WIDEST
from rulebook.services.rule_files import text_of
from rulebook.source.files import language_of, read_text


def show_problems(diagnostics: Sequence[Diagnostic]) -> None:
    """Print every problem with its picture to stderr, file by file, and say what was not done."""
    colour, width = output.stderr_colour("auto"), output.stderr_columns(WIDEST, NARROWEST, WIDEST)
    for file in dict.fromkeys(diagnostic.file for diagnostic in diagnostics):
        own = [diagnostic for diagnostic in diagnostics if diagnostic.file == file]
        text = text_of(file)
        document = read_text(text, file, language_of(file) or "yaml").document  # for the names that the author gave
        data = None if document is None else document.data
        output.say_laid_out(render_problems(file, text, own, data=data, colour=colour, width=width) + "\n")
    output.say("rulebook: the rule file is not valid, so nothing was judged. rulebook lint shows all of this again.")
