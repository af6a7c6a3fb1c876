"""Paths as steps: the reader of the subset of JSONPath that rules may use."""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from rulebook.languages.faults import Fault, LanguageError

MAX_CHARACTERS = 500
MAX_STEPS = 20
MAX_FILTERS = 2


class Name(Struct, frozen=True):
    """`.name` or `['name']`; `anywhere` is `..name`. Every step knows the characters it was written in."""

    name: str
    start: int
    end: int
    anywhere: bool = False


class Index(Struct, frozen=True):
    """`[n]`; from the end when negative."""

    index: int
    start: int
    end: int


class Slice(Struct, frozen=True):
    """`[a:b]`."""

    first: int | None
    past: int | None
    start: int
    end: int


class Every(Struct, frozen=True):
    """`[*]`."""

    start: int
    end: int


class Condition(Struct, frozen=True):
    """One comparison of a filter; `written` is the value's text. No `operator`: the field must be there."""

    path: tuple[Name | Index, ...]
    operator: str
    value: str | int | float | bool | None
    written: str
    start: int
    end: int


class Filter(Struct, frozen=True):
    """`[?(@.x == 'v' && @.y > 1)]`: every condition must hold."""

    conditions: tuple[Condition, ...]
    start: int
    end: int


Step = Name | Index | Slice | Every | Filter


@lru_cache(maxsize=1024)
def steps_of(text: str) -> tuple[Step, ...]:
    """The steps of a path. Raises LanguageError with RB413, RB416 or RB706."""
    if len(text) > MAX_CHARACTERS:
        raise LanguageError(_too_long(len(text), "characters", MAX_CHARACTERS))
    steps = _Reader(text).steps()
    filters = sum(isinstance(step, Filter) for step in steps)
    anywhere = sum(isinstance(step, Name) and step.anywhere for step in steps)
    for count, parts, limit in (
        (len(steps), "steps", MAX_STEPS),
        (filters, "filters", MAX_FILTERS),
        (anywhere, "steps with `..`", 1),
    ):
        if count > limit:
            raise LanguageError(_too_long(count, parts, limit))
    return steps


def root_of(steps: Sequence[Step]) -> str:
    """The top-level name at which a path starts; empty when it starts at none."""
    first = steps[0] if steps else None
    return first.name if isinstance(first, Name) and not first.anywhere else ""


def lead_to_one(steps: Sequence[Step]) -> bool:
    """Whether a path of these steps leads to one value at most."""
    return all(isinstance(step, Index) or (isinstance(step, Name) and not step.anywhere) for step in steps)


