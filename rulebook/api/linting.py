"""Linting from Python: every problem of a rule file, and nothing run."""

import os

from msgspec import Struct

from rulebook.diagnostic import Diagnostic, has_errors
from rulebook.expression.program import Loaded, compile_document, load_rules
from rulebook.linting import look_over
from rulebook.services.files import MachineFiles
from rulebook.source.files import read_text
from rulebook.source.located import Language
from rulebook.spec.evaluation_parts import EvaluationSpec


class LintResult(Struct, frozen=True):
    """What the linter says of one file. `rule_count` is how many rules it looked at."""

    file: str
    text: str
    diagnostics: tuple[Diagnostic, ...]
    rule_count: int = 0

    @property
    def valid(self) -> bool:
        """Whether the file can be loaded: it may still have warnings and notes."""
        return not has_errors(self.diagnostics)


def lint(path: str | os.PathLike[str]) -> LintResult:
    """Every problem of the rule file at `path`, in the order of the file. Never raises for what stands in it."""
    return lint_file(os.fspath(path))


def lint_file(path: str) -> LintResult:
    """Like `lint`, for a path as text."""
    files = MachineFiles()
    return _result(load_rules(path, files), files)


def lint_text(text: str, file: str, language: Language) -> LintResult:
    """Every problem of a rule file that is not on disk; paths in it start at the folder of `file`."""
    files = MachineFiles()
    reading = read_text(text, file, language)
    if reading.document is None:
        return LintResult(file, text, reading.diagnostics)
    return _result(compile_document(reading.document, reading.diagnostics, files), files)


def _result(loaded: Loaded, files: MachineFiles) -> LintResult:
    if isinstance(loaded.content, EvaluationSpec):
        from rulebook.api.evaluation_linting import sql_problems  # only a file with SQL pays for it

        loaded = sql_problems(loaded, loaded.content, files)
    return LintResult(loaded.file, loaded.text, look_over(loaded, files), loaded.rule_count)
