"""The words and signs of an expression, ours and other languages', for saying where someone got stuck."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["text", "number", "word", "sign", "odd"]

KEYWORDS = frozenset(("and", "or", "not", "in", "is", "if", "else"))


class Token(NamedTuple):
    """A word, number, quoted text or sign. Words keep their fields: `usage.input_tokens` is one."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def is_value(self) -> bool:
        """Whether it can stand where a value is wanted."""
        return self.kind in ("text", "number") or (self.kind == "word" and self.text not in KEYWORDS)


def tokens_of(text: str) -> list[Token]:
    """The text in pieces; what nothing fits is `odd`, an unclosed quote to the end of the text."""
    return [
        Token(found.lastgroup, found[0], found.start(), found.end())  # type: ignore[arg-type]
        for found in _PIECE.finditer(text)
    ]


def stuck(tokens: Sequence[Token], length: int) -> tuple[str, int, int]:
    """What was expected where the expression stops making sense, and where; `length` is the text's."""
    open_at: list[Token] = []
    previous: Token | None = None
    for position, token in enumerate(tokens):
        following = tokens[position + 1] if position + 1 < len(tokens) else None
        wanted = _surprise(previous, token, following, open_at)
        if wanted:
            return wanted, token.start, token.end
        if token.text in ("(", "["):
            open_at.append(token)
        elif token.text in (")", "]"):
            open_at.pop()
        previous = token
    if previous is None or _wants_value(previous):
        return "I expected a value", length, length
    if open_at:
        return f"this `{open_at[-1].text}` is never closed", open_at[-1].start, open_at[-1].end
    lone = next((token for token in tokens if token.text in ("if", "else")), None)
    if lone is not None:
        return "I expected `a if b else c`", lone.start, lone.end
    return "I can't read this", tokens[0].start, tokens[-1].end


def stuck_together(text: str) -> Token | None:
    """A number that a word follows at once, as in `1or`: Python reads it with a warning, and nobody means it."""
    tokens = tokens_of(text)
    for token, following in zip(tokens, tokens[1:], strict=False):
        if token.kind == "number" and following.kind == "word" and following.start == token.end:
            return token
    return None


_PIECE = re.compile(
    r"""
    (?P<text>[rRuUbBfF]{0,2}(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))
  | (?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
  | (?P<sign>===|!==|=~|!~|<>|<=|>=|==|!=|=>|=<|&&|\|\||\*\*|//|\?\?|:=|[-+*/%^&|~!<>=?:.,;()\[\]])
  | (?P<odd>['"].*|[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERATORS = frozenset(("+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "and", "or", "in", "if", "else", "is"))
_CLOSING = {")": "(", "]": "["}


def _wants_value(previous: Token) -> bool:
    return not (previous.is_value or previous.text in _CLOSING)


def _surprise(previous: Token | None, token: Token, following: Token | None, open_at: Sequence[Token]) -> str | None:
    wants_value = previous is None or _wants_value(previous)
    if token.kind == "odd" and token.text[0] in "'\"":
        return f"this `{token.text[0]}` is never closed"
    if token.text in _CLOSING:
        return _closing(token, previous, wants_value, open_at)
    if wants_value:
        return None if token.is_value or token.text in ("(", "[", "not", "-", "+") else "I expected a value"
    if token.text == "not":
        return None if following is not None and following.text == "in" else _NEXT
    if token.text == "(" and previous is not None and previous.kind == "word":
        return None
    if token.text == "," and open_at:
        return None
    if token.text == "[" or token.text == ".":
        return None
    return None if token.text in _OPERATORS else _NEXT


def _closing(token: Token, previous: Token | None, wants_value: bool, open_at: Sequence[Token]) -> str | None:
    if not open_at or open_at[-1].text != _CLOSING[token.text]:
        return f"this `{token.text}` was never opened"
    empty = previous is not None and previous.text in ("(", "[", ",")
    return "I expected a value" if wants_value and not empty else None


_NEXT = "I expected `and`, `or` or the end"
