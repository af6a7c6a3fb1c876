"""Everything that a run left behind, as rules see it: read-only, and each part read at most once."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from rulebook.errors import Missing
from rulebook.evidence.document import Document, Ground
from rulebook.evidence.record import Record
from rulebook.evidence.repository import Repository
from rulebook.evidence.submission import Submission
from rulebook.evidence.timeline import Timeline, timeline_of
from rulebook.ports import Completed

TestRuns = Mapping[str, Callable[[], Completed]]
"""Declared tests by name; calling one runs it the first time and answers from memory afterwards."""


class Evidence(Struct):
    """What one session left behind.

    `record` and `tree` are None when there is no session or no repository; `no_tree` then says why. `tests` are
    run when first asked for. `params` are the file's parameters with the caller's values, `steps` what the steps of a
    task before this one came to, `submissions` every submission that is declared, handed in or not. `row` is a row of
    a dataset with its `output`, None where none is judged. `read` holds what has been looked at since it was last
    cleared.
    """

    record: Record | None = None
    tree: Repository | None = None
    no_tree: str = "no repository was given: write `fixture:` or pass `--project`"
    tests: TestRuns = field(default_factory=dict)
    params: Mapping[str, object] = field(default_factory=dict)
    steps: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    submissions: Mapping[str, Submission] = field(default_factory=dict)
    run: object = None
    row: Mapping[str, object] | None = None
    read: set[Ground] = field(default_factory=set)
    _document: Document | None = None
    _timelines: dict[frozenset[str], Timeline] = field(default_factory=dict)

    @property
    def session(self) -> Record:
        """The session's facts. Raises Missing in `harness` when there is no session."""
        self.read.add("session")
        if self.record is None:
            raise Missing("harness", "no session was given")
        return self.record

    @property
    def repository(self) -> Repository:
        """The resulting repository. Raises Missing in `fixture` when there is none."""
        self.read.add("repository")
        if self.tree is None:
            raise Missing("fixture", self.no_tree)
        return self.tree

    @property
    def document(self) -> Document:
        """The evidence document: what expressions, paths and templates read."""
        if self._document is None:
            self._document = Document(
                self.record, self.tree, self.tests, self.params, self.steps, self.submissions, self.read
            )
        return self._document

    def timeline(self, events: frozenset[str]) -> Timeline:
        """The session's calls, and its events of these names, in order: worked out once for all rules that ask for it.

        Raises Missing in `harness` when there is no session, and NotHandedIn when it is too large to be looked at.
        """
        record = self.session
        record.need_texts()
        if events not in self._timelines:
            self._timelines[events] = timeline_of(record, events)
        return self._timelines[events]

    def test(self, name: str) -> Completed:
        """How the declared test `name` ended; it is run now if it has not been."""
        self.read.add("tests")
        if name not in self.tests:
            raise Missing("test", f"no test called `{name}` is declared")
        return self.tests[name]()

    def submission(self, name: str) -> Submission:
        """The declared submission `name`, handed in or not. Raises Missing in `harness` when nobody supplied it."""
        self.read.add("submissions")
        if name not in self.submissions:
            raise Missing("harness", f"no submission called `{name}` was supplied")
        return self.submissions[name]
