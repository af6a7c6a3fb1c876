"""What checking a session came to, before any number is made of it: the input of every report."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.interpreter.trace import Trace
from rulebook.report.findings import Finding


class Audit(Struct, frozen=True):
    """What verifying the log said. `accepted` is whether that verdict may be judged at all.

    `head` is the digest of the last line, `sha256` that of the whole file.
    """

    verdict: str
    accepted: bool
    events: int
    sha256: str | None = None
    head: str | None = None
    reason: str = ""


class Measured(Struct, frozen=True):
    """Counts that the session itself supplied; None is unknown, never 0."""

    turns: int | None = None
    tool_calls: int | None = None
    cost: float | None = None
    currency: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    duration_s: float | None = None


class RepositoryUsed(Struct, frozen=True):
    """Which tree was judged: `source` is project, workspace, session ref or fixture; `tree` an object id."""

    source: str
    tree: str | None = None


class Judged(Struct, frozen=True):
    """One session, checked against one spec.

    `weights` are the reward weights as written. `end_reason` is the log's word, None when the session did not
    end. `skipped_tests` names the tests that `--skip-tests` left out. `floor` is the reward of the empty
    session, None where it was not computed. `path` is the session's file or id as it was named, `part` which of the
    file's sessions it is, `project` the folder of the repository that was judged (None: a checkout that is gone since);
    all None for evidence held in memory. `traces` holds the whole trace of findings that came from rules, by
    finding id.
    """

    name: str
    spec_path: str
    spec_sha256: str
    audit: Audit
    findings: tuple[Finding, ...]
    session: str | None = None
    path: str | None = None
    part: str | None = None
    project: str | None = None
    base_commit: str | None = None
    repository: RepositoryUsed | None = None
    config_sha256: str | None = None
    sandbox_sha256: str | None = None
    sandbox_driver: str | None = None
    provenance: Mapping[str, object] = field(default_factory=dict)
    measured: Measured = field(default_factory=Measured)
    weights: Mapping[str, float] = field(default_factory=dict)
    floor: float | None = None
    end_reason: str | None = None
    skipped_tests: tuple[str, ...] = ()
    traces: Mapping[str, Trace] = field(default_factory=dict)
