"""Which characters a part of a pattern matches, as a bit mask over a few characters that stand for all."""

import re
from collections.abc import Iterable

# `re._parser` is private, and the only way to a pattern's tree: tests pin what is used of it.
from re import _constants as sre  # type: ignore[attr-defined]

Items = Iterable[tuple[object, object]]
"""A part of `re`'s own parse tree: operation and argument."""


class Alphabet:
    """ASCII, some characters that stand for kinds beyond it, and the borders of what a pattern names."""

    def __init__(self, named: Iterable[int]) -> None:
        beyond = (code for code in named if code > 127)
        near = {near for code in beyond for near in (code - 1, code, code + 1) if near < 0x110000}
        self.characters = [chr(code) for code in sorted({*range(128), *_KINDS, *near})]
        self.everything = (1 << len(self.characters)) - 1
        self._bits = {character: 1 << position for position, character in enumerate(self.characters)}
        self._categories: dict[tuple[str, int], int] = {}

    def mask(self, operation: object, argument: object, flags: int) -> int:
        """What one item of the tree matches, one character long."""
        if operation is sre.ANY:
            return self.everything if flags & re.DOTALL else self.everything & ~self._bits["\n"]
        if operation is sre.LITERAL:
            return self._one(argument, flags)
        if operation is sre.NOT_LITERAL:
            return self.everything & ~self._one(argument, flags)
        return self._set(argument, flags)

    def _set(self, items: object, flags: int) -> int:
        result, negated = 0, False
        assert isinstance(items, list)
        for operation, argument in items:
            if operation is sre.NEGATE:
                negated = True
            elif operation is sre.LITERAL:
                result |= self._one(argument, flags)
            elif operation is sre.RANGE:
                low, high = argument
                inside = (character for character in self.characters if low <= ord(character) <= high)
                result |= sum(self._one(ord(character), 0) for character in inside)
                if flags & re.IGNORECASE:
                    result |= self._other_case(result)
            else:
                result |= self._category(_CATEGORIES[str(argument)], flags)
        return self.everything & ~result if negated else result

    def _one(self, code: object, flags: int) -> int:
        assert isinstance(code, int)
        bit = self._bits.get(chr(code), 0)
        return bit | self._other_case(bit) if flags & re.IGNORECASE else bit

    def _other_case(self, mask: int) -> int:
        result = 0
        for position, character in enumerate(self.characters):
            if mask >> position & 1:
                for other in (
                    character.lower(),
                    character.upper(),
                    *_CASE_RELATIVES.get(character.lower(), ""),
                ):
                    result |= self._bits.get(other, 0)
        return result

    def _category(self, written: str, flags: int) -> int:
        key = (written, flags & re.ASCII)
        if key not in self._categories:
            matches = re.compile(written, flags & re.ASCII).match
            self._categories[key] = sum(self._bits[one] for one in self.characters if matches(one))
        return self._categories[key]


def codes_of(items: Items) -> Iterable[int]:
    """The code of every character that the tree names, at any depth, in both cases."""
    waiting: list[object] = [items]
    while waiting:
        item = waiting.pop()
        if isinstance(item, int) and not isinstance(item, (bool, sre._NamedIntConstant)) and 0 <= item < 0x110000:
            character = chr(item)
            yield item
            yield from (ord(other) for other in (character.lower(), character.upper()) if len(other) == 1)
        elif isinstance(item, (list, tuple, sre_tree)):
            waiting.extend(item)


sre_tree = re._parser.SubPattern  # type: ignore[attr-defined]

_KINDS = tuple(map(ord, "\u00a0\u00b7\u0131\u017f\u00e9\u00c9\u0663\u00b2\u2028\u4e2d\u212a\u20ac\U0001f600"))
_CASE_RELATIVES = {"s": "\u017f", "\u017f": "sS", "k": "\u212a", "i": "\u0130\u0131", "\u0131": "iI"}
_CATEGORIES = {
    str(sre.CATEGORY_DIGIT): r"\d",
    str(sre.CATEGORY_NOT_DIGIT): r"\D",
    str(sre.CATEGORY_SPACE): r"\s",
    str(sre.CATEGORY_NOT_SPACE): r"\S",
    str(sre.CATEGORY_WORD): r"\w",
    str(sre.CATEGORY_NOT_WORD): r"\W",
}
