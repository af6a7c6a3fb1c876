"""`regex`: patterns that a text must hold."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema

from rulebook.checks import Check, Checked
from rulebook.errors import OutOfTime
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_sources import SourceField
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import AssistantText, in_words, texts_of, wants_of
from rulebook.languages.formula_search import safe_when_cut
from rulebook.languages.pattern import MAX_TEXT_CHARACTERS, SEARCH_LIMIT_S, Engine, Pattern
from rulebook.languages.pattern_field import pattern_from
from rulebook.languages.types import Scope
from rulebook.languages.values import Several
from rulebook.outcome import Measurement, Outcome, Seen, reaches, student_fault
from rulebook.place import Path
from rulebook.ports import Ports

Found = tuple[int, int] | None


def _read_with_flags(value: object, info: ValidationInfo) -> Pattern:
    """Read one pattern under the `flags` and the `engine` beside it, which are validated before it."""
    return pattern_from(value, "".join(info.data.get("flags", ())), info.data.get("engine", "python"))


FlaggedPattern = Annotated[
    Pattern,
    PlainValidator(_read_with_flags),
    WithJsonSchema({"type": "string", "format": "regex", "minLength": 1}),
]


class Regex(Check, kind="regex"):
    """The text holds every pattern, anywhere in it.

    Source: scoring, RegexJudge.
    """

    short = "patterns"

    flags: Annotated[tuple[Literal["i", "m", "s", "x"], ...], Field(strict=False)] = Field(
        (), description="Letters that change how every pattern is read."
    )
    engine: Engine = Field("python", description="Whose regular expressions these are: `python` or `re2`.")
    patterns: Several[FlaggedPattern] = Field(description="Every one must be found in the text.")
    from_: SourceField = Field(AssistantText(), alias="from", description="Where the text comes from.")
    need: Literal["all", "any", "fraction"] = Field(
        "all", description="How many must be found: `all`, `any` one, or score the `fraction` that is."
    )

    def wants(self) -> Wants:
        """What its source needs."""
        return wants_of(self.from_)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The patterns, and what its source holds."""
        for position, pattern in enumerate(self.patterns):
            yield ("patterns", position), pattern, scope
        for path, text in texts_of(self.from_):
            yield ("from", *path), text, scope

    def sentence(self) -> str:
        """What it asks for."""
        patterns, source = ", ".join(f"`{pattern.text}`" for pattern in self.patterns), in_words(self.from_)
        if self.need == "fraction":
            return f"The score is the share of {patterns} that is found in {source}."
        return f"{'One of ' if self.need == 'any' else ''}{patterns} is found in {source}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Search for every pattern, at most 2 s each and in at most 1 MiB of text."""
        text = text_of(self.from_, evidence)
        found: dict[int, tuple[int, int]] = {}
        for position, pattern in enumerate(self.patterns):
            limit_s = ports.time_left(SEARCH_LIMIT_S)
            try:
                place = _search(pattern, text, ports, limit_s)
            except TimeoutError:
                return too_slow(pattern, limit_s, self._expected())
            if place is not None:
                found[position] = place
        return self._scored(found, text, evidence)

    def _scored(self, found: Mapping[int, tuple[int, int]], text: str, evidence: Evidence) -> Outcome:
        missing = [pattern.text for position, pattern in enumerate(self.patterns) if position not in found]
        score = self._score(len(found))
        cut = f"only the first {MAX_TEXT_CHARACTERS} characters were searched" if _is_cut(text) else ""
        if missing and cut and not reaches(score, 1.0):
            return student_fault(
                f"the text is too large to be searched: {cut}", expected=self._expected(), cause="excess"
            )
        seen: tuple[Seen, ...] = ()
        for start, _ in found.values():
            seen += place_in(self.from_, evidence, text, start)
        return Measurement(
            score,
            reaches(score, 1.0),
            cut,
            self._expected(),
            self._actual(missing),
            dict.fromkeys(missing, "no match"),
            seen=tuple(dict.fromkeys(seen)),
        )

    def _score(self, found: int) -> float:
        if self.need == "fraction":
            return found / len(self.patterns)
        return 1.0 if found == len(self.patterns) or (self.need == "any" and found) else 0.0

    def _expected(self) -> str:
        if len(self.patterns) == 1:
            return self.patterns[0].text
        return f"{'one' if self.need == 'any' else 'all'} of {len(self.patterns)} patterns"

    def _actual(self, missing: list[str]) -> str:
        if len(self.patterns) == 1:
            return "no match" if missing else "found"
        return f"{len(self.patterns) - len(missing)} of {len(self.patterns)} found"


def too_slow(pattern: Pattern, limit_s: float, expected: str) -> Outcome:
    """What comes of a search that did not end within `limit_s`. Raises OutOfTime where the rule's own time ran out."""
    if limit_s < SEARCH_LIMIT_S:
        raise OutOfTime(limit_s, material=True)
    reason = f"the search for `{pattern.text}` did not end within {SEARCH_LIMIT_S:g} s on this text"
    return student_fault(reason, expected=expected, actual="too slow to search")


def _search(pattern: Pattern, text: str, ports: Ports, limit_s: float) -> Found:
    found = ports.patterns.search(pattern, text[:MAX_TEXT_CHARACTERS], limit_s)
    if found is not None and _is_cut(text) and not safe_when_cut(pattern, found[1]):
        return None
    return found


def _is_cut(text: str) -> bool:
    return len(text) > MAX_TEXT_CHARACTERS
