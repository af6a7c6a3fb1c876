"""What can be said of a rule file without running it: one module per rule over a file that loads.

A module is named like its code's name and offers `look(loaded, files)`, which notes problems on its readers.
"""

import os
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from rulebook.diagnostic import Diagnostic, in_order
from rulebook.expression.program import Loaded
from rulebook.ports import Files


class LintRule(Protocol):
    """One rule: a module with this function."""

    def look(self, loaded: Loaded, files: Files) -> None:
        """Note every problem of this kind."""
        ...


@cache
def lint_rules() -> tuple[LintRule, ...]:
    """Every rule, in the order of the modules' names."""
    names = {name.removesuffix(".py") for name in os.listdir(__path__[0]) if name.endswith(".py")} - {"__init__"}
    return tuple(cast(LintRule, import_module(f"{__name__}.{name}")) for name in sorted(names))


def look_over(loaded: Loaded, files: Files) -> tuple[Diagnostic, ...]:
    """Every problem of a file: what loading it said, and, when it loads, what the rules say."""
    if loaded.schema is None:
        return loaded.diagnostics
    before = {file: len(reader.problems) for file, reader in loaded.readers.items()}
    for rule in lint_rules():
        rule.look(loaded, files)
    found = [d for file, reader in loaded.readers.items() for d in reader.problems[before[file] :]]
    own = in_order(d for d in (*loaded.diagnostics, *found) if d.file == loaded.file)
    others = in_order(d for d in (*loaded.diagnostics, *found) if d.file != loaded.file)
    return (*own, *others)
