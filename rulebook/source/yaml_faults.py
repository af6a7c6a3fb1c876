"""From a YAML parser's error to what the author did: one small question after the other, the surest first."""

import re

from rulebook.diagnostic import Edit
from rulebook.source import limits
from rulebook.source.look_alikes import first_look_alike, without_look_alikes, words_for
from rulebook.source.yaml_builder import Builder
from rulebook.source.yaml_flow import comment_that_closes, meant_end
from rulebook.source.yaml_indent import missing_colon, tab_indent, uneven_indent
from rulebook.source.yaml_mend import Mend, SyntaxFault, quoting, sentence
from rulebook.source.yaml_quoting import item_around, quoted, value_of_line

_ESCAPES = re.compile(r"""\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^xuU])""")
_LEGAL = frozenset('0abt\tnvfre "/\\N_LPxuU')
_ESCAPE_PROBLEMS = ("escape", "hexdecimal", "hexadecimal", "Unicode character")
_HEADER_PROBLEMS = ("comment or line break", "comment or a line break", "chomping", "block scalar")
_STARTS_ANEW = re.compile(r"\n[ \t]*(?:- |[\w.-]+:(?:\s|$))")
_SPECIALS = frozenset("%@`*&!|>-?,]}[{:")
_CURLY = frozenset("\u201c\u201d\u201e\u2018\u2019\u201a")


def mend_for(builder: Builder, fault: SyntaxFault) -> Mend:
    """What the author should hear about `fault`, and the change that gets a parser past it."""
    if fault.says("nesting depth"):
        return Mend("RB119", fault.position, fault.position, limits.LEVELS, help=limits.LEVELS_HELP)
    for ask in (
        tab_indent,
        _bad_escape,
        _unclosed_quote,
        _quote_closed_late,
        _sign_in_value,
        _text_after_quote,
        _curly_quote,
        _text_after_group,
        _directive,
        _block_header,
        _special_start,
        _colon_in_text,
        _hash_in_group,
        _cut_by_hash,
        _unclosed_group,
        uneven_indent,
        missing_colon,
    ):
        mend = ask(builder, fault)
        if mend is not None:
            return mend
    return _unknown(builder, fault)


def _bad_escape(builder: Builder, fault: SyntaxFault) -> Mend | None:
    text, start = builder.text, fault.context
    if not fault.says(*_ESCAPE_PROBLEMS) or text[start : start + 1] != '"':
        return None
    end = start + 1
    while end < len(text) and text[end] not in '"\n':
        end += 2 if text[end] == "\\" else 1
    if text[end : end + 1] != '"':
        return _unclosed(builder, start)
    inside = text[start + 1 : end]
    slash = text.find("\\", max(start, fault.position - 1), end)
    slash = slash if slash >= 0 else start + 1 + inside.index("\\")
    letter = text[slash + 1]
    legal = [found for found in _ESCAPES.findall(inside) if found[1] in _LEGAL and found != '\\"']
    if legal:
        doubled = re.sub(r"\\(.)", lambda m: m.group() if m[1] in _LEGAL else "\\" + m.group(), inside)
        mended = f'"{doubled}"'
    else:
        mended = quoted(inside.replace('\\"', '"'))
    words: dict[str, object] = {"char": letter, "quoted": mended}
    edits = (Edit(start, end + 1, mended),)
    return Mend("RB107", slash, slash + 2, words, edits, mended, safe=letter not in "xuU")


def _unclosed_quote(builder: Builder, fault: SyntaxFault) -> Mend | None:
    opened = builder.text.startswith(("'", '"'), fault.context)
    if opened and fault.says("unexpected end of stream", "unexpected document"):
        return _unclosed(builder, fault.context)
    return None


def _quote_closed_late(builder: Builder, fault: SyntaxFault) -> Mend | None:
    if builder.last_quoted is None:
        return None
    start, end = builder.last_quoted
    raw = builder.text[start:end]
    near = builder.lines.number(end) in (
        builder.lines.number(fault.position),
        builder.lines.number(fault.context),
    )
    if near and fault.position >= end and _STARTS_ANEW.search(raw):
        return _unclosed(builder, start)
    return None


def _unclosed(builder: Builder, start: int) -> Mend:
    line_start, line_end = builder.lines.bounds(start)
    rest = builder.text[start:line_end].rstrip()
    if builder.in_flow or builder.text[line_start:start].rstrip()[-1:] in ("[", "{", ","):
        rest = rest.rstrip("]}, ")
    place = max(start + 1, start + len(rest))
    quote = builder.text[start]
    mended = builder.text[start:place] + quote
    return Mend("RB108", start, start + 1, {}, (Edit(place, place, quote),), mended)


