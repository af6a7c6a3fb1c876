"""Checking one recorded session against one spec: read, verify, look at the repository, evaluate, report."""

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256

from msgspec import Struct, field
from msgspec.structs import replace

from rulebook.diagnostic import has_errors
from rulebook.errors import Missing, RuleFileError, UnknownFormat, UsageError
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Record
from rulebook.expression.program import Program, folder_of, load_rules
from rulebook.interpreter.evaluate import evaluate
from rulebook.interpreter.trace import Trace
from rulebook.outcome import Skipped
from rulebook.ports import Ports
from rulebook.report.findings import Finding, finding_from, finding_of
from rulebook.report.judged import Audit, Judged, Measured, RepositoryUsed
from rulebook.services.store import store_folder
from rulebook.session.floor import floor_of
from rulebook.session.grounds import forget, grounded
from rulebook.session.implied import BaseCommit, began_at, session_ended
from rulebook.session.opening import Opened, open_session, open_sessions
from rulebook.session.resulting import resulting_repository
from rulebook.session.testing import left_out, test_runs, tests_of
from rulebook.spec.params import param_values


def load_program(path: str, ports: Ports) -> Program:
    """The eval spec at `path`, compiled. Raises RuleFileError, and UsageError for another kind of file."""
    loaded = load_rules(path, ports.files)
    if has_errors(loaded.diagnostics):
        raise RuleFileError(loaded.diagnostics)
    if not isinstance(loaded.content, Program):
        raise UsageError(f"`{path}` is a `{loaded.schema}` file; a session is checked against a `chock.eval` file.")
    return loaded.content


class Check(Struct, frozen=True):
    """One spec, compiled, and how sessions are checked against it; make it with `check_of`.

    `shared`: several sessions are checked, so that the fixture's own tree, which belongs to none of them, is not
    taken for what one of them left behind.
    """

    spec_path: str
    program: Program
    values: Mapping[str, object]
    ports: Ports
    project: str | None = None
    skip_tests: bool = False
    allow_unchained: bool = False
    session_format: str | None = None
    shared: bool = False
    _floors: dict[object, float | None] = field(default_factory=dict)

    def one(self, session: str) -> Judged:
        """The session of that id or path, checked. Raises UsageError; whatever the session is, the result says it."""
        return self._judged(
            open_session(
                session,
                self.program.wants,
                self.ports.files,
                session_format=self.session_format,
                allow_unchained=self.allow_unchained,
            )
        )

    def each(self, session: str) -> Iterator[tuple[str | None, Judged | UnknownFormat]]:
        """Every session that a file holds, checked, with its name in the file; or why one of several cannot be read.

        Raises UsageError.
        """
        for part, opened in open_sessions(
            session,
            self.program.wants,
            self.ports.files,
            session_format=self.session_format,
            allow_unchained=self.allow_unchained,
        ):
            yield part, opened if isinstance(opened, UnknownFormat) else self._judged(opened)

    @property
    def fixture(self) -> str | None:
        """The folder that the spec names as its fixture."""
        named = self.program.spec.head.fixture
        return None if named is None else os.path.join(folder_of(self.spec_path), named)

    def _judged(self, opened: Opened) -> Judged:
        program, ports = self.program, self.ports
        if not opened.audit.accepted:
            return _unjudged(program, opened)
        with resulting_repository(
            self.project,
            opened.record,
            self.fixture,
            program.spec.head.base_commit,
            store_folder(),
            ports,
            shared=self.shared,
        ) as resulting:
            tests = tests_of(program)
            runs = test_runs(tests, resulting.repository, resulting.reason, self.values, ports)
            runs = left_out(tests) if self.skip_tests else runs
            evidence = Evidence(opened.record, resulting.repository, resulting.reason, runs, self.values)
            asked = self.fixture is not None or program.spec.head.base_commit is not None
            base = resulting.base if asked else None
            judged = judge(program, evidence, opened.audit, ports, base=base, skip_tests=self.skip_tests)
            floor = self._floor(evidence, resulting.base)
            tree = resulting.repository
            folder = None if tree is None or tree.origin == "session ref" else tree.root
            return replace(judged, floor=floor, path=opened.word, part=opened.part, project=folder)

    def _floor(self, evidence: Evidence, base: BaseCommit) -> float | None:
        """The empty session's reward. Without a tree it is the same for all that ran under the same configuration."""
        if evidence.tree is not None:
            return floor_of(self.program, evidence, base, self.ports)
        known = tuple(evidence.session.configs), evidence.no_tree, base
        if known not in self._floors:
            self._floors[known] = floor_of(self.program, evidence, base, self.ports)
        return self._floors[known]


