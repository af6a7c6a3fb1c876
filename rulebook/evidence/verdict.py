"""What a judge model decided, read out of its reply: tolerant of form, never of doubt."""

import re

from msgspec import Struct

from rulebook.model_port import ModelReply

_MARKS = r"[\s*_`~#>\"'“”‘’«»()\[\]{}.•+\-–—]*"
_COLON = rf"[\s*_`~\"']*(?:[:=–—-]{_MARKS}(?P<rest>.*)|$)"
_VERDICT = re.compile(rf"{_MARKS}(?:the |my |final )*verdict\b(?: is)?{_COLON}", re.I | re.S)
_LABEL = re.compile(
    rf"{_MARKS}(?:the |my |final )*(?:answer|result|decision|judge?ment|conclusion|response)\b(?: is)?{_COLON}",
    re.I | re.S,
)
_REASON = re.compile(rf"{_MARKS}reason(?:ing)?\b{_COLON}", re.I | re.S)
_WORD = re.compile(rf"{_MARKS}(?P<word>yes|no)\b(?!['’\-‐‑]\w)(?P<rest>.*)", re.I | re.S)
_BOTH = re.compile(r"[\s*_`]*(?:[|/]|and\b|or\b|)[\s*_`]*(?:yes|no)\b|[\W_]*(?:yes|no)[\W_]*$", re.I)
_THOUGHT = re.compile(r"\s*<think(?:ing)?>(?:.*?</think(?:ing)?>|(?P<endless>.*))|\s*</think(?:ing)?>", re.I | re.S)
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_LOOKED_AT_CHARACTERS = 400
"""How much of a line is looked at: what decides stands at its beginning."""

MAX_REASON_CHARACTERS = 2_000


class Verdict(Struct, frozen=True):
    """Whether a criterion is met, None where the reply does not say; `reason` is the model's, or why it does not."""

    met: bool | None
    reason: str


def verdict_of(reply: ModelReply) -> Verdict:
    """What a reply to the rubric's question says.

    The `VERDICT:` line decides. Without one it is the first line's opening word, as a whole word, past markdown,
    quotes and a label. A reply that says both, in one line or in two, was cut short before its verdict, or says
    neither is unreadable: one of two verdicts may be the work's own, which the model only quotes.
    """
    if reply.finish == "refused":
        return Verdict(None, "the model refused to answer")
    text = _without_thoughts(_UNSEEN.sub("", reply.text).strip())
    if text is None:
        return Verdict(None, "the reply was cut short while the model was still thinking")
    if not text:
        return Verdict(None, "the reply was empty" + (", cut short" if reply.finish == "length" else ""))
    lines = text.splitlines()
    found = [number for number, line in enumerate(lines) if _VERDICT.match(line[:_LOOKED_AT_CHARACTERS])]
    if found:
        last = found[-1]
        if len({_word_in(_behind(lines, number)) for number in found} - {None}) > 1:
            return Verdict(None, f"the reply has two verdicts: {_shortened(text)}")
        return _decided(_behind(lines, last), _reason_in(lines[:last] + lines[last + 1 :]), text)
    if reply.finish == "length":
        return Verdict(None, "the reply was cut short before its verdict")
    label = _LABEL.match(lines[0][:_LOOKED_AT_CHARACTERS])
    opening, further = label["rest"] or "" if label else lines[0], _reason_in(lines[1:])
    bare = _BOTH.fullmatch(further[:_LOOKED_AT_CHARACTERS])
    if bare is not None and _word_in(further) != _word_in(opening):
        return Verdict(None, f"the reply has two verdicts: {_shortened(text)}")
    return _decided(opening, further, text)


def _without_thoughts(text: str) -> str | None:
    """The text behind what some models think aloud first; None where that never ends."""
    at = 0
    while found := _THOUGHT.match(text, at):
        if found["endless"] is not None:
            return None
        at = found.end()
    return text[at:].strip()


def _behind(lines: list[str], number: int) -> str:
    """What stands behind the `VERDICT:` of a line, or on the next line that is not empty."""
    found = _VERDICT.match(lines[number][:_LOOKED_AT_CHARACTERS])
    rest = (found["rest"] or "").strip() if found else ""
    return rest or next((line for line in lines[number + 1 :] if line.strip()), "")


def _word_in(opening: str) -> str | None:
    found = _WORD.match(opening[:_LOOKED_AT_CHARACTERS])
    return None if found is None else found["word"].lower()


def _decided(opening: str, reason: str, text: str) -> Verdict:
    found = _WORD.match(opening[:_LOOKED_AT_CHARACTERS])
    if found is None or _BOTH.match(found["rest"]):
        return Verdict(None, f"the reply says neither YES nor NO: {_shortened(text)}")
    rest = found["rest"].strip(" \t*_`~\"'“”’.,:;–—-")
    told = next((part for part in (reason, rest) if re.search(r"[^\W_]", part)), "no reason was given")
    return Verdict(found["word"].lower() == "yes", _shortened(told))


def _reason_in(lines: list[str]) -> str:
    """What stands behind `REASON:`, else all of it."""
    for number, line in enumerate(lines):
        found = _REASON.match(line[:_LOOKED_AT_CHARACTERS])
        if found is not None:
            return "\n".join([line[found.start("rest") :] if found["rest"] else "", *lines[number + 1 :]])
    return "\n".join(lines)


def _shortened(text: str) -> str:
    words = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * MAX_REASON_CHARACTERS]).split())
    return words if len(words) <= MAX_REASON_CHARACTERS else words[: MAX_REASON_CHARACTERS - 1] + "…"