def _text_after_quote(builder: Builder, fault: SyntaxFault) -> Mend | None:
    text = builder.text
    if builder.last_quoted is None or fault.position < builder.last_quoted[1]:
        return None
    start, end = builder.last_quoted
    follows = text[fault.position : fault.position + 1]
    if not follows.strip() or "\n" in text[start : fault.position] or text[end : fault.position].strip():
        return None
    closed = _meant_end_of_quoted(builder, start, end)
    if closed is not None:
        mended = quoted(text[start + 1 : closed - 1])
        advice = "Write it twice" if text[start] == "'" else "Put single quotes round the whole text"
        said = f"The `{text[start]}` inside this text ends it early. {advice}: `{mended}`."
        return sentence(said, fault.position, closed, (Edit(start, closed, mended),), mended)
    value_start, value_end = _value_around(builder, start)
    mended = quoted(text[value_start:value_end])
    said = f"Text follows the closing quote. Put quotes round the whole value: `{mended}`."
    return sentence(said, fault.position, value_end, (Edit(value_start, value_end, mended),), mended)


def _meant_end_of_quoted(builder: Builder, start: int, end: int) -> int | None:
    """Where a text with its own quote inside (`'it's done'`), which ends at `end`, was meant to end; None: there."""
    past = r"[ \t]*(?:[,\]}]|[ \t]#|$)" if builder.in_flow else r"[ \t]*(?:[ \t]#|$)"
    line_end = builder.lines.bounds(start)[1]
    found = re.compile(f"\\S{builder.text[start]}(?={past})").search(builder.text[:line_end], end)
    return found.end() if found else None


def _curly_quote(builder: Builder, fault: SyntaxFault) -> Mend | None:
    text = builder.text
    start, end = _value_around(builder, fault.position)
    if start >= end or text[start] not in _CURLY:
        return None
    inside = text[start + 1 : end]
    mended = quoted(inside[:-1] if inside[-1:] in _CURLY else inside)
    return Mend("RB120", start, start + 1, words_for(text[start]), (Edit(start, end, mended),), mended)


def _text_after_group(builder: Builder, fault: SyntaxFault) -> Mend | None:
    """`{{ x }}/y` or `[0-9]+`: a value that begins with a bracket and goes on after the closing one."""
    text = builder.text
    start, end = builder.last
    line = builder.lines.number(start)
    if text[start : start + 1] not in ("[", "{") or line != builder.lines.number(fault.position):
        return None
    if fault.position < end or text[end : fault.position].strip():
        return None
    value_start, value_end = _value_around(builder, start)
    at = fault.position
    if text.startswith(("]", "}"), at):
        edits = (Edit(at, at + 1, ""),)
        return Mend("RB109", start, start + 1, {"bracket": text[start]}, edits, text[value_start:at])
    if text.startswith("{{", start):
        return quoting("RB114", text, value_start, max(value_end, end))
    return quoting("RB109", text, value_start, max(value_end, end), (start, start + 1), bracket=text[start])


def _directive(builder: Builder, fault: SyntaxFault) -> Mend | None:
    start, end = builder.lines.bounds(min(fault.context, fault.position))
    if not builder.text.startswith("%", start):
        return None
    return sentence("A line that starts with `%` is not part of the rule language. Leave it out.", start, end)


def _block_header(builder: Builder, fault: SyntaxFault) -> Mend | None:
    """`|` or `>` with text behind it, where more text follows on deeper lines."""
    text, start = builder.text, fault.context
    line_start, line_end = builder.lines.bounds(start)
    if text[start : start + 1] not in ("|", ">") or not fault.says(*_HEADER_PROBLEMS):
        return None
    below_start, below_end = builder.lines.bounds(min(line_end + 2, len(text)))
    margins = [len(line) - len(line.lstrip()) for line in (text[line_start:line_end], text[below_start:below_end])]
    if line_end >= len(text) or below_start <= line_start or margins[1] <= margins[0]:
        return None
    said = f"The text of a `{text[start]}` begins on the next line; nothing can stand behind the sign."
    return sentence(said, start, line_end, (Edit(start + 1, line_end, ""),), text[line_start : start + 1])


def _special_start(builder: Builder, fault: SyntaxFault) -> Mend | None:
    text = builder.text
    if not fault.says(
        "cannot start any token",
        "alphabetic or numeric",
        *_HEADER_PROBLEMS,
        "sequence entries are not allowed",
        "mapping keys are not allowed",
        "node content",
        "tag",
        "'!'",
        "'>'",
    ):
        return None
    if builder.in_flow and text.startswith(",", fault.position):
        place = fault.position
        edits = (Edit(place, place + 1, ""),)
        return sentence("There is nothing before this `,`. Leave it out.", place, place + 1, edits)
    start, end = _value_around(builder, fault.context)
    if start >= end:
        return None
    if text[start] in _SPECIALS and builder.lines.number(start) == builder.lines.number(fault.context):
        return quoting("RB105", text, start, end, char=text[start])
    return None


