"""`file`: what one file of the repository, or of a submission, must be in the end."""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Annotated, NamedTuple, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from rulebook.checks import Check, Checked
from rulebook.errors import Missing, NotHandedIn, OutOfTime
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.data_at import DataAt, found_at
from rulebook.evidence.data_files import Notation
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.one_file import OneFile
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import DeclaredSubmission
from rulebook.languages.bounds import Bounds
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.fields import RepositoryPath
from rulebook.languages.pattern import MAX_TEXT_CHARACTERS, SEARCH_LIMIT_S
from rulebook.languages.pattern_field import PatternField
from rulebook.languages.template import TemplateField
from rulebook.languages.types import Scope
from rulebook.languages.values import Sha256
from rulebook.outcome import Category, Measurement, Outcome
from rulebook.place import Path
from rulebook.ports import Ports

MOST_BYTES = 256 * 1024 * 1024
"""Larger files are not read."""

Content = bytes
"""What a file holds; the class below has a field called `bytes`."""

_CONTENT = ("equals", "contains", "matches", "sha256", "lines", "bytes", "json", "yaml", "toml")


def _permissions(value: object) -> str:
    if isinstance(value, str) and re.fullmatch("[0-7]{3,4}", value):
        return value
    wanted = "three octal digits in quotes, such as `'755'`"
    raise PydanticCustomError("rulebook_wrong_type", "not permissions", {"wanted": wanted})


Permissions = Annotated[
    str, PlainValidator(_permissions), WithJsonSchema({"type": "string", "pattern": "^[0-7]{3,4}$"})
]
"""Permission bits as `ls` and `chmod` count them."""


class Asked(NamedTuple):
    """One thing asked of the file: what was expected, what is there, whether it holds, and in which line."""

    holds: bool
    expected: object
    actual: object
    reason: str
    line: int | None = None


