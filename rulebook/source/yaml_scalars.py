"""What a plain YAML word means: YAML 1.2's core schema, with `true` and `false` as the only yes and no.

Beside the meaning stand the words that other readers understand otherwise, so that nobody is surprised.
"""

import re
from decimal import Decimal
from math import isinf

from msgspec import Struct

MAX_DIGITS = 18

_NUMBER = (
    r"(?P<int>[-+]?[0-9]+)|(?P<octal>0o[0-7]+)|(?P<hex>0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<inf>[-+]?\.(?:inf|Inf|INF))|(?P<nan>\.(?:nan|NaN|NAN))"
)
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
_NUMBER_STARTS = frozenset("+-.0123456789")


class TooManyDigits(Struct, frozen=True):
    """A number that no reader keeps exactly: a plain word of `digits` digits, or beyond all (None)."""

    digits: int | None


def plain_value(word: str) -> object:
    """What a plain word means: yes or no, nothing, a number, TooManyDigits, or the word itself."""
    if word[:1] in _NUMBER_STARTS:
        if len(word) <= MAX_DIGITS and word.isdigit() and word.isascii():
            return int(word)
        match = re.fullmatch(_NUMBER, word)
        return word if match is None else _number(word, match.lastgroup)
    return _WORDS.get(word, word)


def _number(word: str, kind: str | None) -> object:
    match kind:
        case "int" | "octal" | "hex":
            digits = len(word.lstrip("+-0ox"))
            if digits > MAX_DIGITS:
                return TooManyDigits(digits)
            return int(word, {"int": 10, "octal": 8, "hex": 16}[kind])
        case "float":
            number = float(word)
            return TooManyDigits(None) if isinf(number) else number
        case "inf":
            return float("-inf") if word[0] == "-" else float("inf")
        case _:
            return float("nan")


class TwoReadings(Struct, frozen=True):
    """How we read a word, how many other tools do, and the spelling that everybody reads as they do.

    `same` is the spelling that everybody reads as we do. `yes_or_no`: the others take the word for one of these.
    """

    ours: str
    theirs: str
    plain: str
    same: str
    yes_or_no: bool = False


_YES = ("yes", "Yes", "YES", "on", "On", "ON", "y", "Y", "True", "TRUE")
_NO = ("no", "No", "NO", "off", "Off", "OFF", "n", "N", "False", "FALSE")
_ELSEWHERE = {
    **dict.fromkeys(_YES, ("yes (true)", "true")),
    **dict.fromkeys(_NO, ("no (false)", "false")),
    **dict.fromkeys(("Null", "NULL"), ("nothing", "null")),
}
_SIXTIES = r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+"
_GROUPED = r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]*_[0-9a-fA-F_]*|[1-9][0-9_]*_[0-9_]*)"
_LEADING_ZERO = r"[-+]?0[0-9]+"
_EXPONENT = r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+"
_EXPONENT_FOR_ALL = r"[-+]?[0-9]+\.[0-9]*[eE][-+][0-9]+"


def two_readings(word: str) -> TwoReadings | None:
    """What YAML 1.1 tools make of a plain word that we read otherwise, or None where all agree."""
    if word in _ELSEWHERE:
        theirs, plain = _ELSEWHERE[word]
        return TwoReadings("text", theirs, plain, f"'{word}'", plain != "null")
    if word[:1] not in _NUMBER_STARTS or len(word) > MAX_DIGITS + 8:
        return None
    if word.isdigit() and word[0] != "0":
        return None  # the common whole number, without a look at the rare forms
    if re.fullmatch(_SIXTIES, word):
        return _text_for_us(word, _base_sixty(word))
    if re.fullmatch(_GROUPED, word):
        return _text_for_us(word, _grouped(word))
    if re.fullmatch(_LEADING_ZERO, word):
        return _leading_zero(word)
    if re.fullmatch(_EXPONENT, word) and not re.fullmatch(_EXPONENT_FOR_ALL, word):
        same = _exponent_for_all(word)
        return TwoReadings(f"the number {float(word):g}", "text", same, same)
    return None


def yes_or_no(word: str) -> bool | None:
    """What a word such as `yes` or `Off` means to many other tools; None when it is none of these."""
    theirs = _ELSEWHERE.get(word, ("", ""))[1]
    return None if theirs not in ("true", "false") else theirs == "true"


def digits_lost(word: str, value: object) -> str | None:
    """The number that is left of a plain word that was written with more, or None where nothing is lost."""
    if type(value) is int:
        return str(value) if "0" in word[:2] and value and re.fullmatch(_LEADING_ZERO, word) else None
    if type(value) is not float or not word.strip("+-").replace(".", "", 1).isdigit():
        return None
    whole, _, fraction = word.strip("+-").partition(".")
    looks_like_a_version = whole.strip("0") != "" and fraction.endswith("0") and fraction.strip("0") != ""
    if looks_like_a_version or Decimal(word) != Decimal(repr(value)):
        return repr(value)
    return None


def _text_for_us(word: str, number: int) -> TwoReadings:
    return TwoReadings("text", f"the number {number}", str(number), f"'{word}'")


def _base_sixty(word: str) -> int:
    total = 0
    for part in word.strip("+-").replace("_", "").split(":"):
        total = total * 60 + int(part)
    return -total if word[0] == "-" else total


def _grouped(word: str) -> int:
    plain = word.replace("_", "")
    bare = plain.lstrip("+-")
    base = {"0b": 2, "0x": 16}.get(bare[:2], 10)
    return int(plain, base) if len(bare) > 2 or base == 10 else 0


def _leading_zero(word: str) -> TwoReadings | None:
    ours = int(word)
    octal = all(c in "01234567" for c in word.lstrip("+-"))
    theirs = int(word.lstrip("+-"), 8) * (-1 if word[0] == "-" else 1) if octal else None
    if theirs == ours:
        return None
    seen = "text" if theirs is None else f"the number {theirs}"
    return TwoReadings(f"the number {ours}", seen, str(ours), str(ours))


def _exponent_for_all(word: str) -> str:
    mantissa, exponent = re.split("[eE]", word, maxsplit=1)
    mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{mantissa}e{exponent if exponent[0] in '+-' else '+' + exponent}"
