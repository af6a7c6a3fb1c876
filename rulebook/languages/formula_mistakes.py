"""What other languages write, and what to write here instead."""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rulebook.languages.faults import Fault
from rulebook.languages.formula_literals import veiled
from rulebook.languages.formula_tokens import Token, stuck, stuck_together, tokens_of

METHODS = {
    "contains": "contains",
    "includes": "contains",
    "startswith": "starts_with",
    "starts_with": "starts_with",
    "endswith": "ends_with",
    "ends_with": "ends_with",
    "lower": "lower",
    "tolowercase": "lower",
    "upper": "upper",
    "touppercase": "upper",
    "strip": "strip",
    "trim": "strip",
    "length": "len",
    "size": "len",
    "count": "count",
}
"""Our function for what other languages write as `text.method()`."""


LIST_METHODS = {
    "filter": "count",
    "where": "count",
    "select": "count",
    "map": "count",
    "some": "any",
    "any": "any",
    "find": "any",
    "every": "all",
    "all": "all",
    "reduce": "sum",
}
"""Our function for what other languages write as `list.method(item => …)`."""


def list_method(over: str, method: str) -> tuple[str, str] | None:
    """What a method of lists is called in messages, and what to write instead; None when it is none."""
    ours = LIST_METHODS.get(method.lower())
    if ours is None:
        return None
    return f"`.{method}(…)`", f' Write `{ours}({over}, "…")`, with an expression over one item in the quotes.'


def faults_in(text: str) -> tuple[Fault, ...]:
    """Why `text` cannot be parsed: other languages' operators, else where it gets stuck."""
    tokens = tokens_of(text)
    arrow = _arrow(tokens)
    if arrow is not None:
        return (arrow,)
    found = foreign(text, tokens)
    if found:
        return found
    for token in tokens:
        if token.text in _NEVER:
            what, hint = _NEVER[token.text]
            return (Fault("RB411", {"what": what, "hint": hint}, token.start, token.end),)
    if not tokens:
        return (Fault("RB401", {"expected": "I expected an expression, such as `turns <= 8`"}, 0, len(text)),)
    expected, start, end = stuck(tokens, len(text))
    return (Fault("RB401", {"expected": expected}, start, end),)


def foreign(text: str, tokens: Sequence[Token] | None = None) -> tuple[Fault, ...]:
    """A fault for each operator of another language in `text`; every one is mended by the same whole text."""
    changes = _apart(_changes(text, tokens if tokens is not None else tokens_of(text)))
    mended: str | None = text
    for change in reversed(changes):
        mended = f"{mended[: change.start]}{change.text}{mended[change.end :]}" if mended else None
    mended = mended if mended and parses(mended) else None
    return tuple(
        Fault(
            "RB402",
            {
                "ours": change.ours or change.text.strip(),
                "theirs": change.theirs or text[change.start : change.end],
            },
            change.start,
            change.end,
            mended=mended,
            safe=change.safe and mended is not None,
        )
        for change in changes
    )