def _too_long(count: int, parts: str, limit: int) -> Fault:
    return Fault("RB706", {"what": "path", "count": count, "parts": parts, "limit": limit})


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def steps(self) -> tuple[Step, ...]:
        if not self._take("$"):
            raise self._stuck("A path begins with `$`, like `$.messages[-1].text`.")
        steps: list[Step] = []
        while self.at < len(self.text):
            steps.append(self._step())
        return tuple(steps)

    def _step(self) -> Step:
        start = self.at
        if self._take(".."):
            if self._sees("*") or self._sees("[*") or self._sees("[?"):
                raise self._unusual("`..` without a name", "write `..name`", start)
            return self._bracketed_name(start, True) if self._sees("[") else self._name(start, True)
        if self._sees(".*"):
            raise self._unusual("`.*`", "write `[*]`", start, start + 2, "[*]")
        if self._take("."):
            return self._name(start, False)
        if not self._sees("["):
            self._refuse_arithmetic()
            raise self._stuck("A step is `.name`, `['name']`, `[0]`, `[*]` or `[?(@.name == 'x')]`.")
        if self._match(r"\[\s*\?"):
            return self._filter(start)
        if self._match(r"\[\s*\*\s*\]"):
            return Every(start, self.at)
        if found := self._match(r"\[\s*(-?\d+)\s*\]"):
            return Index(int(found[1]), start, self.at)
        if found := self._match(r"\[\s*(-?\d+)?\s*:\s*(-?\d+)?\s*\]"):
            first, past = (None if one is None else int(one) for one in found.groups())
            return Slice(first, past, start, self.at)
        return self._bracketed_name(start, False)

    def _name(self, start: int, anywhere: bool) -> Name:
        if self._sees("`"):
            raise self._unusual("A function like `` `len` ``", "use an `expr` with `len(…)`", start)
        found = self._match(r"[^\W\d][\w-]*")
        if found is None:
            raise self._stuck("A name that is not letters, digits, `_` or `-` is written `['like this']`.")
        if self._sees("("):
            raise self._unusual(f"A function like `{found[0]}()`", "use an `expr` with a function", start)
        return Name(found[0], start, self.at, anywhere)

    def _bracketed_name(self, start: int, anywhere: bool) -> Name:
        self._refuse_unusual_brackets(start)
        self._match(r"\[\s*")
        name = self._quoted()
        if name is None:
            raise self._stuck("Inside `[ ]` stands a number, `*`, `a:b`, or a name in quotes.")
        if self._match(r"\s*,"):
            raise self._unusual("A list of names", "write one path for each", start)
        if not self._match(r"\s*\]"):
            raise self._stuck("Here `]` is missing.")
        if anywhere and name[0] == "*":
            raise self._unusual("`..` without a name", "write `..name`", start)
        return Name(name[0], start, self.at, anywhere)

    def _refuse_unusual_brackets(self, start: int) -> None:
        if self._looks_at(r"\[\s*[\\/]"):
            raise self._unusual("Sorting", "take the values as they come, or sort in a script", start)
        if self._looks_at(r"\[\s*-?\d+\s*,"):
            raise self._unusual("A list of positions", "write one path for each, or `[a:b]`", start)
        if self._looks_at(r"\[[\d:\s-]*:[\d\s-]*:"):
            raise self._unusual("A slice with a stride", "write `[a:b]`", start)

    def _refuse_arithmetic(self) -> None:
        if self._looks_at(r"\s*[-+*/]"):
            raise self._unusual("Arithmetic", "do it in an `expr`", self.at)

    def _filter(self, start: int) -> Filter:
        bracket = bool(self._match(r"\s*\("))
        conditions = [self._condition()]
        while True:
            self._match(r"\s*")
            if self._take("&&"):
                conditions.append(self._condition())
            elif self._sees("&") or self._looks_at(r"and\b"):
                word = "&" if self._sees("&") else "and"
                raise self._unusual(f"`{word}`", "write `&&`", self.at, self.at + len(word), "&&")
            elif self._sees("|") or self._looks_at(r"or\b"):
                raise self._unusual("`||`", "write two rules and join them with `any`", self.at)
            else:
                break
        if (bracket and not self._match(r"\s*\)")) or not self._match(r"\s*\]"):
            raise self._stuck("A filter is written `[?(@.name == 'x' && @.size > 1)]`.")
        return Filter(tuple(conditions), start, self.at)

    def _condition(self) -> Condition:
        self._match(r"\s*")
        start = self.at
        if self._sees("!"):
            raise self._unusual("`!`", "write `!=`, or `not` around the rule", start)
        if self._looks_at(r"-?\d|'|\"|true\b|false\b|null\b"):
            raise self._unusual("A value on the left", "write the field first, like `@.name == 'x'`", start)
        if not self._take("@"):
            raise self._stuck("A condition begins with `@`, the item that is looked at, like `@.name == 'x'`.")
        path = self._path_in_item()
        end = self.at
        operator = self._operator()
        if not operator:
            self.at = end
            return Condition(path, "", None, "", start, end)
        value, written = self._value(operator)
        return Condition(path, operator, value, written, start, self.at)

    def _path_in_item(self) -> tuple[Name | Index, ...]:
        path: list[Name | Index] = []
        while self._looks_at(r"[.\[]"):
            if self._looks_at(r"\[\s*\?"):
                raise self._unusual("A filter inside a filter", "name one field of the item", self.at)
            step = self._step()
            if isinstance(step, (Filter, Every, Slice)) or (isinstance(step, Name) and step.anywhere):
                written = self.text[step.start : step.end]
                raise self._unusual(f"`{written}` inside a filter", "name one field of the item", step.start)
            if isinstance(step, Name) and step.name == "*":
                raise self._unusual("`['*']` inside a filter", "name one field of the item", step.start)
            path.append(step)
        return tuple(path)

    def _operator(self) -> str:
        self._match(r"\s*")
        start = self.at
        if found := self._match(r"==|!=|<=|>=|=~|[<>=]|(?:in|contains|like|matches)\b"):
            if found[0] == "=":
                raise self._unusual("A single `=`", "write `==`", start, self.at, "==")
            if found[0][0] in "icl" or found[0] in {"=~", "matches"}:
                raise self._unusual(f"`{found[0]}`", "use a `regex` or `contains` check on the value", start)
            return found[0]
        self._refuse_arithmetic()
        return ""

    def _value(self, operator: str) -> tuple[str | int | float | bool | None, str]:
        self._match(r"\s*")
        start = self.at
        if self._looks_at(r"[@$]"):
            raise self._unusual("Comparing two fields", "use an `expr`", start)
        quoted = self._quoted()
        found = None if quoted else self._match(r"(-?\d+\.\d+|-?\d+|true|false|null)(?![\w.])")
        if quoted is None and found is None:
            raise self._stuck("A value is 'text' in quotes, a number, `true`, `false` or `null`.")
        if found is not None and found[1][-1].isdigit():
            return (float(found[1]) if "." in found[1] else int(found[1])), found[1]
        if operator not in {"==", "!="}:
            what = f"`{operator}` with anything but a number"
            raise self._unusual(what, "compare with a number (without quotes), or with `==`", start)
        if quoted:
            return quoted[0], quoted[1]
        assert found is not None
        return {"true": True, "false": False, "null": None}[found[1]], found[1]

    def _quoted(self) -> tuple[str, str] | None:
        found = self._match(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
        if found is None:
            return None
        inside = found[1] if found[1] is not None else found[2]
        value = re.sub(r"\\(.)", r"\1", inside, flags=re.DOTALL)
        return value, quoted(value)

    def _take(self, sign: str) -> bool:
        taken = self._sees(sign)
        self.at += len(sign) if taken else 0
        return taken

    def _sees(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def _looks_at(self, pattern: str) -> bool:
        return re.compile(pattern, re.DOTALL).match(self.text, self.at) is not None

    def _match(self, pattern: str) -> re.Match[str] | None:
        found = re.compile(pattern, re.DOTALL).match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def _stuck(self, help: str) -> LanguageError:
        start = min(self.at, max(len(self.text) - 1, 0))
        return LanguageError(Fault("RB413", {"rest": self.text[start:]}, start, None, help))

    def _unusual(
        self, what: str, instead: str, start: int, end: int | None = None, mended: str | None = None
    ) -> LanguageError:
        whole = None if mended is None else self.text[:start] + mended + self.text[end:]
        return LanguageError(
            Fault("RB416", {"what": what, "instead": instead}, start, end, mended=whole, safe=whole is not None)
        )


def quoted(text: str) -> str:
    """A text as it is written inside a path."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
