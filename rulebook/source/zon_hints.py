"""What to say of ZON text that is not ZON: one sentence for each mistake that people make."""

import re

from rulebook.source.zon_lexer import Token
from rulebook.source.zon_values import ZonFault, name_in_zig

_WORDS = {
    **dict.fromkeys(("yes", "Yes", "YES", "True", "TRUE", "on", "On"), "true"),
    **dict.fromkeys(("no", "No", "NO", "False", "FALSE", "off", "Off"), "false"),
    **dict.fromkeys(("None", "nil", "Null", "NULL", "undefined"), "null"),
    **dict.fromkeys(("NaN", "NAN"), "nan"),
    **dict.fromkeys(("Inf", "Infinity", "infinity"), "inf"),
}
_PLAIN_LIST = re.compile(r"""\[((?:[ ,]|[0-9]+(?![\w.])|\.\w+|"[^"\\\n]*")*)\]""")
_MONEY = re.compile(r"[$€£][0-9]")
_OPERATORS = frozenset("+*/!<>|~^%?-")


def is_comment(text: str, token: Token) -> bool:
    """Whether a `bad` token is a comment in another language's way, so that the file goes on behind it."""
    return token.kind == "bad" and text.startswith(("#", "//", "/*"), token.start)


def is_open_quote(text: str, token: Token) -> bool:
    """Whether a `bad` token is a quote that is not closed on its line."""
    word = text[token.start : token.end].lstrip("@")
    return word[:1] in ("'", '"') and (len(word) == 1 or not word.endswith(word[0]))


def about_comment(text: str, token: Token) -> ZonFault:
    """The fault of a comment that ZON does not take."""
    start, end = token.start, token.end
    if text.startswith("#", start):
        return ZonFault(start, start + 1, "A comment begins with `//` here, not with `#`.", "//")
    if text.startswith("/*", start):
        said = "A comment begins with `//` and ends with its line; `/*` does not exist."
        return ZonFault(start, start + 2, said)
    sign = text[start : start + 3]
    if sign in ("///", "//!"):
        said = f"Comments begin with `//`; `{sign}` is kept for Zig's own documentation."
        return ZonFault(start, start + 3, said, "//")
    return ZonFault(start, end, "This comment holds a tab or an invisible character. Write spaces.")


def about_bad(text: str, token: Token) -> ZonFault:
    """The fault of a token that is none."""
    start, end = token.start, token.end
    word = text[start:end]
    if word[0] in "\"'" or word.startswith('@"'):
        return _about_text(word, start, end)
    if word.startswith("\\"):
        if word.startswith("\\\\"):
            return ZonFault(start, end, "This line holds a tab or an invisible character. Write spaces.")
        return ZonFault(start, start + 1, "A line of text begins with two backslashes: `\\\\`.")
    if _MONEY.match(word):
        return ZonFault(start, end, f"A number has no sign of money. Write `{word[1:]}`.", word[1:])
    if word.startswith("."):
        return ZonFault(start, end, f"A number needs a digit before the `.`. Write `0{word}`.", f"0{word}")
    if word[0].isprintable():
        shown = word if len(word) <= 24 else f"{word[:24]}…"
        said = f'`{shown}` can\'t stand here. If it is text, put it in double quotes: `"{shown}"`.'
        return ZonFault(start, end, said)
    number = f"U+{ord(word[0]):04X}"
    return ZonFault(start, start + 1, f"There is an invisible character here ({number}). Delete it.")


def about_group(text: str, token: Token) -> ZonFault:
    """The fault of a brace or bracket without its dot; a list of plain values is mended as a whole."""
    if text[token.start] == "{":
        return ZonFault(token.start, token.end, "A group begins with `.{` here, not with `{`.", ".{")
    said = "A list begins with `.{` and ends with `}` here."
    whole = _PLAIN_LIST.match(text, token.start)
    if whole is None:
        return ZonFault(token.start, token.end, said)
    return ZonFault(token.start, whole.end(), said, f".{{{whole[1]}}}")


def about_nameless_number(text: str, token: Token, comma: Token) -> ZonFault | None:
    """The fault of `1,000`, where `token` is the part behind the comma; None when it is something else."""
    digits = text[token.start : token.end]
    if token.kind != "number" or len(digits) != 3 or comma.end != token.start:
        return None
    line = text[text.rfind("\n", 0, comma.start) + 1 : comma.start]
    whole = line[len(line.rstrip("0123456789")) :]
    if not whole:
        return None
    mended = f"{whole}{digits}"
    said = f"A number has no comma in it. Write `{mended}`."
    return ZonFault(comma.start - len(whole), token.end, said, mended)