def check_of(
    spec_path: str,
    ports: Ports,
    *,
    program: Program | None = None,
    project: str | None = None,
    skip_tests: bool = False,
    params: Mapping[str, object] | None = None,
    allow_unchained: bool = False,
    session_format: str | None = None,
    shared: bool = False,
) -> Check:
    """The spec at `spec_path` (`program`, where it is compiled already), ready to check sessions against.

    Raises RuleFileError, and UsageError for a project that is not there and parameters that do not fit.
    """
    program = program or load_program(spec_path, ports)
    values = param_values(program.spec.params, params or {})
    if project is not None and not ports.files.stands(project, folder=True):
        raise UsageError(f"There is no folder `{project}` to judge.")
    return Check(spec_path, program, values, ports, project, skip_tests, allow_unchained, session_format, shared)


def judge(
    program: Program,
    evidence: Evidence,
    audit: Audit,
    ports: Ports,
    *,
    base: BaseCommit | None = None,
    skip_tests: bool = False,
) -> Judged:
    """Evaluate every rule and gather the findings. `base` None: nobody asked where the session began."""
    forget(evidence)
    findings = [grounded(finding, evidence, audit) for finding in _implied(evidence.session, base)]
    traces: dict[str, Trace] = {}
    skipped: list[str] = []
    for item in program.items:
        if skip_tests and item.id.startswith(_TESTS):
            skipped.append(item.id)
            findings.append(finding_from(item.id, item.category, item.weight, Skipped("left out by --skip-tests")))
            continue
        forget(evidence)
        trace = evaluate(item.node, evidence, ports)
        traces[item.id] = trace
        finding = finding_of(item.id, item.category, item.weight, trace, why=item.node.common.why)
        findings.append(grounded(finding, evidence, audit))
    framed = _framed(program, evidence, audit)
    return replace(
        framed,
        base_commit=evidence.tree.base if evidence.tree else base.resolved if base else None,
        findings=tuple(findings),
        traces=traces,
        skipped_tests=tuple(skipped),
    )


_TESTS = "tests["


def _implied(record: Record, base: BaseCommit | None) -> list[Finding]:
    found = [finding_from("session.ended", "harness", 1.0, session_ended(record))]
    if base is not None:
        found.append(finding_from("base_commit", "fixture", 1.0, began_at(base, record)))
    return found


def _unjudged(program: Program, opened: Opened) -> Judged:
    """The report of a session whose log cannot be verified: it says so, and nothing else."""
    return replace(_framed(program, Evidence(opened.record), opened.audit), path=opened.word, part=opened.part)


def _framed(program: Program, evidence: Evidence, audit: Audit) -> Judged:
    spec, record = program.spec, evidence.session
    config = record.configs[-1] if record.configs else None
    return Judged(
        name=spec.head.name,
        spec_path=spec.document.file,
        spec_sha256=sha256(spec.document.text.encode("utf-8", "surrogatepass")).hexdigest(),
        audit=audit,
        findings=(),
        session=record.session_id,
        repository=_used(evidence),
        config_sha256=config.config_sha256 if config else None,
        sandbox_sha256=config.sandbox_sha256 if config else None,
        sandbox_driver=config.sandbox_driver if config else None,
        provenance=spec.provenance,
        measured=_measured(record),
        weights=spec.weights,
        end_reason=record.end.end.reason if record.end else None,
    )


def _used(evidence: Evidence) -> RepositoryUsed | None:
    if evidence.tree is None:
        return None
    try:
        return RepositoryUsed(evidence.tree.origin, evidence.tree.tree())
    except Missing:
        return RepositoryUsed(evidence.tree.origin)


def _measured(record: Record) -> Measured:
    usage, spend = record.usage, record.spend
    timed = "time" in record.carries and record.first_ms is not None and record.last_ms is not None
    return Measured(
        turns=record.turns,
        tool_calls=record.call_count if "tool_calls" in record.carries else None,
        cost=spend.amount if spend.known else None,
        currency=spend.currency if spend.known else None,
        input_tokens=usage.input if usage else None,
        output_tokens=usage.output if usage else None,
        cache_read_tokens=usage.cache_read if usage else None,
        cache_write_tokens=usage.cache_write if usage else None,
        duration_s=((record.last_ms or 0) - (record.first_ms or 0)) / 1000 if timed else None,
    )
