"""YAML faults of the left margin: tabs, uneven columns, and words that stand alone."""

import re

from rulebook.diagnostic import Edit
from rulebook.source.look_alikes import LOOK_ALIKES, first_look_alike, without_look_alikes, words_for
from rulebook.source.yaml_builder import Builder
from rulebook.source.yaml_mend import Mend, SyntaxFault, sentence

_LEAD = re.compile(r"[ \t]*")
_ENTRY = re.compile(r"(?P<dashes>(?:-[ \t]+)*)(?P<key>[^\s#:][^#:]*?)[ \t]*:(?=\s|$)")
_GLUED = re.compile(r"(?:-[ ]+)*(?P<key>[A-Za-z_][\w.-]*):(?P<rest>[^\s/].*)")
_BARE = re.compile(r"(?:-[ ]+)*(?P<word>[^\s:#][^:#]*?)[ \t]*(?:#.*)?$")


def tab_indent(builder: Builder, fault: SyntaxFault) -> Mend | None:
    """A line that is indented with a tab; every other line that begins with one is changed with it."""
    text = builder.text
    start, end = builder.lines.bounds(fault.position)
    lead = _lead(text[start:end])
    if "\t" not in lead or not fault.says("cannot start any token", "tab character", "mapping values"):
        return None
    edits: list[Edit] = []
    widths: dict[str, int] = {}
    before, above = 0, ""
    for place, line in _lines(text, 0, len(text)):
        if not line.strip() and place != start:
            continue
        this = _lead(line)
        if this.startswith("\t") or place == start:
            if not above.startswith("\t") or this not in widths:
                widths[this] = _width(text, place, before, this)
            edits.append(Edit(place, place + len(this), " " * widths[this]))
            before = widths[this]
        else:
            before = len(this)
        above = line
    mended = " " * widths[lead] + text[start + len(lead) : end]
    return Mend("RB103", start, start + len(lead), {}, tuple(edits), mended, safe=True)


def uneven_indent(builder: Builder, fault: SyntaxFault) -> Mend | None:
    """A key that starts left or right of the keys that it belongs with."""
    text = builder.text
    start, end = builder.lines.bounds(fault.position)
    line = text[start:end]
    indent = len(_lead(line))
    entry = _ENTRY.match(line, indent)
    above = _line_above(text, start)
    if above is None or fault.says("could not find expected ':'"):
        return None
    if entry is None or fault.position not in (start + indent, start + entry.end() - 1):
        return _list_beside_keys(line, indent, start, fault)
    previous = above[1]
    wanted = _key_column(previous)
    if "'-' indicator" in fault.problem:
        return _list_beside_keys(line, indent, start, fault)
    if wanted is None or _BARE.match(previous, len(_lead(previous))):
        return None
    if wanted == indent:
        return None
    edits = tuple(_shifted(text, start, indent, wanted))
    key = entry.group("key")
    words: dict[str, object] = {"key": key, "found": indent + 1, "wanted": wanted + 1}
    at = start + entry.start("key")
    return Mend("RB104", at, at + len(key), words, edits, " " * wanted + line[indent:])


def missing_colon(builder: Builder, fault: SyntaxFault) -> Mend | None:
    """A word that stands where a key belongs, with no `: ` after it."""
    text = builder.text
    for offset in dict.fromkeys((fault.context, fault.position)):
        start, end = builder.lines.bounds(offset)
        if fault.says("mapping values are not allowed"):
            above = _line_above(text, start)
            start, end = (above[0], above[0] + len(above[1])) if above else (start, end)
        line = text[start:end]
        indent = len(_lead(line))
        found = first_look_alike(text, start, end)
        if found is not None and LOOK_ALIKES[text[found]][1] in (":", " "):
            mended = re.sub(r":(?=\S)", ": ", without_look_alikes(line), count=1)
            edits = (Edit(start, end, mended),)
            return Mend("RB120", found, found + 1, words_for(text[found]), edits, mended)
        if glued := _GLUED.match(line, indent):
            mended = f"{glued['key']}: {glued['rest']}"
            place = start + glued.end("key") + 1
            said = f"A space is missing after the `:`. Write `{mended}`."
            return sentence(said, place - 1, place, (Edit(place, place, " "),), mended)
        if (bare := _BARE.match(line, indent)) and not line.strip().startswith(("[", "{", "'", '"')):
            word = bare["word"]
            place = start + bare.end("word")
            said = f"`{word}` stands alone here. A key needs `:` after it, and a list entry `- ` before it."
            return sentence(said, start + bare.start("word"), place, (Edit(place, place, ":"),), f"{word}:")
    return None


def _list_beside_keys(line: str, indent: int, start: int, fault: SyntaxFault) -> Mend | None:
    if line.startswith("- ", indent) and fault.position == start + indent and fault.says("key", "block end"):
        said = "A list entry can't stand beside keys. Indent it under the key that it belongs to."
        return sentence(said, start + indent, start + indent + 1)
    if fault.says("'-' indicator") and fault.position == start + indent:
        said = "A key can't stand beside the entries of a list. Indent it, or end the list above it."
        return sentence(said, start + indent, start + len(line))
    return None


def _shifted(text: str, start: int, indent: int, wanted: int) -> list[Edit]:
    edits = []
    for place, line in _lines(text, start, len(text)):
        this = len(_lead(line))
        if line.strip() and place != start and this < max(indent, 1):
            break
        if line.strip() and (place == start or this >= indent):
            edits.append(Edit(place, place + this, " " * max(0, this - indent + wanted)))
    return edits


def _width(text: str, place: int, before: int, lead: str) -> int:
    above = _line_above(text, place)
    if above is None:
        return 0
    if above[1].split(" #")[0].rstrip().endswith((":", "|", "|-", ">", ">-")):
        return before + 2 + (len(above[1].lstrip()) - len(above[1].lstrip("- \t")))
    return len(lead.expandtabs(2)) if "\t" in _lead(above[1]) else before


def _key_column(line: str) -> int | None:
    indent = len(_lead(line))
    entry = _ENTRY.match(line, indent)
    return entry.start("key") if entry else None


def _line_above(text: str, start: int) -> tuple[int, str] | None:
    """The nearest line before the one that starts at `start` that holds more than a comment."""
    while start > 0:
        end = start - 1
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].rstrip("\r")
        if line.strip() and not line.lstrip().startswith("#"):
            return start, line
    return None


def _lines(text: str, start: int, end: int) -> list[tuple[int, str]]:
    """The lines from `start` on with their offsets, line breaks left out."""
    found = []
    while start < end:
        stop = text.find("\n", start)
        stop = end if stop < 0 else stop
        found.append((start, text[start:stop].rstrip("\r")))
        start = stop + 1
    return found


def _lead(line: str) -> str:
    lead = _LEAD.match(line)
    return lead.group() if lead else ""
