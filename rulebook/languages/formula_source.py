"""The text of an expression, or of one quoted inside it, and where its parts stand in the whole."""

import ast
import re

from rulebook.languages.faults import Fault, LanguageError
from rulebook.languages.formula_literals import VEIL, Quoted, outward, read_quoted, veiled


class Source:
    """One expression's text. `offsets` maps its characters to those of the `whole` text; None: it is that."""

    def __init__(self, whole: str, text: str, offsets: tuple[int, ...] | None = None) -> None:
        self.whole, self.text, self._offsets = whole, text, offsets
        self._from = len(text) - len(text.lstrip())
        bare = text.strip()
        self._prepared = _SPACES.sub(" ", veiled(bare) if "\\" in bare else bare)
        self.rewritten = self._prepared != bare
        self._columns = None if self._prepared.isascii() else _columns(self._prepared)

    def tree(self) -> ast.expr:
        """Python's tree of the text. Raises LanguageError (RB401, RB402, RB411, RB706)."""
        try:
            self._refuse_what_python_skips()
            return ast.parse(self._prepared, mode="eval").body
        except (SyntaxError, ValueError) as error:
            from rulebook.languages.formula_mistakes import faults_in  # only a mistake pays for it

            raise self.outward(faults_in(self.text)) from error
        except (RecursionError, MemoryError) as error:
            words = {"what": "expression", "count": "too many", "parts": "levels", "limit": "20"}
            raise self.outward((Fault("RB706", words),)) from error

    def place(self, position: int) -> int:
        """Where a character of our text stands in the whole."""
        return position if self._offsets is None else self._offsets[position]

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Where a node stands in the whole text, in characters: Python counts bytes."""
        start, end = self._own(node)
        if self._offsets is None:
            return start, end
        return self._offsets[start], self._offsets[end]

    def slice(self, node: ast.expr) -> str:
        """A node as it was written."""
        start, end = self.span(node)
        return self.whole[start:end]

    def quoted(self, node: ast.expr, *, pattern: bool = False) -> Quoted:
        """What a quoted text says, its offsets those of the whole text, its end that of our own."""
        found = read_quoted(self.text, self._own(node)[0], pattern=pattern)
        return found._replace(offsets=tuple(map(self.place, found.offsets)))

    def is_one_text(self, node: ast.expr, found: Quoted) -> bool:
        """Whether a quoted text is one, and not several side by side."""
        return found.end == self._own(node)[1]

    def mended(self, start: int, end: int, new: str) -> str | None:
        """The whole text with `start:end` replaced; None where `new` would break out of quotes around it."""
        if self._offsets is not None and ("\\" in new or self._opening in new):
            return None
        return self._around(start, end, new)

    @property
    def quote(self) -> str:
        """The quote that a text written into our text takes: the other one than that around it."""
        return '"' if self._offsets is not None and self._opening == "'" else "'"

    @property
    def _opening(self) -> str:
        return self.whole[self._offsets[0] - 1] if self._offsets else ""

    def outward(self, faults: tuple[Fault, ...]) -> LanguageError:
        """Faults of our text as faults of the whole."""
        if self._offsets is None:
            return LanguageError(*faults)
        return LanguageError(*(outward(fault, self._offsets, self._around) for fault in faults))

    def _around(self, start: int, end: int, new: str) -> str:
        return f"{self.whole[:start]}{new}{self.whole[end:]}"

    def _own(self, node: ast.expr) -> tuple[int, int]:
        start, end = node.col_offset, node.end_col_offset or 0
        if self._columns is not None:
            start, end = self._columns[start], self._columns[end]
        return start + self._from, end + self._from

    def _refuse_what_python_skips(self) -> None:
        """Comments, and a word that follows a number at once, mean something to Python that nobody meant."""
        if "\\" in self.text and re.search(VEIL, self.text):
            raise ValueError("characters of the private use area")
        if "#" not in self.text and not _MAY_STICK.search(self.text):
            return
        from rulebook.languages.formula_tokens import stuck_together, tokens_of  # rare, as the line above says

        number = stuck_together(self.text)
        if number is not None:
            raise self.outward((self._stuck_together(number.start, number.end),))
        comment = next((token for token in tokens_of(self.text) if token.text == "#"), None)
        if comment is not None:
            words = {"what": "A comment", "hint": " Put it on a line of its own, outside the expression."}
            raise self.outward((Fault("RB411", words, comment.start, len(self.text)),))

    def _stuck_together(self, start: int, end: int) -> Fault:
        from rulebook.languages.formula_texts import word_around  # only a mistake pays for it

        word = word_around(self.text, start)
        if word is None:
            words = {"expected": f"I expected a space or an operator after `{self.text[start:end]}`"}
            return Fault("RB401", words, start, end)
        new = f"{self.quote}{self.text[slice(*word)]}{self.quote}"
        mended = f"{self.text[: word[0]]}{new}{self.text[word[1] :]}"
        return Fault("RB401", {"expected": f"put text in quotes: `{new}`"}, *word, mended=mended)


_SPACES = re.compile(r"[^\S ]")
_MAY_STICK = re.compile(r"(?<!\w)\d[\d_.]*[^\W\d]")
"""A number with a letter behind it, as in `1or` and `1e5`: in a text without one no word follows a number at once."""


def _columns(prepared: str) -> list[int]:
    columns: list[int] = []
    for position, character in enumerate(prepared):
        columns += [position] * len(character.encode("utf-8", "surrogatepass"))
    return [*columns, len(prepared)]
