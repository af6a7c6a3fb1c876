"""A suite as it was written: the cases of a `chock.rl-suite`."""

from msgspec import Struct

from rulebook.source.located import Located
from rulebook.spec.head import Head


class Case(Struct, frozen=True):
    """One case: an eval file (from the suite's folder), its split, how many sessions are run, and in which groups."""

    name: str
    spec: str
    split: str
    rollouts: int
    group_size: int


class SuiteSpec(Struct, frozen=True):
    """A suite, typed. `head` has the fields of the whole file."""

    document: Located
    head: Head
    cases: tuple[Case, ...]
