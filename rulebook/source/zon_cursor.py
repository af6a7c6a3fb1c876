"""A way through ZON text from one token to the next, and the messages met on it."""

from rulebook.diagnostic import Diagnostic, Edit, Fix, problem
from rulebook.source import limits
from rulebook.source.look_alikes import LOOK_ALIKES, words_for
from rulebook.source.places import Lines
from rulebook.source.zon_hints import about_comment, is_comment
from rulebook.source.zon_lexer import Token, next_token
from rulebook.source.zon_values import ZonFault

MOST_FAULTS = 20


class ReadingStopped(Exception):
    """There is no sense in reading on; what there is to say has been said."""


class Cursor:
    """Holds the `token` in hand and the one `before` it. `diagnostics` has every message so far."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.lines = Lines(text)
        self.diagnostics: list[Diagnostic] = []
        self.before = Token("end", 0, 0)
        self.token = Token("end", 0, 0)
        self._faults = 0
        self._nodes = 0
        self._cut: dict[int, Token] = {}

    @property
    def word(self) -> str:
        """The characters of the token in hand."""
        return self.text[self.token.start : self.token.end]

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.token.kind == "end"

    def is_sign(self, *signs: str) -> bool:
        """Whether the token in hand is one of `signs`."""
        return self.token.kind == "sign" and self.word in signs

    def written(self, token: Token) -> str:
        """The characters of any token."""
        return self.text[token.start : token.end]

    def step(self) -> None:
        """Take the next token in hand, past what only needs a message."""
        self.before = self.token
        token = self._cut_at(self.token.end)
        while token.kind == "bad":
            if is_comment(self.text, token):
                self.report(about_comment(self.text, token))
            elif self._is_blank(token):
                self.report_look_alike(token)
            else:
                break
            token = self._cut_at(token.end)
        self.token = token

    def after(self, token: Token) -> Token:
        """The token behind any token, with nothing said and nothing moved."""
        token = self._cut_at(token.end)
        while token.kind == "bad" and (is_comment(self.text, token) or self._is_blank(token)):
            token = self._cut_at(token.end)
        return token

    def count(self) -> None:
        """Count the value that the token in hand begins. Raises ReadingStopped past the limit."""
        self._nodes += 1
        if self._nodes > limits.MAX_NODES:
            span = self.lines.span(self.token.start, self.token.end)
            self.diagnostics.append(limits.too_many_nodes(self.file, span))
            raise ReadingStopped

    def report(self, fault: ZonFault) -> None:
        """Keep a mistake as a message. Raises ReadingStopped after so many that more help nobody."""
        fix = None
        if fault.mended is not None:
            fix = Fix(fault.mended, (Edit(fault.start, fault.end, fault.mended),))
        span = self.lines.span(fault.start, fault.end)
        self._keep(problem("RB123", self.file, span, fix=fix, sentence=fault.sentence))

    def report_look_alike(self, token: Token) -> None:
        """Keep the message that `token` begins with a character that only looks like a sign."""
        start = token.start
        plain = LOOK_ALIKES[self.text[start]][1]
        mended = plain + self.text[start + 1 : token.end]
        if plain in ("'", '"'):
            mended = f'"{self.text[start + 1 : token.end - 1]}"'
        fix = Fix(mended, (Edit(start, token.end, mended),))
        span = self.lines.span(start, start + 1)
        self._keep(problem("RB120", self.file, span, fix=fix, **words_for(self.text[start])))

    def _cut_at(self, place: int) -> Token:
        token = self._cut.get(place)
        if token is None:
            token = self._cut[place] = next_token(self.text, place)
        return token

    def _is_blank(self, token: Token) -> bool:
        return LOOK_ALIKES.get(self.text[token.start], ("", "no"))[1] in ("", " ")

    def _keep(self, diagnostic: Diagnostic) -> None:
        self.diagnostics.append(diagnostic)
        self._faults += 1
        if self._faults >= MOST_FAULTS:
            raise ReadingStopped