def _colon_in_text(builder: Builder, fault: SyntaxFault) -> Mend | None:
    if not fault.says("mapping values are not allowed"):
        return None
    text, place = builder.text, fault.position
    start, end = _value_around(builder, place)
    line_start = builder.lines.bounds(place)[0]
    if start <= place < end and text[line_start:start].rstrip().endswith((":", "-")):
        return quoting("RB106", text, start, end, (place, place + 1))
    return None


def _hash_in_group(builder: Builder, fault: SyntaxFault) -> Mend | None:
    """`{contains: issue #12}`: a comment that swallows the bracket."""
    if not fault.says("',' or ']'", "',' or '}'"):
        return None
    text, (start, end) = builder.text, builder.last
    glues = fault.context < start and not text.startswith(("'", '"', "[", "{"), start)
    for line_of, past in ((start, end), (fault.context, fault.context)):
        line_start, line_end = builder.lines.bounds(line_of)
        line = text[line_start:line_end]
        place = comment_that_closes(line, past - line_start) if past >= fault.context else None
        if place is None:
            continue
        place += line_start
        first = start if glues and past == end and not text[end:place].strip(" \t") else place
        whole = meant_end(line, first - line_start)
        if whole is not None:
            mended = quoted(text[first : line_start + whole])
            said = f"A ` #` starts a comment and hides the rest of the line. Put the text in quotes: `{mended}`."
            return sentence(said, place, line_end, (Edit(first, line_start + whole, mended),), mended)
    return None


def _sign_in_value(builder: Builder, fault: SyntaxFault) -> Mend | None:
    """`{expr: max(a, "b")}`: a plain value inside `{…}` that a comma or another sign ends too soon."""
    start = builder.plain_before
    if start is None or not fault.says("',' or '}'"):
        return None
    text, (line_start, line_end) = builder.text, builder.lines.bounds(start)
    length = meant_end(text[line_start:line_end], start - line_start)
    if length is None or not start < fault.position < line_start + length:
        return None
    end = line_start + length
    sign = re.compile(r"[,{}\[\]]|:(?=\s)").search(text, start, end)
    if sign is None:
        return None
    if sign.group() == ":":
        return quoting("RB106", text, start, end, sign.span())
    mended = quoted(text[start:end])
    what = "comma" if sign.group() == "," else f"`{sign.group()}`"
    said = f"A {what} ends a value inside `{{ }}`. Put the whole value in quotes: `{mended}`."
    return sentence(said, start, end, (Edit(start, end, mended),), mended)


def _unclosed_group(builder: Builder, fault: SyntaxFault) -> Mend | None:
    if not fault.says("',' or ']'", "',' or '}'"):
        return None
    text, start = builder.text, fault.context
    closer = {"[": "]", "{": "}"}.get(text[start : start + 1])
    if closer is None:
        return None
    line_end = builder.lines.bounds(start)[1]
    place = start + len(text[start:line_end].rstrip().rstrip(","))
    if builder.lines.number(fault.position) == builder.lines.number(start):
        item_start, item_end = _value_around(builder, fault.position)
        if item_start < fault.position < item_end:
            return quoting("RB109", text, item_start, item_end, (start, start + 1), bracket=text[start])
    mended = text[start:place] + closer
    edits = (Edit(place, place, closer),)
    return Mend("RB109", start, start + 1, {"bracket": text[start]}, edits, mended)


def _cut_by_hash(builder: Builder, fault: SyntaxFault) -> Mend | None:
    start, end = builder.last
    line_end = builder.lines.bounds(end)[1]
    if fault.position <= line_end or not re.match(r"[ \t]+#", builder.text[end:line_end]):
        return None
    if builder.text[line_end : fault.position].strip():
        return None
    said = "A ` #` starts a comment and ends the text here, but the text goes on below. Put it in quotes."
    mended = quoted(builder.text[start:line_end])
    return sentence(said, end, line_end, (), mended)


def _unknown(builder: Builder, fault: SyntaxFault) -> Mend:
    text, place = builder.text, min(fault.position, max(0, len(builder.text) - 1))
    start, end = builder.lines.bounds(place)
    found = first_look_alike(text, start, end)
    if found is not None:
        mended = without_look_alikes(text[start:end])
        return Mend("RB120", found, found + 1, words_for(text[found]), (Edit(start, end, mended),), mended)
    word = re.match(r"[^\s:]{1,24}", text[place:end])
    shown = f"`{word.group()}`" if word else "this place"
    return sentence(
        f"YAML can't go on at {shown}. Look for a missing quote, colon or space here or just above.",
        place,
        place + (word.end() if word else 0),
    )


def _value_around(builder: Builder, offset: int) -> tuple[int, int]:
    line_start, line_end = builder.lines.bounds(offset)
    line = builder.text[line_start:line_end]
    start, end = value_of_line(line)
    if builder.in_flow and line_start + start < offset:
        start, end = item_around(line, offset - line_start)
    return line_start + start, line_start + end
