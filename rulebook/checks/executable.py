"""`executable`: a program of the author's that judges, and writes the score."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr

from rulebook.checks import Check, Checked
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.evidence.scoring_script import DEFAULT_TIMEOUT_S, OUTPUT_LIMIT_BYTES, Script, scored_by
from rulebook.evidence.trial import INHERITED
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.fields import Duration, LiveArgv, Size
from rulebook.languages.template import Template
from rulebook.languages.types import TEXT, Scope
from rulebook.outcome import Outcome
from rulebook.place import Path
from rulebook.ports import Ports

_SCORE_FILE = "score.json"
_PROGRAMS = (".py", ".sh", ".bash", ".js", ".mjs", ".ts", ".rb", ".pl", ".php", ".lua")
_OWN = {"score_file": TEXT, "python": TEXT}
"""The names that only this kind's words may use."""


def _variable(name: str) -> str:
    if re.fullmatch(r"[^=\0]+", name):
        return name
    words = {"value": name, "what": "the name of an environment variable", "example": "`PATH`"}
    raise refused(LanguageError(Fault("RB214", words)))


def _with_score_file(argv: tuple[Template, ...]) -> tuple[Template, ...]:
    """Refuse a command that does not say where the score file's path belongs."""
    last = len(argv) - 1
    named = any("score_file" in word.names() for word in argv)
    if not named and (last == 0 or argv[last].live or not _is_bare(argv[last].text)):
        raise refused(LanguageError(Fault("RB503", {"word": argv[last].text}, path=(last,))))
    return argv


def _is_bare(name: str) -> bool:
    """Whether it can name the score file: no path, no option, and no program in a file, which would be written over."""
    plain = "/" not in name and name.strip() not in ("", ".", "..") and not name.startswith("-")
    return plain and not name.lower().endswith(_PROGRAMS)


Variable = Annotated[str, AfterValidator(_variable)]
Range = Annotated[
    tuple[Annotated[float, Field(strict=True)], Annotated[float, Field(strict=True)]], Field(strict=False)
]


class Environment(BaseModel):
    """What a script sees of an environment."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    inherit: Annotated[tuple[Variable, ...], Field(strict=False)] = Field(
        INHERITED, description="The variables of our own that it sees, and no others."
    )
    set_: Mapping[Variable, str] = Field(default_factory=dict, alias="set", description="Variables with these values.")


class Executable(Check, kind="executable"):
    """A program judges: it writes a score and what it found to a file.

    Source: scoring, ExecutableJudge.
    """

    short = "argv"
    score_range = (-float("inf"), float("inf"))
    passes_unless_told = True

    argv: Annotated[LiveArgv, AfterValidator(_with_score_file)] = Field(
        description="The program and its arguments, one word each; templates. There is no shell."
    )
    continue_threshold: float | None = Field(
        None,
        description="It passes when its score is at least this; -1 where it is not written.",
        json_schema_extra={"default": -1.0},
    )
    cwd: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="The folder it runs in, looked for from the rule file's; a fresh private one by default."
    )
    timeout: Duration = Field(
        DEFAULT_TIMEOUT_S,
        description="How long it may run, such as `30s`; 10 minutes by default.",
        json_schema_extra={"default": "10m"},
    )
    env: Environment = Field(
        Environment(), description="Its environment: which variables it inherits, and which are set."
    )
    output_limit: Size = Field(
        OUTPUT_LIMIT_BYTES,
        description="How much is kept of what it prints to stdout, and to stderr; 1 MiB by default.",
        json_schema_extra={"default": "1 MiB"},
    )
    on_crash: Literal["zero", "unmeasured"] = Field(
        "zero", description="What it means when it breaks or leaves no score: score 0, or `unmeasured`."
    )
    range: Range | None = Field(None, description="Low and high: the score is scaled from here to 0..1 in a finding.")

    _folder: str = PrivateAttr("")

    def model_post_init(self, context: object) -> None:
        """Remember the rule file's folder: the paths in it start there, wherever the script runs."""
        file = context.get("file") if isinstance(context, Mapping) else None
        self._folder = os.path.dirname(os.path.abspath(file)) if isinstance(file, str) else os.getcwd()

    def wants(self) -> Wants:
        """What the templates among its words need."""
        return wants_of_names(frozenset().union(*(word.names() for word in self.argv)))

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The words of the command."""
        for index, word in enumerate(self.argv):
            yield ("argv", index), word, scope.plus(_OWN)

    def sentence(self) -> str:
        """What it asks for."""
        line = " ".join(word.text for word in self.argv)
        if self.continue_threshold is None:
            return f"`{line}` writes a score."
        return f"`{line}` writes a score of at least {self.continue_threshold:g}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Run the script and read its score.

        Raises NotHandedIn or Missing when a word of it cannot be filled in, OutOfTime when the rule's time ends first.
        """
        script = Script(
            argv=lambda score_file: self._words(score_file, evidence, ports),
            file_name=_SCORE_FILE if self._says_where else self.argv[-1].text,
            cwd=None if self.cwd is None else os.path.join(self._folder, self.cwd),
            timeout_s=self.timeout,
            inherit=self.env.inherit,
            environment=self.env.set_,
            output_limit_bytes=self.output_limit,
            crash_scores=self.on_crash == "zero",
        )
        return scored_by(script, self._threshold, ports)

    @property
    def _threshold(self) -> float:
        return -1.0 if self.continue_threshold is None else self.continue_threshold

    @property
    def _says_where(self) -> bool:
        return any("score_file" in word.names() for word in self.argv)

    def _words(self, score_file: str, evidence: Evidence, ports: Ports) -> list[str]:
        own = {"score_file": score_file, "python": sys.executable}
        words = [
            filled(word, evidence, own) if word.live else self._found(word.text, index, ports)
            for index, word in enumerate(self.argv)
        ]
        return words if self._says_where else [*words[:-1], score_file]

    def _found(self, word: str, index: int, ports: Ports) -> str:
        """The path of a file beside the rule file that the word names; else, and with a `cwd`, the word."""
        looks_like_path = "/" in word or ("." in word and index > 0)
        if self.cwd is not None or not looks_like_path or word.startswith(("/", "-")):
            return word
        path = os.path.join(self._folder, word)
        return path if ports.files.stands(path, folder=False) else word
