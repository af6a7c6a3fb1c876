"""The state of reading one expression: where it stands, what was found wrong, and how much it holds."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.languages.faults import Fault
from rulebook.languages.formula_source import Source
from rulebook.languages.formula_terms import Literal, Term


class Findings(Struct):
    """What reading the whole text found: faults, the term of each node, and the number of terms."""

    faults: list[Fault] = field(default_factory=list)
    terms: dict[ast.AST, Term] = field(default_factory=dict)
    count: int = 0


class Reading(ABC):
    """Reading one expression, or one quoted inside it: of the latter, `prefix` is the path of the list."""

    def __init__(self, source: Source, findings: Findings, prefix: str) -> None:
        self.source, self.findings, self.prefix = source, findings, prefix

    @abstractmethod
    def term(self, node: ast.expr, depth: int) -> Term:
        """The term of a node, `depth` levels down. What is not in the language is noted, and is nothing."""

    @abstractmethod
    def inside(self, node: ast.expr, prefix: str, depth: int) -> Term:
        """The expression that is quoted inside this one."""

    def wrong(
        self,
        code: str,
        words: Mapping[str, object],
        node: ast.expr,
        mended: str | None = None,
        *,
        safe: bool = False,
    ) -> Term:
        """Note a fault at `node`, and give a term to go on with."""
        start, end = self.source.span(node)
        self.findings.faults.append(Fault(code, words, start, end, mended=mended, safe=safe and mended is not None))
        return Literal(None, start, end)

    def refuse_syntax(self, node: ast.expr, syntax: ast.AST) -> Term:
        """Note that a piece of Python's syntax, found at `node`, is not in the language."""
        from rulebook.languages.formula_refusals import refusal  # a table that no expression without a fault needs

        return self.refuse(node, *refusal(syntax))

    def refuse(self, node: ast.expr, what: str, hint: str = "", mended: str | None = None) -> Term:
        """Note that `what` is not in the language."""
        return self.wrong("RB411", {"what": what, "hint": hint}, node, mended)
