"""`changes`: what may differ from the base commit in the end."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple, Self

from pydantic import AfterValidator, Field, model_validator

from rulebook.checks import Check, Checked
from rulebook.errors import Missing
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.changed import (
    SEEN_AT_MOST,
    counted,
    has_no_lines,
    has_other_mode,
    leftover_in_words,
    lines_of,
    named,
    places,
    places_of_leftovers,
    readable,
)
from rulebook.evidence.history import strange_history
from rulebook.evidence.repository import Repository
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.fields import RepositoryPath
from rulebook.languages.globs import GlobText, glob_covers
from rulebook.languages.types import Scope
from rulebook.languages.values import Several, said
from rulebook.outcome import Measurement, Outcome, Seen
from rulebook.place import Path
from rulebook.ports import Change, Leftover, Ports
from rulebook.spelling import listed

_ABOUT_FILES = ("only", "never", "max_files", "max_lines", "binary", "modes")


def _no(key: str) -> Callable[[bool], bool]:
    """A validator for a flag that only forbids: `true` is what holds without it."""

    def validate(allowed: bool) -> bool:
        if not allowed:
            return allowed
        why = "`true` allows what is allowed anyway; write `false`, or remove it."
        raise refused(LanguageError(Fault("RB215", {"key": key, "why": why})))

    return validate


class Breach(NamedTuple):
    """One thing that was asked for and does not hold: in words, and what is in its way."""

    reason: str
    expected: str
    actual: str
    seen: Sequence[Seen]


class Changes(Check, kind="changes"):
    """What differs from the base commit stays within these bounds.

    Every file counts: new ones, whether git was told of them or ignores them, and a renamed one under both names.
    """

    short = "only"
    category = "fixture"
    negative = True

    only: Several[RepositoryPath] | None = Field(
        None, description="Nothing else may change: paths, or patterns such as `src/**`."
    )
    never: Several[RepositoryPath] | None = Field(
        None, description="None of these may change: paths, or patterns such as `tests/**`."
    )
    max_files: int | None = Field(None, ge=0, description="The most files that may change; a rename is two.")
    max_lines: int | None = Field(None, ge=0, description="The most lines that may be added and removed, together.")
    binary: Annotated[bool, AfterValidator(_no("binary"))] | None = Field(
        None, description="`false`: no file that is not text may change, or be new or gone."
    )
    modes: Annotated[bool, AfterValidator(_no("modes"))] | None = Field(
        None, description="`false`: no file may become executable, or stop being so, or become a link."
    )
    only_history: Annotated[bool, AfterValidator(said("only_history"))] | None = Field(
        None, description="`true`: git holds no other history than the base commit's, from which work could be copied."
    )

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if all(getattr(self, key) is None for key in (*_ABOUT_FILES, "only_history")):
            words = {
                "thing": "`changes`",
                "key": "only",
                "purpose": "write what may change, or `never` and what may not.",
            }
            raise refused(LanguageError(Fault("RB202", words)))
        both = sorted(set(self.only or ()) & set(self.never or ()))
        if both:
            path: Path = ("never", (self.never or ()).index(both[0]))
            words = {"key": both[0], "why": "it stands under `only` too. Keep one."}
            raise refused(LanguageError(Fault("RB215", words, path=path)))
        return self

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The patterns."""
        for key, patterns in (("only", self.only), ("never", self.never)):
            for index, pattern in enumerate(patterns or ()):
                yield (key, index), GlobText(pattern), scope

    def sentence(self) -> str:
        """What it asks for."""
        return f"Since the base commit, {'; '.join(self._wanted())}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:  # noqa: ARG002
        """Compare the files with the base commit, and look through its history where that is asked for.

        Raises Missing in `fixture` when git cannot tell; what is wrong already is wrong all the same.
        """
        repository, record = evidence.repository, evidence.record
        changes = repository.changes() if self._about_files() else ()
        breaches = list(self._breaches(changes, repository))
        if self.only_history:
            try:
                breaches += _history(strange_history(repository, record))
            except Missing:
                if not breaches:
                    raise
        shown = breaches[0] if breaches else Breach("", "; ".join(self._wanted()), _summary(changes), ())
        return Measurement(
            score=float(not breaches),
            passed=not breaches,
            reason="; ".join([*(breach.reason for breach in breaches), *self._untold(changes)]),
            expected=shown.expected,
            actual=shown.actual,
            vacuous=not breaches and record is not None and record.did_nothing,
            seen=tuple(_once(place for breach in breaches for place in breach.seen)),
        )

    def _about_files(self) -> bool:
        return any(getattr(self, key) is not None for key in _ABOUT_FILES)

    def _wanted(self) -> list[str]:
        return [
            words
            for asked, words in (
                (self.only, f"only {listed(self.only or ())} may change"),
                (self.never, f"{listed(self.never or ())} may not change"),
                (self.max_files is not None, f"at most {counted(self.max_files, 'file')} may change"),
                (self.max_lines is not None, f"at most {counted(self.max_lines, 'line')} may be added and removed"),
                (self.binary is False, "no binary file may change"),
                (self.modes is False, "no file mode may change"),
                (self.only_history, "the base commit is all the history there is"),
            )
            if asked
        ]

    def _breaches(self, changes: Sequence[Change], repository: Repository) -> Iterator[Breach]:
        if self.only is not None:
            wanted = f"only {listed(self.only)}"
            outside = [(path, change) for path, change in named(changes) if not _matches(path, self.only)]
            yield from _breach(outside, f"outside of {listed(self.only)}", wanted, repository)
        if self.never is not None:
            touched = [(path, change) for path, change in named(changes) if _matches(path, self.never)]
            yield from _breach(touched, "that may not change", f"no change of {listed(self.never)}", repository)
        if self.max_files is not None and (files := len(dict(named(changes)))) > self.max_files:
            most, actual = f"at most {counted(self.max_files, 'file')}", counted(files, "file")
            yield Breach(f"{actual} changed", most, actual, places(named(changes), repository))
        if self.max_lines is not None and (lines := lines_of(changes)) > self.max_lines:
            most, actual = f"at most {counted(self.max_lines, 'line')}", counted(lines, "line")
            largest = sorted(named(changes), key=lambda pair: -lines_of([pair[1]]))
            yield Breach(f"{actual} changed", most, actual, places(largest, repository))
        if self.binary is False:
            odd = [(change.path, change) for change in changes if has_no_lines(change)]
            yield from _breach(odd, "without lines of text", "no binary file", repository)
        if self.modes is False:
            moved = [(change.path, change) for change in changes if has_other_mode(change)]
            yield from _breach(moved, "with another mode", "no other mode", repository)

    def _untold(self, changes: Sequence[Change]) -> Iterator[str]:
        """What a bound on lines cannot count."""
        odd = [change.path for change in changes if has_no_lines(change)] if self.max_lines is not None else []
        if odd:
            yield (
                f"not among the lines: {counted(len(odd), 'file')} that {'has' if len(odd) == 1 else 'have'} none to "
                f"count ({listed(map(readable, odd[:3]))}{', …' if len(odd) > 3 else ''})"
            )


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(glob_covers(pattern, path) for pattern in patterns)


def _breach(found: Sequence[tuple[str, Change]], what: str, expected: str, repository: Repository) -> Iterator[Breach]:
    if found:
        names = [readable(path) for path, _ in found]
        reason = f"changed {what}: {listed(names[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        yield Breach(reason, expected, counted(len(names), "file") + " " + what, places(found, repository))


def _history(strange: Sequence[Leftover]) -> Iterator[Breach]:
    if not strange:
        return
    kinds = {left.kind for left in strange}
    what = counted(len(strange), kinds.pop() if len(kinds) == 1 else "thing")
    reason = f"git holds {what} beside the base commit's history, such as {leftover_in_words(strange[0])}"
    yield Breach(reason, "no other history than the base commit's", what, places_of_leftovers(strange))


def _summary(changes: Sequence[Change]) -> str:
    return f"{counted(len(dict(named(changes))), 'file')} and {counted(lines_of(changes), 'line')}"


def _once(places: Iterator[Seen]) -> list[Seen]:
    return list(dict.fromkeys(places))[:SEEN_AT_MOST]
