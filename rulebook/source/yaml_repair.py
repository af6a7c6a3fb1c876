"""Names every syntax error of a YAML text: mends the first, parses again, and so on.

The mended text is never loaded. It shows what else is wrong, and each mend is offered as a fix.
"""

from collections.abc import Callable

from msgspec.structs import replace

from rulebook.diagnostic import Diagnostic, Edit, Fix, problem
from rulebook.place import Span
from rulebook.source.places import Lines
from rulebook.source.yaml_builder import Builder
from rulebook.source.yaml_faults import mend_for
from rulebook.source.yaml_mend import Mend, SyntaxFault

MOST_ROUNDS = 20
MOST_EDITS = 1000
ROUNDS_CHARACTERS = 2_000_000
"""What all rounds may parse together: 20 times 100,000 characters, or fewer times more."""

Parse = Callable[[str, Builder], SyntaxFault | None]


def repaired(builder: Builder, fault: SyntaxFault, parse: Parse) -> list[Diagnostic]:
    """What is wrong with the text that `builder` was reading when `fault` stopped it, and behind that."""
    patch = _Patch(builder.text, builder.file)
    rounds = min(MOST_ROUNDS, max(1, ROUNDS_CHARACTERS // (len(builder.text) + 1)))
    current: SyntaxFault | None = fault
    for _ in range(rounds):
        if current is None or not patch.take(mend_for(builder, current)):
            break
        builder = Builder(patch.text, builder.file)
        current = parse(patch.text, builder)
    builder.finish()
    return patch.diagnostics + [
        patch.back(d) for d in builder.diagnostics if d.span is None or not patch.touches(d.span)
    ]


class _Patch:
    """A text under repair: what was changed, and the way back to the places of the text as it was written."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.diagnostics: list[Diagnostic] = []
        self._original = Lines(text)
        self._file = file
        self._edits: list[Edit] = []
        self._mended: dict[tuple[int, bool], int] = {}

    def take(self, mend: Mend) -> bool:
        """Keep the message of `mend` and change the text as it says; False when there is no going on."""
        edits = [self._from_original(edit) for edit in mend.edits]
        line = self._original.number(self._back(mend.start))
        where = (line, mend.code in ("RB103", "RB104"))
        start, end = self._back(mend.start), self._back(mend.end)
        if start < self._mended.get(where, 0):
            self.diagnostics = [_doubted(d, line) for d in self.diagnostics]
            return False
        self._mended[where] = max([start + 1, end, *(edit.end for edit in edits)])
        fix = Fix(mend.mended, tuple(edits), mend.safe) if edits else None
        span = self._original.span(start, max(start, end))
        self.diagnostics.append(problem(mend.code, self._file, span, help=mend.help, fix=fix, **mend.words))
        too_many = len(edits) + len(self._edits) > MOST_EDITS
        if not edits or too_many or any(_overlap(new, old) for new in edits for old in self._edits):
            return False
        self._edits = sorted([*self._edits, *edits], key=lambda edit: edit.start)
        self.text = _applied(self._original.text, self._edits)
        return True

    def touches(self, span: Span) -> bool:
        """Whether a place of the mended text lies in a mend or on its border."""
        start, end = self._back(span.start), self._back(span.end)
        return any(start <= edit.end and edit.start <= end for edit in self._edits)

    def back(self, diagnostic: Diagnostic) -> Diagnostic:
        """A message about the mended text, with its places those of the text as it was written."""
        fix = diagnostic.fix
        if fix is not None:
            fix = replace(fix, edits=tuple(self._from_original(edit) for edit in fix.edits))
        related = tuple(replace(r, span=self._span_back(r.span)) for r in diagnostic.related)
        span = None if diagnostic.span is None else self._span_back(diagnostic.span)
        return replace(diagnostic, span=span, fix=fix, related=related)

    def _span_back(self, span: Span) -> Span:
        start, end = self._back(span.start), self._back(span.end)
        return self._original.span(start, max(start, end))

    def _from_original(self, edit: Edit) -> Edit:
        start, end = self._back(edit.start), self._back(edit.end)
        return Edit(start, max(start, end), edit.text)

    def _back(self, offset: int) -> int:
        moved = 0
        for edit in self._edits:
            start = edit.start + moved
            grown = len(edit.text) - (edit.end - edit.start)
            if offset < start:
                break
            if offset < start + len(edit.text):
                return edit.start
            moved += grown
        return min(offset - moved, len(self._original.text))


def _doubted(diagnostic: Diagnostic, line: int) -> Diagnostic:
    """Without its fix, when it is about a line that is still wrong after that fix."""
    if diagnostic.span is None or diagnostic.span.line != line:
        return diagnostic
    return replace(diagnostic, fix=None)


def _overlap(one: Edit, other: Edit) -> bool:
    return one.start < other.end and other.start < one.end or one.start == other.start


def _applied(text: str, edits: list[Edit]) -> str:
    parts: list[str] = []
    past = 0
    for edit in edits:
        parts += [text[past : edit.start], edit.text]
        past = edit.end
    return "".join([*parts, text[past:]])
