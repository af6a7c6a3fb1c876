"""The floor: what the empty session, which did nothing at the base commit, would earn under the same spec."""

from msgspec.structs import replace

from rulebook.checks.command import Command
from rulebook.checks.tests import Tests
from rulebook.errors import Missing
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Configured, EndRecord, Network, Record, Spend
from rulebook.evidence.repository import Repository
from rulebook.evidence.sources import TestOutput
from rulebook.evidence.transcript import End, Usage
from rulebook.expression.nodes import Leaf, Node, parts_of
from rulebook.expression.program import Program
from rulebook.interpreter.evaluate import evaluate
from rulebook.ports import GitError, Ports
from rulebook.report.findings import finding_from, finding_of
from rulebook.report.judged import Audit, Judged
from rulebook.report.rewards import totals
from rulebook.services.unasked_models import UnaskedModels
from rulebook.session.implied import BaseCommit, began_at, session_ended


def floor_of(program: Program, evidence: Evidence, base: BaseCommit, ports: Ports) -> float | None:
    """The empty session's reward at the base tree; None where it would take a command or a model, or cannot be told."""
    if any(_runs_something(item.node) for item in program.items):
        return None
    ports = replace(ports, models=UnaskedModels("no model is asked about an empty session"))
    empty = empty_session(evidence.session.configs)
    if evidence.tree is None or base.resolved is None:
        return _reward(program, Evidence(empty, no_tree=evidence.no_tree, params=evidence.params), base, ports)
    try:
        with ports.workspaces.fresh() as folder:
            ports.git.checkout(evidence.tree.root, base.resolved, folder)
            tree = Repository(folder, evidence.tree.origin, ports.files, ports.git, base.resolved)
            return _reward(program, Evidence(empty, tree, params=evidence.params), base, ports)
    except (GitError, OSError, Missing):
        return None


def empty_session(configured: list[Configured]) -> Record:
    """A session that was started under this configuration and ended at once: it did nothing and cost nothing."""
    return Record(
        total_events=2,
        event_counts={"session.start": 1, "session.end": 1},
        started=True,
        ends=[EndRecord(End("finished"))],
        usage=Usage(input=0, output=0, cache_read=0, cache_write=0, requests=0),
        spend=Spend(free=1),
        network=Network(summaries=1, hosts_complete=True),
        configs=configured,
        first_ms=0,
        last_ms=0,
    )


def _reward(program: Program, evidence: Evidence, base: BaseCommit, ports: Ports) -> float | None:
    began = BaseCommit(base.asked, base.resolved, base.resolved, base.reason)
    findings = [finding_from("session.ended", "harness", 1.0, session_ended(evidence.session))]
    if evidence.tree is not None:
        findings.append(finding_from("base_commit", "fixture", 1.0, began_at(began, evidence.session)))
    for item in program.items:
        findings.append(finding_of(item.id, item.category, item.weight, evaluate(item.node, evidence, ports)))
    audit = Audit("intact", True, evidence.session.total_events)
    judged = Judged("", "", "", audit, tuple(findings), weights=program.spec.weights, end_reason="finished")
    return totals(judged).reward


def _runs_something(node: Node) -> bool:
    if isinstance(node, Leaf):
        source = getattr(node.check, "source", None)
        runs = isinstance(node.check, Tests | Command) or node.check.kind in ("executable", "python")
        return runs or isinstance(source, TestOutput)
    return any(_runs_something(part) for part in parts_of(node))
