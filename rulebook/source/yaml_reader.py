"""Reads YAML rule files: libyaml's parser, our meaning of plain words, a place for every key and value."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import yaml

from rulebook.diagnostic import Diagnostic, in_order, problem
from rulebook.place import Path
from rulebook.source import limits
from rulebook.source.located import Located, Reading
from rulebook.source.places import Lines, Places
from rulebook.source.yaml_builder import Builder
from rulebook.source.yaml_mend import SyntaxFault

_UNREADABLE = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]"
"""What YAML refuses. The set of what it takes says the same, and takes 6 ms to compile instead of a half."""

_ODD = re.compile("[^\t\n\r -~]")
"""What only some files hold; all that YAML refuses is among it."""


_NO_DOCUMENT = frozenset(("RB103", "RB104", "RB114", "RB115", "RB116", "RB117", "RB119", "RB124", "RB205"))


class EventSource(Protocol):
    """A YAML parser that hands out one event after the other."""

    def get_event(self) -> Any:
        """The next event, or None after the last. Raises yaml.YAMLError."""
        ...


def _fastest_parser() -> Callable[[str], EventSource]:
    try:
        from yaml._yaml import CParser
    except ImportError:  # PyYAML can be built without libyaml; its own parser is ten times slower
        return yaml.SafeLoader
    return CParser


FASTEST = _fastest_parser()


def read_yaml(text: str, file: str, parser: Callable[[str], EventSource] = FASTEST) -> Reading:
    """The document that `text` holds, and everything that is wrong or doubtful about its notation.

    After an error of syntax there is no document, and every fault that can be found is named. A key written
    twice (the first counts), or one that is no text, is an error that leaves a document behind. Never raises.
    """
    text = text.removeprefix("\ufeff")
    unfit = _unfit(text, file)
    if unfit is not None:
        return Reading(None, (unfit,))
    builder = Builder(text, file)
    fault = parse(text, builder, parser)
    if fault is not None:
        from rulebook.source.yaml_repair import repaired  # only a file with a fault of syntax pays for it

        found = repaired(builder, fault, lambda mended, anew: parse(mended, anew, parser))
        return Reading(None, in_order(found))
    if not builder.stopped and _is_empty(builder):
        builder.diagnostics.append(_empty_file(text, file))
    builder.finish()
    return Reading(_located(builder), in_order(builder.diagnostics))


def parse(text: str, builder: Builder, parser: Callable[[str], EventSource]) -> SyntaxFault | None:
    """Hand the events of `text` to `builder`; the first fault of syntax, or None."""
    try:
        _hand_over(parser(text), builder)
    except yaml.MarkedYAMLError as error:
        mark, context = error.problem_mark, error.context_mark
        position = mark.index if mark else 0
        return SyntaxFault(str(error.problem), position, context.index if context else position)
    return None


def _hand_over(source: EventSource, builder: Builder) -> None:
    get, scalar, mapping, sequence = source.get_event, yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent
    while not builder.stopped:
        event = get()
        kind = type(event)
        if event is None:
            return
        start = event.start_mark.index
        if kind is scalar:
            if event.anchor or event.tag:
                _decorated(event, event.end_mark.index, builder)
            builder.scalar(event.value, event.style, start, event.end_mark.index)
        elif kind is mapping or kind is sequence:
            if event.anchor or event.tag:
                _decorated(event, None, builder)
            builder.begin({} if kind is mapping else [], start, bool(event.flow_style))
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            builder.end(event.end_mark.index)
        elif kind is yaml.AliasEvent:
            builder.alias(start)
        elif kind is yaml.DocumentStartEvent:
            builder.document(start)


def _decorated(event: Any, end: int | None, builder: Builder) -> None:
    start = event.start_mark.index
    if event.anchor:
        builder.shared(start)
    if event.tag:
        builder.tagged(start, end)


def _located(builder: Builder) -> Located | None:
    if any(d.code in _NO_DOCUMENT for d in builder.diagnostics):
        return None
    return Located(
        file=builder.file,
        text=builder.text,
        language="yaml",
        data=builder.data,
        values=Places(builder.lines, builder.values),
        keys=Places(builder.lines, builder.keys),
        styles=builder.styles,
        offsets=_offsets,
    )


def _offsets(document: Located, path: Path) -> Sequence[int] | None:
    from rulebook.source.offsets import offsets_of  # only a message about a part of a text pays for it

    return offsets_of(document, path)


def _unfit(text: str, file: str) -> Diagnostic | None:
    if limits.is_too_large(text):
        return limits.too_many_bytes(file, None)
    found = _ODD.search(text) and re.compile(_UNREADABLE).search(text)
    if found is None:
        return None
    span = Lines(text).span(*found.span())
    if "\ud800" <= found.group() <= "\udfff":
        return problem("RB102", file, span, line=span.line)
    number = f"U+{ord(found.group()):04X}"
    sentence = f"There is an invisible character here ({number}) that YAML refuses. Delete it."
    return problem("RB124", file, span, sentence=sentence)


def _is_empty(builder: Builder) -> bool:
    start, end = builder.values.get((), (0, 0))
    return builder.data is None and start == end


def _empty_file(text: str, file: str) -> Diagnostic:
    what = "This file has nothing but comments" if text.strip(" \t\r\n-.") else "This file is empty"
    sentence = f"{what}. Begin with `schema:` and `version: 1`."
    return problem("RB124", file, Lines(text).span(0, 0), sentence=sentence)
