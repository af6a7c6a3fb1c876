"""Small texts with a shape of their own: a digest, a host name, a currency, a flag."""

import re
from collections.abc import Callable
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field
from pydantic_core import PydanticKnownError

from rulebook.languages.faults import Fault, LanguageError, refused

Entry = TypeVar("Entry")

_HOST = r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|[0-9a-f:]*:[0-9a-f:]*:[0-9a-f.:]*"


def read_digest(text: str) -> str:
    """A SHA-256 in hex, in small letters. Raises LanguageError with RB802."""
    if re.fullmatch(r"[0-9a-f]{64}", text):
        return text
    lowered = text.lower()
    if re.fullmatch(r"[0-9a-f]{64}", lowered):
        raise LanguageError(Fault("RB802", {"found": "capital letters"}, mended=lowered, safe=True))
    if re.fullmatch(r"sha256:[0-9a-f]{64}", lowered):
        raise LanguageError(Fault("RB802", {"found": "`sha256:` before it"}, mended=lowered[7:], safe=True))
    if len(text) != 64:
        raise LanguageError(Fault("RB802", {"found": f"{len(text)} characters"}))
    odd = next(character for character in text if character not in "0123456789abcdefABCDEF")
    raise LanguageError(Fault("RB802", {"found": f"a `{odd}`"}, start=text.index(odd), end=text.index(odd) + 1))


def read_host(text: str) -> str:
    """A host name in small letters, without scheme, port, path or final dot. Raises LanguageError: RB214."""
    name = text.lower().removesuffix(".")
    if re.fullmatch(_HOST, name):
        return name
    words = {"value": text, "what": "a host name", "example": "`example.com`"}
    bare = re.sub(r"^[a-z][a-z0-9+.-]*://", "", name).split("/", 1)[0].removeprefix("*.")
    bare = re.sub(r":\d+$", "", bare)
    mended = bare if bare != name and re.fullmatch(_HOST, bare) else None
    raise LanguageError(
        Fault(
            "RB214",
            words,
            help="Its subdomains are meant too; leave out the port and the path.",
            mended=mended,
        )
    )


def read_currency(text: str) -> str:
    """A currency as three capital letters. Raises LanguageError with RB214."""
    if re.fullmatch(r"[A-Z]{3}", text):
        return text
    mended = text.upper() if re.fullmatch(r"[A-Za-z]{3}", text) else None
    words = {"value": text, "what": "a currency", "example": "`USD`"}
    raise LanguageError(Fault("RB214", words, mended=mended, safe=mended is not None))


def money_in(text: str) -> tuple[str, str] | None:
    """The amount and the currency that a text such as `0.50 USD` or `$0.50` names; None when it names none."""
    found = re.fullmatch(r"([$€£]|[A-Za-z]{3}(?= ))? ?([0-9]+(?:\.[0-9]+)?) ?([€£$]|[A-Za-z]{3})?", text.strip())
    sign = (found[1] or found[3] or "") if found else ""
    currency = {"$": "USD", "€": "EUR", "£": "GBP"}.get(sign, sign.upper())
    return (found[2], currency) if found and currency else None


def said(key: str) -> Callable[[bool], bool]:
    """A validator for the flag `key`: `false` asks for nothing, and that is said rather than passed over."""

    def validate(wanted: bool) -> bool:
        if wanted:
            return wanted
        why = "`false` asks for nothing; write `true`, or remove it."
        raise refused(LanguageError(Fault("RB215", {"key": key, "why": why})))

    return validate


def _validator(read: Callable[[str], str]) -> Callable[[str], str]:
    def validate(text: str) -> str:
        try:
            return read(text)
        except LanguageError as error:
            raise refused(error) from error

    return validate


Sha256 = Annotated[str, AfterValidator(_validator(read_digest)), Field(json_schema_extra={"pattern": "^[0-9a-f]{64}$"})]
"""A SHA-256 digest in hex."""

HostName = Annotated[str, AfterValidator(_validator(read_host))]
"""The name of a host, or its address."""

Currency = Annotated[str, AfterValidator(_validator(read_currency)), Field(json_schema_extra={"pattern": "^[A-Z]{3}$"})]
"""A currency such as `USD`."""

Named = Annotated[str, Field(min_length=1)]
"""A name that is not empty."""


def _one_or_more(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    # `min_length` counts the right entries only, and would be reported beside a wrong one.
    if not entries:
        raise PydanticKnownError("too_short", {"field_type": "Tuple", "min_length": 1, "actual_length": 0})
    return entries


Several = Annotated[
    tuple[Entry, ...], Field(strict=False, json_schema_extra={"minItems": 1}), AfterValidator(_one_or_more)
]
"""A list with one entry or more."""