def about_value(text: str, token: Token, after: Token) -> ZonFault:
    """The fault of a token that stands where a value belongs; `after` is the next one."""
    start, end = token.start, token.end
    word = text[start:end]
    follows = text[after.start : after.end]
    if token.kind == "end":
        return ZonFault(start, start, "The file ends here, and a value is missing.")
    if token.kind == "call":
        return ZonFault(start, end, f"A rule file holds values only; `{word}` is a call.")
    if token.kind == "name":
        return _about_name(text, token, follows, after)
    if word == "(" and (condition := about_condition(text, start)) is not None:
        return condition
    if word == "(":
        return ZonFault(start, end, "Parentheses don't belong round a value. Leave them out.")
    if word == "&":
        return ZonFault(start, end, "`&` may stand before `.{` only. Leave it out.", "")
    if word == "+":
        return ZonFault(start, end, "A number has no `+` before it. Leave it out.", "")
    if word in _OPERATORS or word == "++":
        return ZonFault(start, end, f"A rule file holds values only; `{word}` isn't one.")
    if word == ",":
        return ZonFault(start, end, "There is nothing before this `,`. Leave it out.", "")
    return ZonFault(start, end, f"A value is missing before `{word}`.")


def about_json(text: str, token: Token, after: Token, third: Token) -> ZonFault | None:
    """The fault of a whole file in JSON, which begins with these three tokens; None when it is something else."""
    first, second = text[token.start : token.end], text[after.start : after.end]
    named = first == "{" and after.kind == "text" and text[third.start : third.end] == ":"
    if not named and not (first == "[" and (after.kind in ("text", "number") or second in ("{", "["))):
        return None
    name = name_in_zig(second[1:-1]) if named else "schema"
    said = f"This looks like JSON. Save it as `.yaml`, which takes JSON too, or write `.{{ .{name} = … }}`."
    return ZonFault(token.start, third.end if named else token.end, said)


def about_condition(text: str, place: int) -> ZonFault | None:
    """The fault of `.judge = .a and .b`, where the value holds `place`; None when it is no condition."""
    start = text.rfind("=", 0, place) + 1
    field = re.search(r"\.(\w+)[ \t]*=$", text[max(0, start - 160) : start])
    whole = re.compile(r"[ \t]*((?:[.\w()]|[ \t]+(?=[.\w()]))+)").match(text, start)
    if field is None or whole is None or whole.end() <= place:
        return None
    words = re.findall(r"\w+|[()]", whole[1])
    if not {"and", "or", "not"} & set(words):
        return None
    condition = re.sub(r"\( | (?=\))", lambda found: found.group().strip(), " ".join(words))
    said = f'A condition is text: `.{field[1]} = "{condition}"`.'
    return ZonFault(whole.start(1), whole.end(1), said, f'"{condition}"')


def about_rest(text: str, token: Token) -> ZonFault:
    """The fault of a token that stands behind the file's one value."""
    word = text[token.start : token.end]
    start, end = token.start, token.end
    if word in _OPERATORS or word == "++":
        return ZonFault(start, end, f"A rule file holds values only; `{word}` isn't one.")
    if word == "}":
        return ZonFault(start, end, "This `}` closes nothing. Leave it out.", "")
    if word == ";":
        return ZonFault(start, end, "There is no `;` at the end of a ZON file. Leave it out.", "")
    said = "The file's value ends before this. Put everything inside one `.{ … }`."
    return ZonFault(start, end, said)


def about_between(text: str, token: Token) -> ZonFault:
    """The fault of a sign that stands behind a value, where a comma belongs."""
    word = text[token.start : token.end]
    if word in _OPERATORS or word == "++":
        return ZonFault(token.start, token.end, f"A rule file holds values only; `{word}` isn't one.")
    return ZonFault(token.start, token.end, f"`{word}` can't stand here. Write `,` between two entries.")


def about_trailing_dot(text: str, token: Token, before: Token) -> ZonFault:
    """The fault of `1.`, a number with nothing behind its point."""
    digits = text[before.start : before.end]
    return ZonFault(before.start, token.end, f"Write `{digits}.0` or `{digits}`.", f"{digits}.0")


def _about_name(text: str, token: Token, follows: str, after: Token) -> ZonFault:
    start, end = token.start, token.end
    word = text[start:end]
    condition = about_condition(text, start) if word == "not" or follows in ("and", "or") else None
    if condition is not None:
        return condition
    if word in _WORDS and follows != ".":
        return ZonFault(start, end, f"Write `{_WORDS[word]}` instead of `{word}`.", _WORDS[word])
    if follows == ":":
        said = f"This looks like YAML. Save it as `.yaml`, or write `.{{ .{word} = … }}`."
        return ZonFault(start, after.end, said)
    if follows == "{":
        said = f"Types aren't part of ZON. Write `.{{` in place of `{word}{{`."
        return ZonFault(start, end, said, ".")
    if follows == "." and after.start == end:
        said = f"`{word}.…` isn't a value. If it is text, put it in double quotes."
        return ZonFault(start, end, said)
    said = f'`{word}` alone means nothing. Write `"{word}"` for text, or `.{word}` for a choice.'
    return ZonFault(start, end, said)


def _about_text(word: str, start: int, end: int) -> ZonFault:
    quote = '"' if '"' in word[:2] else "'"
    closed = len(word) > 2 and word.endswith(quote)
    if closed and "\t" in word:
        at = start + word.index("\t")
        return ZonFault(at, at + 1, "A tab can't stand inside quotes. Write `\\t`.", "\\t")
    if closed:
        return ZonFault(start, end, "There is an invisible character inside these quotes. Delete it.")
    said = (
        "The quote opened here isn't closed on its line. Close it; in a text of several lines each begins with `\\\\`."
    )
    return ZonFault(start, start + 1, said)
