"""What a judge model decided, read out of its reply: tolerant of form, never of doubt."""

import re

from msgspec import Struct

from rulebook.ports import ModelReply

_MARKS = r"[\s*_`~#>\"'“”‘’«»()\[\]{}.•+\-–—]*"
_COLON = rf"[\s*_`~\"']*(?:[:=–—-]{_MARKS}(?P<rest>.*)|$)"
_VERDICT = re.compile(rf"{_MARKS}(?:the |my |final )*verdict\b(?: is)?{_COLON}", re.I | re.S)
_LABEL = re.compile(
    rf"{_MARKS}(?:the |my |final )*(?:answer|result|decision|judge?ment|conclusion|response)\b(?: is)?{_COLON}",
    re.I | re.S,
)
_REASON = re.compile(rf"{_MARKS}reason(?:ing)?\b{_COLON}", re.I | re.S)
_WORD = re.compile(rf"{_MARKS}(?P<word>yes|no)\b(?!['’]\w)(?P<rest>.*)", re.I | re.S)
_BOTH = re.compile(r"[\s*_`]*(?:[|/]|and\b|or\b|)[\s*_`]*(?:yes|no)\b", re.I)
_LOOKED_AT_CHARACTERS = 400
"""How much of a line is looked at: what decides stands at its beginning."""

MAX_REASON_CHARACTERS = 2_000


class Verdict(Struct, frozen=True):
    """Whether a criterion is met, None where the reply does not say; `reason` is the model's, or why it does not."""

    met: bool | None
    reason: str


def verdict_of(reply: ModelReply) -> Verdict:
    """What a reply to the rubric's question says.

    The last `VERDICT:` line decides. Without one it is the first line's opening word, as a whole word, past markdown,
    quotes and a label. A reply that says both, was cut short before its verdict, or says neither is unreadable.
    """
    if reply.finish == "refused":
        return Verdict(None, "the model refused to answer")
    text = _without_thoughts(reply.text.strip())
    if text is None:
        return Verdict(None, "the reply was cut short while the model was still thinking")
    if not text:
        return Verdict(None, "the reply was empty" + (", cut short" if reply.finish == "length" else ""))
    lines = text.splitlines()
    found = [number for number, line in enumerate(lines) if _VERDICT.match(line[:_LOOKED_AT_CHARACTERS])]
    if found:
        last = found[-1]
        return _decided(_behind(lines, last), _reason_in(lines[:last] + lines[last + 1 :]), text)
    if reply.finish == "length":
        return Verdict(None, "the reply was cut short before its verdict")
    label = _LABEL.match(lines[0][:_LOOKED_AT_CHARACTERS])
    return _decided(label["rest"] or "" if label else lines[0], _reason_in(lines[1:]), text)


def _without_thoughts(text: str) -> str | None:
    """The text behind what some models think aloud first; None where that never ends."""
    opening = re.match(r"<think(?:ing)?>", text, re.I)
    if opening is None:
        return text
    closing = re.search(r"</think(?:ing)?>", text, re.I)
    return text[closing.end() :].strip() if closing else None


def _behind(lines: list[str], number: int) -> str:
    """What stands behind the `VERDICT:` of a line, or on the next line that is not empty."""
    found = _VERDICT.match(lines[number][:_LOOKED_AT_CHARACTERS])
    rest = (found["rest"] or "").strip() if found else ""
    return rest or next((line for line in lines[number + 1 :] if line.strip()), "")


def _decided(opening: str, reason: str, text: str) -> Verdict:
    found = _WORD.match(opening[:_LOOKED_AT_CHARACTERS])
    if found is None or _BOTH.match(found["rest"]):
        return Verdict(None, f"the reply says neither YES nor NO: {_shortened(text)}")
    rest = found["rest"].strip(" \t*_`~\"'“”’.,:;–—-")
    return Verdict(found["word"].lower() == "yes", _shortened(reason or rest) or "no reason was given")


def _reason_in(lines: list[str]) -> str:
    """What stands behind `REASON:`, else all of it."""
    for number, line in enumerate(lines):
        found = _REASON.match(line[:_LOOKED_AT_CHARACTERS])
        if found is not None:
            return "\n".join([line[found.start("rest") :] if found["rest"] else "", *lines[number + 1 :]])
    return "\n".join(lines)


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_REASON_CHARACTERS else words[: MAX_REASON_CHARACTERS - 1] + "…"
