"""The words of the language: one module per kind of check, found by discovery.

A kind is a subclass of `Check`, registered under its key. Adding one touches three files with one stem:
`checks/<kind>.py`, `checks/<kind>.md` and `tests/checks/<kind>.yaml`.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Wants
from rulebook.languages.faults import Fault
from rulebook.languages.types import Scope
from rulebook.outcome import Category, Outcome
from rulebook.place import Path
from rulebook.ports import Ports


class Checked(Protocol):
    """A text in one of the small languages, already parsed, that can be typed against a scope."""

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """Everything that is wrong with it where these names can be used."""
        ...


JUDGE_KINDS = ("rubric", "llm_judge", "jev")
"""The kinds in which a language model judges."""

MODEL_KINDS = (*JUDGE_KINDS, "embedding_similarity")
"""Those that ask a model of any sort."""

_KINDS: dict[str, type["Check"]] = {}


class Check(BaseModel):
    """One thing to measure; its fields are the author's options.

    Class facts that other passes ask for: `kind` the key in a rule file; `short` the field that the short form fills
    (None: there is no short form); `category` whose a failure is; `score_range` the least and greatest score;
    `negative` whether a session that does nothing passes it; `needs_threshold` whether it has no pass mark of its own;
    `passes_unless_told` whether every score passes until a pass mark is written;
    `for_rows` whether it scores the rows of an evaluation and can stand nowhere else;
    `in_expect` whether `expect:` knows it; `each` the field whose items become findings of their own there.
    """

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
    )

    kind: ClassVar[str]
    short: ClassVar[str | None] = None
    category: ClassVar[Category] = "model"
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    negative: ClassVar[bool] = False
    needs_threshold: ClassVar[bool] = False
    passes_unless_told: ClassVar[bool] = False
    in_expect: ClassVar[bool] = False
    for_rows: ClassVar[bool] = False
    each: ClassVar[str | None] = None

    def __init_subclass__(cls, *, kind: str = "") -> None:
        super().__init_subclass__()
        if not kind:
            return
        if kind in _KINDS:
            raise TypeError(f"two kinds of check are called {kind}: {_KINDS[kind].__module__} and {cls.__module__}")
        cls.kind = kind
        _KINDS[kind] = cls

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """The keys that an author may write inside it."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @classmethod
    def item_name(cls, item: object) -> str:
        """What an item of the `each` field is called in a finding's id."""
        return str(item)

    def owner(self) -> Category:
        """Whose a failure of this very check is, where the options decide."""
        return type(self).category

    def scores(self) -> tuple[float, float]:
        """The least and greatest score of this very check, where the options decide."""
        return type(self).score_range

    def forbids(self) -> bool:
        """Whether these very options only ask that something does not happen."""
        return type(self).negative

    def runs_code(self) -> bool:
        """Whether it runs code of the harness's own, which may read whatever there is."""
        return False

    def wants(self) -> Wants:
        """What must be kept of the session so that it can be measured."""
        return Wants()

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The formulas, paths and templates in its fields: each with its path, and the names it may use."""
        return ()

    def sentence(self) -> str:
        """What it asks for, as a line that a task writer reads."""
        raise NotImplementedError

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """What the evidence says. Raises only EvidenceError, which the interpreter turns into an outcome."""
        raise NotImplementedError


@cache
def kind_names() -> frozenset[str]:
    """The keys of the kinds that ship with Rulebook, without importing one: they are the names of the modules."""
    names = (name.removesuffix(".py") for name in os.listdir(__path__[0]) if name.endswith(".py"))
    return frozenset(names) - {"__init__"}


@cache
def kinds() -> Mapping[str, type[Check]]:
    """Every kind of check that ships with Rulebook, by its key."""
    for module in sorted(kind_names()):
        import_module(f"{__name__}.{module}")
    return {key: _KINDS[key] for key in sorted(kind_names())}


@cache
def foreign_kinds() -> Mapping[str, type[Check]]:
    """The kinds that other packages add through the entry point group `rulebook.checks`."""
    from importlib.metadata import entry_points  # 58 ms: only a kind that is not ours pays for it

    ours = kind_names()
    for entry in sorted(entry_points(group="rulebook.checks"), key=lambda found: found.name):
        entry.load()
    return {key: check for key, check in sorted(_KINDS.items()) if key not in ours}


def kind_named(key: str) -> type[Check] | None:
    """The kind of check called `key`, ours or another package's; None when there is none.

    Only that kind's module is imported: a file that uses three kinds does not pay for thirty.
    """
    return _own(key) if key in kind_names() else foreign_kinds().get(key)


@cache
def _own(key: str) -> type[Check]:
    import_module(f"{__name__}.{key}")
    return _KINDS[key]
