"""Cuts ZON text into names, signs, numbers and texts, as Zig does, and keeps what is none of them."""

import re
from typing import Literal, NamedTuple

Kind = Literal["sign", "name", "quoted-name", "call", "number", "text", "line", "letter", "bad", "end"]
"""`line` is one `\\\\` line of a text, `letter` a character in single quotes, `call` an `@word`."""

KEYWORDS = frozenset(
    (
        *("addrspace", "align", "allowzero", "and", "anyframe", "anytype", "asm", "break", "callconv"),
        *("catch", "comptime", "const", "continue", "defer", "else", "enum", "errdefer", "error", "export"),
        *("extern", "fn", "for", "if", "inline", "linksection", "noalias", "noinline", "nosuspend", "opaque"),
        *("or", "orelse", "packed", "pub", "resume", "return", "struct", "suspend", "switch", "test"),
        *("threadlocal", "try", "union", "unreachable", "var", "volatile", "while"),
    )
)


class Token(NamedTuple):
    """The characters `start:end` of the text, and what they are."""

    kind: Kind
    start: int
    end: int


_SKIP = re.compile(r"(?:[ \t\n\r]+|//(?!!|/(?!/))[^\x00-\x1f\x7f]*(?=\r?\n|\Z))+")
_TOKEN = re.compile(
    r"""(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>[0-9](?:[eEpP][+-]|\.(?=[0-9A-Za-z_])|[0-9A-Za-z_])*)
    |(?P<quoted>@"(?:[^"\\\x00-\x1f\x7f]|\\[^\x00-\x1f\x7f])*")
    |(?P<text>"(?:[^"\\\x00-\x1f\x7f]|\\[^\x00-\x1f\x7f])*")
    |(?P<line>\\\\[^\x00-\x1f\x7f]*(?=\r?\n|\Z))
    |(?P<letter>'(?:[^'\\\x00-\x1f\x7f]|\\[^\x00-\x1f\x7f])*')
    |(?P<call>@[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>\.(?![.0-9])|\+\+|[{}=,&()\[\]:;+*!?<>|~^%-]|/(?![/*]))""",
    re.VERBOSE,
)
_KINDS: dict[str | None, Kind] = {
    "name": "name",
    "number": "number",
    "quoted": "quoted-name",
    "text": "text",
    "line": "line",
    "letter": "letter",
    "call": "call",
    "sign": "sign",
}
_BAD = re.compile(
    r"""(?:@?"(?:[^"\\\n]|\\[^\n])*" | '(?:[^'\\\n]|\\[^\n])*')
    | /\*.*?(?:\*/|\Z)
    | (?:@?"|'|\\\\|//|\#)[^\r\n]*
    | [“”„‘’][^“”‘’\n]*[“”‘’]
    | [^\s{}=,“”„‘’‚\u00a0\u2007\u202f\u3000\u200b-\u200d\u2060\ufeff：，＝｛｝]+ | .""",
    re.VERBOSE | re.DOTALL,
)


def next_token(text: str, place: int) -> Token:
    """The first token at or after `place`; of kind `end` when only spaces and comments are left.

    A `bad` one is what Zig refuses, up to where something else begins: a text or comment with its whole line.
    """
    skipped = _SKIP.match(text, place)
    if skipped:
        place = skipped.end()
    match = _TOKEN.match(text, place)
    if match is not None:
        return Token(_KINDS[match.lastgroup], place, match.end())
    bad = _BAD.match(text, place)
    return Token("bad", place, bad.end()) if bad else Token("end", place, place)