class File(Check, kind="file"):
    """One file of the repository, or of a submission, has these properties; with none of them, it is there."""

    short = "path"
    category = "fixture"

    path: RepositoryPath | None = Field(
        None, description="The path of the file, from the top of the repository or of the submission's folder."
    )
    submission: str | None = Field(
        None, min_length=1, description="The submission that it is, or with a `path` the folder that it is in."
    )
    exists: bool = Field(True, description="Whether anything must stand there; `false` asks that nothing does.")
    equals: TemplateField | None = Field(None, description="The whole text of the file; a template.")
    contains: TemplateField | None = Field(None, description="A text that the file holds; a template.")
    matches: PatternField | None = Field(None, description="A pattern that is found in the file.")
    sha256: Sha256 | None = Field(None, description="The SHA-256 of the file's bytes.")
    lines: Bounds | None = Field(None, description="How many lines it has: a number, or `{min, max}`.")
    bytes: Bounds | None = Field(None, description="How many bytes it has: a number, or `{min, max}`.")
    json_: DataAt | None = Field(
        None,
        alias="json",
        description="It is JSON, and `path` leads to a value in it, which is `equals` if that is there.",
    )
    yaml: DataAt | None = Field(None, description="The same of YAML.")
    toml: DataAt | None = Field(None, description="The same of TOML.")
    mode: Permissions | None = Field(None, description="Its permissions as octal digits in quotes, such as `'755'`.")

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if self.path is None and self.submission is None:
            words = {"thing": "`file`", "key": "path", "purpose": "which file it is; or a `submission`."}
            raise refused(LanguageError(Fault("RB202", words)))
        asked = self._options()
        if not self.exists and asked:
            why = "`exists: false` asks that nothing stands there. Keep one."
            raise refused(LanguageError(Fault("RB215", {"key": asked[0], "why": why}, path=(asked[0],))))
        if self.contains is not None and not self.contains.text:
            words = {"key": "contains", "why": "every file contains that. Write what it must hold."}
            raise refused(LanguageError(Fault("RB216", words, path=("contains",))))
        return self

    def wants(self) -> Wants:
        """What its templates need."""
        texts = (self.equals, self.contains, *(at.template for _, at in self._data()))
        return wants_of_names(frozenset().union(*(text.names() for text in texts if text is not None)))

    def forbids(self) -> bool:
        """Whether it only asks that nothing stands there."""
        return not self.exists

    def owner(self) -> Category:
        """A submission is the student's work, the repository a fixture."""
        return "fixture" if self.submission is None else "model"

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The templates, the pattern, and the submission's name."""
        if self.submission is not None:
            yield ("submission",), DeclaredSubmission(self.submission), scope
        texts = {"equals": self.equals, "contains": self.contains, "matches": self.matches}
        for key, text in texts.items():
            if text is not None:
                yield (key,), text, scope
        for notation, at in self._data():
            if at.template is not None:
                yield (notation, "equals"), at.template, scope

    def sentence(self) -> str:
        """What it asks for."""
        asked = self._options()
        where = f"The submission `{self.submission}`" if self.submission is not None else "The repository"
        if self.path is None:
            said = f"has the right {', '.join(asked)}" if asked else "is there"
            return f"{where} {said if self.exists else 'was not handed in'}."
        if not self.exists:
            return f"{where} does not have `{self.path}`."
        of = "" if self.submission is None else f" of the submission `{self.submission}`"
        return f"The file `{self.path}`{of} " + (f"has the right {', '.join(asked)}." if asked else "is there.")

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Look at the file, and read it when its content is asked for."""
        file, record = OneFile(evidence, self.path or "", self.submission), evidence.record
        if not self.exists:
            there = file.present()
            idle = record is not None and record.did_nothing
            found, seen = "present" if there else "absent", (file.seen(),)
            return Measurement(float(not there), not there, "", "absent", found, vacuous=idle and not there, seen=seen)
        asked = list(self._asked(file, evidence, ports))
        failed = [one for one in asked if not one.holds]
        shown = (failed or asked)[0]
        pointer = file.pointer()
        reason = "; ".join(why for why in (*(one.reason for one in failed), pointer if failed else "") if why)
        seen = (file.seen(shown.line, pointer),)
        return Measurement(float(not failed), not failed, reason, shown.expected, shown.actual, seen=seen)

    def _options(self) -> list[str]:
        given = {**dict(self), "json": self.json_}
        return [key for key in (*_CONTENT, "mode") if given[key] is not None]

    def _data(self) -> Iterator[tuple[Notation, DataAt]]:
        """The values asked for, each with the notation that they stand in."""
        asked: dict[Notation, DataAt | None] = {"json": self.json_, "yaml": self.yaml, "toml": self.toml}
        yield from ((notation, at) for notation, at in asked.items() if at is not None)

    def _asked(self, file: OneFile, evidence: Evidence, ports: Ports) -> Iterator[Asked]:
        facts = file.facts()
        if self.mode is not None and facts is not None and facts.kind == "file":
            mode = f"{facts.mode:o}".rjust(3, "0")
            yield Asked(mode == (self.mode.lstrip("0") or "0").rjust(3, "0"), f"mode {self.mode}", f"mode {mode}", "")
        if self._options():
            yield from self._content(file, file.read(MOST_BYTES), evidence, ports)
        else:
            why = file.absence()
            yield Asked(not why, "present", "absent" if why else "present", why)

    def _content(self, file: OneFile, data: Content, evidence: Evidence, ports: Ports) -> Iterator[Asked]:
        if self.bytes is not None:
            yield Asked(self.bytes.holds(len(data)), f"{self.bytes.in_words()} bytes", f"{len(data)} bytes", "")
        if self.lines is not None:
            count = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
            yield Asked(self.lines.holds(count), f"{self.lines.in_words()} lines", f"{count} lines", "")
        if self.sha256 is not None:
            digest = sha256(data).hexdigest()
            yield Asked(digest == self.sha256, self.sha256, digest, "the file has other bytes")
        if self.equals is not None:
            wanted = filled(self.equals, evidence).encode(errors="surrogatepass")
            actual, line = _first_difference(data, wanted)
            yield Asked(data == wanted, "the expected text", actual, "", line)
        if self.contains is not None:
            wanted = filled(self.contains, evidence).encode(errors="surrogatepass")
            if not wanted:
                raise Missing("harness", "`contains` became an empty text")
            line = data.count(b"\n", 0, data.index(wanted)) + 1 if wanted in data else None
            yield Asked(line is not None, _shown(wanted), "absent" if line is None else "present", "", line)
        if self.matches is not None:
            yield self._match(file, data, ports)
        for notation, at in self._data():
            yield Asked(*found_at(at, data, notation, self.path or self.submission or "", evidence))

    def _match(self, file: OneFile, data: Content, ports: Ports) -> Asked:
        assert self.matches is not None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise NotHandedIn(f"{file.called} is not text in UTF-8", cause="excess") from error
        if len(text) > MAX_TEXT_CHARACTERS:
            raise NotHandedIn(f"{file.called} is too large to be searched", cause="excess")
        try:
            found = ports.patterns.search(self.matches, text, ports.time_left(SEARCH_LIMIT_S))
        except TimeoutError as error:
            if ports.time_left(SEARCH_LIMIT_S) <= 0:
                raise OutOfTime(SEARCH_LIMIT_S, material=True) from error
            why = f"the search for `{self.matches.text}` did not end within {SEARCH_LIMIT_S:g} s"
            raise NotHandedIn(why) from error
        if found is None:
            return Asked(False, self.matches.text, "no match", "")
        return Asked(True, self.matches.text, "found", "", text.count("\n", 0, found[0]) + 1)


def _first_difference(data: Content, wanted: Content) -> tuple[str, int | None]:
    if data == wanted:
        return "the expected text", None
    pairs = enumerate(zip(data, wanted, strict=False))
    here = next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(data), len(wanted)))
    line = data.count(b"\n", 0, here) + 1
    return f"another text, from line {line} on", line


def _shown(text: Content) -> str:
    line = re.sub(r"\s+", " ", text.decode(errors="replace"))
    return line if len(line) <= 80 else line[:79] + "…"
