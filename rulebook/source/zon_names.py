"""Reads the names of ZON fields, and knows a name that was written another way."""

from rulebook.source.look_alikes import LOOK_ALIKES
from rulebook.source.zon_cursor import Cursor
from rulebook.source.zon_lexer import KEYWORDS, Token
from rulebook.source.zon_values import ZonFault, name_in_zig, text_value

VALUE_WORDS = frozenset(("true", "false", "null", "nan", "inf"))


class NameReader(Cursor):
    """The part of the reader that looks at what stands before a `=`."""

    def field_name(self, in_list: bool) -> str | None:
        """Read the name that the token in hand begins, up to its `=`; None when a value begins there."""
        token = self.token
        after = self.after(token)
        if self.is_sign(".") and after.kind in ("name", "quoted-name"):
            third = self.after(after)
            sign = self.written(third)
            if sign in ("=", ":", "-", "\uff1a", "\uff1d") or (not in_list and self._is_value(third)):
                return self._dotted_name(token, after, third)
        elif token.kind in ("name", "text", "quoted-name") and self.written(after) in ("=", ":"):
            return self._undotted_name(token)
        return None

    def equals_sign(self, name: str) -> None:
        """Read the `=` behind the name of a field, or say that there is none."""
        shown = name_in_zig(name)
        if self.is_sign("="):
            self.step()
        elif self.is_sign(":"):
            said = f"Write `=` in place of `:`: `.{shown} = …`."
            self.report(ZonFault(self.token.start, self.token.end, said, " ="))
            self.step()
        elif self.token.kind == "bad" and self.text[self.token.start] in LOOK_ALIKES:
            self.report_look_alike(self.token)
            self.step()
        else:
            end = self.before.end
            self.report(ZonFault(end, end, f"A `=` is missing after `.{shown}`.", " ="))

    def name_in(self, token: Token, dot: Token) -> str:
        """The name that `token`, behind the `dot`, stands for. Raises ZonFault when it is none."""
        if token.kind == "name":
            return self.written(token)
        if token.kind != "quoted-name":
            raise ZonFault(dot.start, dot.end, "A name or `{` must follow this `.`.")
        name = text_value(self.written(token)[1:], token.start + 1)
        if not name or "\0" in name:
            said = "A name needs at least one character, and none of number 0."
            raise ZonFault(token.start, token.end, said)
        return name

    def _undotted_name(self, token: Token) -> str:
        word = self.word
        name = word if token.kind == "name" else text_value(word[word.index('"') :], token.start)
        if not name:
            raise ZonFault(token.start, token.end, "A name needs at least one character.")
        mended = f".{name_in_zig(name)}"
        self.report(ZonFault(token.start, token.end, f"A name has a dot before it: `{mended} = …`.", mended))
        self.step()
        return name

    def _dotted_name(self, dot: Token, token: Token, after: Token) -> str:
        end = token.end
        while self.written(after) == "-" and after.start == end:
            part = self.after(after)
            end, after = part.end, self.after(part)
        whole = self.text[token.start : end]
        if end > token.end:
            mended = f".{name_in_zig(whole.replace('-', '_'))}"
            said = f"A name has no `-` in it. Write `{mended} = …`."
            self.report(ZonFault(dot.start, end, said, mended))
        elif token.kind == "name" and whole in KEYWORDS:
            mended = f".{name_in_zig(whole)}"
            said = f"`{whole}` is a word of Zig's own. Write `{mended} = …`."
            self.report(ZonFault(dot.start, end, said, mended))
        while self.token.end < end:
            self.step()
        self.step()
        return whole if end > token.end else self.name_in(token, dot)

    def _is_value(self, token: Token) -> bool:
        if token.kind == "name":
            return self.written(token) in VALUE_WORDS
        return token.kind in ("number", "text", "letter", "line")