def parses(text: str) -> bool:
    """Whether Python's grammar takes `text` as one expression."""
    if stuck_together(text) is not None:
        return False
    try:
        ast.parse(veiled(text).strip().replace("\n", " "), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _arrow(tokens: Sequence[Token]) -> Fault | None:
    """`tool_calls.filter(x => …)`: a function over items, which is no `>=`."""
    if not any(token.text == "=>" for token in tokens):
        return None
    for token, following in zip(tokens, tokens[1:], strict=False):
        over, dot, method = token.text.rpartition(".")
        told = list_method(over, method) if token.kind == "word" and dot and following.text == "(" else None
        if told is not None:
            return Fault("RB411", {"what": told[0], "hint": told[1]}, token.start, token.end)
    return None


class _Change(NamedTuple):
    start: int
    end: int
    text: str
    safe: bool = False
    ours: str = ""
    theirs: str = ""


_SIGNS = {
    "&&": ("and", True),
    "||": ("or", True),
    "===": ("==", True),
    "!==": ("!=", True),
    "<>": ("!=", True),
    "=": ("==", True),
    "=>": (">=", False),
    "=<": ("<=", False),
    "&": ("and", False),
    "|": ("or", False),
    "//": ("/", False),
    "^": ("!=", False),
    "≤": ("<=", True),
    "≥": (">=", True),
    "≠": ("!=", True),
    "−": ("-", True),
    "–": ("-", True),
    "×": ("*", True),
    "÷": ("/", True),
    "∧": ("and", True),
    "∨": ("or", True),
    "“": ('"', False),
    "”": ('"', False),
    "‘": ("'", False),
    "’": ("'", False),
}
_CAPITALS = frozenset(("and", "or", "not", "in", "if", "else"))
_INFIX = {
    "contains": "contains({left}, {right})",
    "includes": "contains({left}, {right})",
    "matches": "matches({right}, {left})",
    "startswith": "starts_with({left}, {right})",
    "starts_with": "starts_with({left}, {right})",
    "endswith": "ends_with({left}, {right})",
    "ends_with": "ends_with({left}, {right})",
    "=~": "matches({right}, {left})",
    "!~": "not matches({right}, {left})",
    "??": "default({left}, {right})",
}
_NEVER = {
    ":=": ("Assignment", " Write `==` to compare."),
    ";": ("`;`", " Join conditions with `and` or `or`."),
    "lambda": (
        "A lambda",
        " Put an expression over one item in quotes: `any(tool_calls, \"name == 'bash'\")`.",
    ),
    "for": ("A loop", " Write `count`, `any`, `all`, `sum`, `min`, `max` or `mean` over the list."),
    "await": ("`await`", ""),
    "yield": ("`yield`", ""),
    "import": ("`import`", ""),
}


def _changes(text: str, tokens: Sequence[Token]) -> Iterator[_Change]:
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else None
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        change = _infix(before, token, after) or _power(before, token, after) or _amount(tokens, position)
        if change is not None:
            yield change
        elif token.text in ("!", "~"):
            yield _Change(token.start, token.end, "not ", theirs=token.text)
        elif token.text in _SIGNS:
            ours, safe = _SIGNS[token.text]
            yield _Change(token.start, token.end, _spaced(text, token, ours), safe)
        elif token.kind == "word" and token.text.lower() in _CAPITALS and not token.text.islower():
            yield _Change(token.start, token.end, token.text.lower(), True)
        elif token.text == "?":
            yield from _ternary(text, tokens, position)


def _spaced(text: str, token: Token, ours: str) -> str:
    if not ours.isalpha():
        return ours
    left = "" if text[token.start - 1 : token.start].isspace() or not token.start else " "
    return f"{left}{ours}{'' if text[token.end : token.end + 1].isspace() else ' '}"


def _infix(before: Token | None, token: Token, after: Token | None) -> _Change | None:
    form = _INFIX.get(token.text.lower())
    if form is None or before is None or after is None or not (before.is_value and after.is_value):
        return None
    new = form.format(left=before.text, right=after.text)
    return _Change(before.start, after.end, new, ours=new, theirs=f"{before.text} {token.text} {after.text}")


def _power(before: Token | None, token: Token, after: Token | None) -> _Change | None:
    if token.text not in ("^", "**") or before is None or after is None or after.text != "2" or not before.is_value:
        return None
    new = f"{before.text} * {before.text}"
    return _Change(before.start, after.end, f"({new})", ours=new, theirs=f"{before.text}{token.text}2")


def _amount(tokens: Sequence[Token], position: int) -> _Change | None:
    token, rest = tokens[position], tokens[position + 1 : position + 3]
    if token.kind != "number":
        return None
    percent = rest and rest[0].text == "%" and rest[0].start == token.end
    if percent and not (len(rest) > 1 and (rest[1].is_value or rest[1].text in ("(", "-"))):
        share = repr(round(float(token.text.replace("_", "")) / 100, 12))
        return _Change(token.start, rest[0].end, share, True, theirs=f"{token.text}%")
    apart = len(rest) == 2 and rest[0].text == "," and rest[0].start == token.end and rest[1].start == rest[0].end
    if (
        apart
        and not _depth(tokens[:position])
        and rest[1].text.isdigit()
        and len(rest[1].text) == 3
        and token.text.isdigit()
    ):
        new = token.text + rest[1].text
        return _Change(token.start, rest[1].end, new, theirs=f"{token.text},{rest[1].text}")
    return None


def _depth(tokens: Sequence[Token]) -> int:
    return sum((token.text in "([") - (token.text in ")]") for token in tokens if len(token.text) == 1)


def _ternary(text: str, tokens: Sequence[Token], position: int) -> Iterator[_Change]:
    colon = next((token for token in tokens[position:] if token.text == ":"), None)
    if colon is None or sum(token.text == "?" for token in tokens) > 1:
        return
    first, last, mark = tokens[0].start, tokens[-1].end, tokens[position]
    test, then, otherwise = text[first : mark.start], text[mark.end : colon.start], text[colon.end : last]
    new = f"{then.strip()} if {test.strip()} else {otherwise.strip()}"
    yield _Change(first, last, new, ours="a if b else c", theirs="b ? a : c")


def _apart(changes: Iterator[_Change]) -> list[_Change]:
    kept: list[_Change] = []
    for change in sorted(changes, key=lambda found: (found.start, -found.end)):
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
    return kept
