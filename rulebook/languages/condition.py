"""Conditions over named rules: `says_answer and (script or not polite)`, `2 of them`, `all of safe_*`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from msgspec import Struct

from rulebook.languages.faults import Fault, LanguageError

MAX_CHARACTERS = 1000
MAX_PARTS = 200
MAX_DEPTH = 20


class Name(Struct, frozen=True):
    """A named rule; `start` and `end` count characters of the condition."""

    name: str
    start: int
    end: int


class NotOf(Struct, frozen=True):
    """Its part must not pass."""

    part: Condition


class Joined(Struct, frozen=True):
    """Parts joined by one word, `and` or `or`, whichever way it was written."""

    word: str
    parts: tuple[Condition, ...]


class Several(Struct, frozen=True):
    """`all of`, `any of` or `N of` (at least N) the rules whose names match `pattern`; `them` is all of them.

    `count` is N, and None for `all` (`every` is true) and `any` (it is false).
    """

    count: int | None
    every: bool
    pattern: str
    start: int
    end: int


Condition = Name | NotOf | Joined | Several


def read_condition(text: str) -> Condition:
    """Parse a condition. Raises LanguageError with RB311, or RB706 for one that is too long or too deep."""
    if len(text) > MAX_CHARACTERS:
        raise LanguageError(_too_much(len(text), "characters", MAX_CHARACTERS))
    tokens = [_Token(found.lastgroup or "", found[0], found.start()) for found in re.finditer(_PIECE, text)]
    if len(tokens) > MAX_PARTS:
        raise LanguageError(_too_much(len(tokens), "parts", MAX_PARTS))
    _refuse_foreign(text, tokens)
    _refuse_mixture(text, tokens)
    reader = _Reader(tokens, len(text))
    condition = reader.either(1)
    reader.end()
    return condition


class _Token(Struct, frozen=True):
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class _Reader:
    """Reads tokens left to right, one method a level of precedence."""

    def __init__(self, tokens: Sequence[_Token], length: int) -> None:
        self._tokens, self._length, self._at = tokens, length, 0

    def either(self, depth: int) -> Condition:
        return self._joined("or", depth)

    def end(self) -> None:
        token = self._next()
        if token is not None:
            if token.text == ")":
                self._stuck("This `)` was never opened.", token)
            self._stuck(f"I expected `and`, `or` or the end, not `{token.text}`.", token)

    def _joined(self, word: str, depth: int) -> Condition:
        below = self._negated if word == "and" else lambda level: self._joined("and", level)
        parts = [below(depth)]
        while self._takes(word):
            parts.append(below(depth))
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _negated(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise LanguageError(_too_much(depth, "levels", MAX_DEPTH))
        if self._takes("not"):
            return NotOf(self._negated(depth + 1))
        return self._part(depth)

    def _part(self, depth: int) -> Condition:  # noqa: RET503 (`_stuck` never comes back)
        token = self._next()
        if token is None:
            self._stuck("I expected the name of a rule here, and the condition ends.", None)
        self._at += 1
        if token.text == "(":
            inside = self.either(depth + 1)
            if not self._takes(")"):
                self._stuck("This `(` is never closed.", token)
            return inside
        following = self._next()
        if following is not None and following.text == "of":
            self._at += 1
            return self._several(token)
        if token.kind == "name" and token.text not in _RESERVED:
            return Name(token.text, token.start, token.end)
        self._stuck(_instead_of_name(token), token)

    def _several(self, count: _Token) -> Several:
        whom = self._next()
        if count.text not in ("all", "any") and not (count.kind == "number" and int(count.text) > 0):
            self._stuck(f"Before `of` write `all`, `any` or a number from 1, not `{count.text}`.", count)
        if whom is None or not (whom.text == "them" or whom.kind == "pattern"):
            found = "" if whom is None else f", not `{whom.text}`"
            self._stuck(f"After `of` write `them`, or a beginning with a star such as `safe_*`{found}.", whom)
        self._at += 1
        number = int(count.text) if count.kind == "number" else None
        return Several(number, count.text == "all", whom.text, count.start, whom.end)

    def _next(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _takes(self, word: str) -> bool:
        token = self._next()
        if token is None or _MEANING.get(token.text, token.text) != word:
            return False
        self._at += 1
        return True

    def _stuck(self, sentence: str, token: _Token | None) -> NoReturn:
        start, end = (self._length, self._length) if token is None else (token.start, token.end)
        raise LanguageError(Fault("RB311", {"sentence": sentence}, start, end))


_MEANING = {"~": "not", "&": "and", "|": "or"}
_SIGN = {word: sign for sign, word in _MEANING.items()}
_RESERVED = frozenset(("and", "or", "not", "them", "of"))
_FOREIGN = {
    "&&": "and",
    "||": "or",
    "!": "not",
    "AND": "and",
    "OR": "or",
    "NOT": "not",
    "And": "and",
    "Or": "or",
}
_FOREIGN |= {"Not": "not", ",": "and", "+": "and"}
_NAME = r"[^\W\d]\w*(?:[.-]\w+)*"
_PIECE = rf"""(?x)
    (?P<pattern>(?:{_NAME}\.?)?\*[\w.*]*)
  | (?P<name>{_NAME})
  | (?P<number>[0-9]{{1,9}}\b)
  | (?P<sign>&&|\|\||[~&|!()])
  | (?P<odd>\S)
    """


def _refuse_foreign(text: str, tokens: Sequence[_Token]) -> None:
    found = [token for token in tokens if token.text in _FOREIGN]
    if not found:
        return
    mended = _rewritten(text, tokens, _FOREIGN)
    sentences = {token: f"Write `{_FOREIGN[token.text]}` instead of `{token.text}`." for token in found}
    raise LanguageError(
        *(
            Fault("RB311", {"sentence": sentence}, token.start, token.end, mended=mended)
            for token, sentence in sentences.items()
        )
    )


def _refuse_mixture(text: str, tokens: Sequence[_Token]) -> None:
    signs = [token for token in tokens if token.text in _MEANING]
    words = [token for token in tokens if token.text in _SIGN]
    if not signs or not words:
        return
    odd = max(signs[0], words[0], key=lambda token: token.start)
    mended = _rewritten(text, tokens, _MEANING)
    sentence = f"This mixes words (`{words[0].text}`) and signs (`{signs[0].text}`). Use one of them: `{mended}`."
    raise LanguageError(Fault("RB311", {"sentence": sentence}, odd.start, odd.end, mended=mended, safe=True))


def _rewritten(text: str, tokens: Sequence[_Token], words: dict[str, str]) -> str:
    for token in reversed(tokens):
        if token.text in words:
            before, after = text[: token.start], text[token.end :]
            left = "" if not before or before[-1] in " (\n" or token.text == "," else " "
            right = "" if after[:1] in (" ", "\n") else " "
            new = f" {words[token.text]}" if token.text == "," else words[token.text]
            text = f"{before}{left}{new}{right}{after}"
    return text


def _instead_of_name(token: _Token) -> str:
    if token.text in _RESERVED or token.text in _MEANING:
        return f"I expected the name of a rule before `{token.text}`."
    if token.kind == "pattern":
        many = f"`all of {token.text}`, `any of {token.text}` or `2 of {token.text}`"
        return f"Say how many of `{token.text}`: {many}."
    if token.kind == "number":
        return f"After `{token.text}` I expected `of`, as in `{token.text} of them`."
    return f"I expected the name of a rule, not `{token.text}`."


def _too_much(count: int, parts: str, limit: int) -> Fault:
    return Fault("RB706", {"what": "condition", "count": count, "parts": parts, "limit": limit})
