"""The tests that an eval declares: each is run when it is first asked for, once."""

from collections.abc import Callable, Iterable, Mapping

from rulebook.checks.tests import Tests
from rulebook.errors import EvidenceError, Missing
from rulebook.evidence.bundle import TestRuns
from rulebook.evidence.repository import Repository
from rulebook.evidence.trial import run_over
from rulebook.expression.program import Program
from rulebook.languages.template import TemplateError
from rulebook.languages.types import MissingValue
from rulebook.ports import Completed, Ports
from rulebook.spec.rules import OfCheck


def tests_of(program: Program) -> tuple[Tests, ...]:
    """The declared tests, in the file's order."""
    bodies = [test.rule.body for test in program.spec.tests]
    return tuple(body.check for body in bodies if isinstance(body, OfCheck) and isinstance(body.check, Tests))


def test_runs(
    tests: Iterable[Tests],
    repository: Repository | None,
    no_repository: str,
    params: Mapping[str, object],
    ports: Ports,
) -> TestRuns:
    """The declared tests by name, none of them run yet.

    `no_repository` says why there is none to run them over.

    Asking for one raises what running it raised, every time.
    """
    return {test.name: _once(_run(test, repository, no_repository, params, ports)) for test in tests}


def left_out(tests: Iterable[Tests]) -> TestRuns:
    """The declared tests by name, when none is to be run: asking for one raises Missing in `test`."""

    def refuse() -> Completed:
        raise Missing("test", "the tests were left out by --skip-tests")

    return {test.name: refuse for test in tests}


def _run(
    test: Tests, repository: Repository | None, no_repository: str, params: Mapping[str, object], ports: Ports
) -> Callable[[], Completed]:
    def run() -> Completed:
        if repository is None:
            raise Missing("fixture", no_repository)
        try:
            argv = [word.render(lambda name: params if name == "params" else MissingValue(name)) for word in test.argv]
        except TemplateError as error:
            raise Missing("harness", f"the command of the test `{test.name}`: {error}") from error
        return run_over(repository, argv, test.timeout, test.take, ports)

    return run


def _once(run: Callable[[], Completed]) -> Callable[[], Completed]:
    """Remember how it ended, an error too: a test that is asked for twice must not be run twice."""
    known: list[Completed | EvidenceError] = []

    def ask() -> Completed:
        if not known:
            try:
                known.append(run())
            except EvidenceError as error:
                known.append(error)
        if isinstance(known[0], EvidenceError):
            raise known[0]
        return known[0]

    return ask
