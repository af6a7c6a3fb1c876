"""Where a check's text comes from: the values of `from` and `expected_from`."""

from typing import Literal, assert_never

from msgspec import Struct

from rulebook.evidence.document import wants_of_names
from rulebook.evidence.record import Wants
from rulebook.languages.faults import Fault
from rulebook.languages.select import Select
from rulebook.languages.template import Template
from rulebook.languages.types import RecordOf, Scope
from rulebook.place import Path
from rulebook.spelling import guess

DEFAULT_LIMIT_BYTES = 1024 * 1024


class AssistantText(Struct, frozen=True):
    """`assistant`: the assistant messages' text, joined by blank lines."""


class FinalMessage(Struct, frozen=True):
    """`final_message`: the last assistant message that has text."""


class Messages(Struct, frozen=True):
    """`transcript`: messages rendered one a line; `last` None is all of them."""

    last: int | None = None
    roles: tuple[str, ...] = ("system", "user", "assistant", "tool")


ToolPart = Literal["result", "arguments", "call"]


class ToolText(Struct, frozen=True):
    """`tool`: what completed calls of one tool, or of any (`*`), answered or were given; `last` None is all of them.

    `call` is the whole call: its tool, its arguments, how it ended and what it answered.
    """

    tool: str
    part: ToolPart = "result"
    last: int | None = None


class SubmittedAnswers(Struct, frozen=True):
    """`answers`: what was handed in by name, each answer behind its name; with `name` that one alone."""

    name: str | None = None


class SubmissionText(Struct, frozen=True):
    """`submission`: the saved copy of what was handed in, or with `file` a file in a folder that was."""

    submission: str
    file: str = ""
    max_bytes: int = DEFAULT_LIMIT_BYTES


class RepositoryFile(Struct, frozen=True):
    """`file`: a file of the repository at its final state."""

    path: str
    max_bytes: int = DEFAULT_LIMIT_BYTES


class RepositoryDiff(Struct, frozen=True):
    """`diff`: the change from the base commit."""

    max_bytes: int = DEFAULT_LIMIT_BYTES


class TestOutput(Struct, frozen=True):
    """`test`: what a declared test printed."""

    test: str
    stream: Literal["stdout", "stderr"] = "stdout"


class JsonPath(Struct, frozen=True):
    """`json_path`: a path into the evidence document."""

    select: Select


class GivenText(Struct, frozen=True):
    """`text`: a template."""

    template: Template


Source = (
    AssistantText
    | FinalMessage
    | Messages
    | ToolText
    | SubmittedAnswers
    | SubmissionText
    | RepositoryFile
    | RepositoryDiff
    | TestOutput
    | JsonPath
    | GivenText
)


def wants_of(source: Source) -> Wants:
    """What must be kept of the session so that this source can be read."""
    match source:
        case AssistantText() | FinalMessage():
            return Wants(replies=True)
        case Messages():
            return Wants(messages=True)
        case ToolText():
            return Wants(tool_calls=True)
        case JsonPath(select):
            return wants_of_names((select.root,))
        case GivenText(template):
            return wants_of_names(template.names())
        case SubmittedAnswers() | SubmissionText() | RepositoryFile() | RepositoryDiff() | TestOutput():
            return Wants()
        case _:
            assert_never(source)


class DeclaredTest(Struct, frozen=True):
    """The name of a test that a source reads from."""

    name: str

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """RB302 when the file declares no test of that name."""
        tests = scope.names.get("tests")
        declared = tests.fields if isinstance(tests, RecordOf) else {}
        if self.name in declared:
            return ()
        return (Fault("RB302", {"name": self.name, "guess": guess(self.name, declared)}),)


_DECLARED = "Write `%s` with its `path` under the step's `submissions`"


class DeclaredSubmission(Struct, frozen=True):
    """The name of a submission that a source or a check reads."""

    name: str

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """RB305 when the step, or the pack's `needs`, declares no submission of that name."""
        submissions = scope.names.get("submissions")
        if not isinstance(submissions, RecordOf):
            help = "What a student hands in is declared by the steps of a `rulebook.task` file."
            return (Fault("RB305", {"name": self.name, "guess": ""}, help=help),)
        if self.name in submissions.fields:
            return ()
        says = guess(self.name, submissions.fields) if submissions.fields else f" {_DECLARED % self.name}."
        return (Fault("RB305", {"name": self.name, "guess": says}),)


Typed = Select | Template | DeclaredTest | DeclaredSubmission
"""What in a source can be typed."""


def texts_of(source: Source) -> tuple[tuple[Path, Typed], ...]:
    """The path, the template or the name in a source that can be typed, with its place below the source."""
    match source:
        case JsonPath(select):
            return ((("json_path",), select),)
        case GivenText(template):
            return ((("text",), template),)
        case TestOutput(test):
            return ((("test",), DeclaredTest(test)),)
        case SubmissionText(submission):
            return ((("submission",), DeclaredSubmission(submission)),)
        case _:
            return ()


def in_words(source: Source) -> str:
    """The source as people call it: "the assistant's messages"."""
    match source:
        case AssistantText():
            return "the assistant's messages"
        case FinalMessage():
            return "the final message"
        case Messages(last):
            return "the transcript" if last is None else f"the last {last} messages"
        case ToolText(tool, part):
            whose = "any tool" if tool == "*" else f"`{tool}`"
            return f"the arguments of {whose}" if part == "arguments" else f"the {part}s of {whose}"
        case SubmittedAnswers(name):
            return "the submitted answers" if name is None else f"the submitted answer `{name}`"
        case SubmissionText(submission, file):
            return f"`{file}` of the submission `{submission}`" if file else f"the submission `{submission}`"
        case RepositoryFile(path):
            return f"the file `{path}`"
        case RepositoryDiff():
            return "the change from the base commit"
        case TestOutput(test, stream):
            return f"what the test `{test}` printed" + (" as errors" if stream == "stderr" else "")
        case JsonPath(select):
            return f"`{select.text}`"
        case GivenText():
            return "the given text"
        case _:
            assert_never(source)
