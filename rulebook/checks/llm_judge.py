"""`llm_judge`: a model grades the work by filling in declared fields."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from rulebook.checks import Check, Checked
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.context_sources import (
    ContextField,
    OwnContext,
    context_in_words,
    context_texts,
    context_wants,
)
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.field_options import FieldOptions, ScoreOfAnswer
from rulebook.evidence.prompt import Prompt
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import Messages
from rulebook.languages.template import TemplateField
from rulebook.languages.types import Scope
from rulebook.languages.values import Several
from rulebook.outcome import Outcome
from rulebook.place import Path
from rulebook.ports import Ports


class JudgingCheck(Check):
    """What the checks have in common in which models grade: what these are shown."""

    from_: Several[ContextField] = Field(
        default_factory=lambda: (Messages(),),
        alias="from",
        description="What the model is shown: sources of text; the whole transcript by default.",
    )
    max_characters: int = Field(262_144, ge=1024, description="How many characters of the sources the model is shown.")

    def runs_code(self) -> bool:
        """Whether what it shows is made by a provider of the harness's own."""
        return any(isinstance(source, OwnContext) for source in self.from_)

    def wants_of_sources(self) -> Wants:
        """What its sources need."""
        found = Wants()
        for source in self.from_:
            found |= context_wants(source)
        return found

    def texts_of_sources(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """What its sources hold."""
        for position, source in enumerate(self.from_):
            for path, text in context_texts(source):
                yield ("from", position, *path), text, scope

    def sources_in_words(self) -> str:
        """Its sources, for a sentence."""
        return ", ".join(map(context_in_words, self.from_))


class LlmJudge(JudgingCheck, FieldOptions, kind="llm_judge"):
    """A model answers in declared fields, and the score is one of them or what an expression makes of them.

    Source: scorers, llm_judge.
    """

    needs_threshold = True

    instructions: TemplateField | None = Field(None, description="What the model is told; a template.")
    overflow: Literal["cut", "unmeasured"] = Field(
        "cut",
        description="What becomes of longer sources: their middle is `cut` out, or nothing is judged: `unmeasured`.",
    )

    def wants(self) -> Wants:
        """What its sources, and the template of its instructions, need."""
        return self.wants_of_sources() | wants_of_names(
            self.instructions.names() if self.instructions is not None else ()
        )

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The instructions, the expression of the score, and what its sources hold."""
        if self.instructions is not None:
            yield ("instructions",), Prompt(self.instructions, "from"), scope
        if self.score is not None:
            yield ("score",), ScoreOfAnswer(self.score), self.names_of_answer()
        yield from self.texts_of_sources(scope)

    def sentence(self) -> str:
        """What it asks for."""
        asked = ", ".join(f"`{name}`" for name in self.answer)
        sources, score = self.sources_in_words(), self.score_formula().text
        return f"A judge model looks at {sources} and fills in {asked}; the score is `{score}`."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Show the model its sources, and ask for an answer.

        Raises NotHandedIn where the student left nothing to judge, Missing where our side cannot tell.
        """
        from rulebook.evidence.field_judge import FieldJudge, graded_by_fields  # lint asks no model
        from rulebook.evidence.judge_answers import JudgeModel
        from rulebook.evidence.rubric_context import context_of

        instructions = "" if self.instructions is None else filled(self.instructions, evidence)
        judges = tuple(JudgeModel(name, *self.asked_how()) for name in self.asked_models())
        asked = FieldJudge(
            instructions, self.answer, self.score_formula(), judges, self.voting(), self.max_characters, self.overflow
        )
        students = evidence.record.models if evidence.record is not None else ()
        return graded_by_fields(context_of(self.from_, evidence, ports), asked, ports, students)
