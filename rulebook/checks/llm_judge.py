"""`llm_judge`: a model grades the work by filling in declared fields."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from msgspec import Struct
from pydantic import AfterValidator, Field, model_validator

from rulebook.checks import Check, Checked
from rulebook.evidence.answer_fields import AnswerField
from rulebook.evidence.ballots import MOST_VOTES, Vote, Voting
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.context_sources import (
    ContextField,
    OwnContext,
    context_in_words,
    context_texts,
    context_wants,
)
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.prompt import Prompt
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import Messages
from rulebook.languages.endpoint_fields import AddressField, VariableField
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.formula import Formula, NumberFormula
from rulebook.languages.template import TemplateField
from rulebook.languages.types import Scope
from rulebook.languages.values import Several
from rulebook.outcome import Outcome
from rulebook.place import Path
from rulebook.ports import Ports

_Model = Annotated[str, Field(min_length=1)]
_Share = Annotated[float, Field(strict=True, ge=0, le=1)]


def _band(band: tuple[float, float]) -> tuple[float, float]:
    if band[0] <= band[1]:
        return band
    words = {"key": "borderline", "wanted": "low and then high", "value": f"{band[0]:g} and {band[1]:g}"}
    raise refused(LanguageError(Fault("RB205", words)))


_Band = Annotated[tuple[_Share, _Share], Field(strict=False), AfterValidator(_band)]


class _Score(Struct, frozen=True):
    """The expression of a score: a number, or yes for 1 and no for 0."""

    formula: Formula

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """What is wrong with it; nothing where it gives yes or no."""
        found = self.formula.faults(scope)
        return found if found and Formula(self.formula.text, "yes or no").faults(scope) else ()


def _fields(fields: Mapping[str, AnswerField]) -> Mapping[str, AnswerField]:
    if not fields:
        raise refused(LanguageError(Fault("RB207", {"key": "answer"})))
    for name in fields:
        if not re.fullmatch("[a-z][a-z0-9_]*", name):
            raise refused(LanguageError(Fault("RB213", {"value": name}, path=(name,))))
    return fields


class JudgingCheck(Check):
    """What the checks have in common in which models grade, alone or as a panel."""

    from_: Several[ContextField] = Field(
        default_factory=lambda: (Messages(),),
        alias="from",
        description="What the model is shown: sources of text; the whole transcript by default.",
    )
    model: _Model | None = Field(
        None, description="Which model judges: an alias or `provider/model`; the default one of `rulebook.toml`."
    )
    judges: Several[_Model] | None = Field(None, description="Several models that judge together, in place of `model`.")
    votes: int = Field(1, ge=1, le=15, description="How often each model is asked.")
    vote: Vote = Field("mean", description="How several scores become one: `majority`, `mean` or `median`.")
    borderline: _Band | None = Field(
        None, description="Low and high: a score between them is asked for again, and all votes count."
    )
    max_votes: int | None = Field(
        None, ge=2, le=MOST_VOTES, description="How many votes there are at most with `borderline`; three rounds."
    )
    base_url: AddressField | None = Field(
        None, description="An OpenAI-compatible endpoint, in place of a provider of `rulebook.toml`."
    )
    api_key_env: VariableField | None = Field(None, description="The name of the variable that holds its key.")
    temperature: float | None = Field(0.0, ge=0, le=2, description="How far the model's answers may vary.")
    max_characters: int = Field(262_144, ge=1024, description="How many characters of the sources the model is shown.")

    @model_validator(mode="after")
    def _panel_fits(self) -> Self:
        at_once = self.votes * len(self.judges or (None,))
        if self.judges is not None and self.model is not None:
            words = {"key": "judges", "why": "`model` also stands here. Keep one."}
            raise refused(LanguageError(Fault("RB215", words, path=("judges",))))
        if at_once > MOST_VOTES:
            words = {
                "key": "votes",
                "wanted": f"so few that there are at most {MOST_VOTES} in all",
                "value": f"{self.votes}",
            }
            raise refused(LanguageError(Fault("RB205", words, path=("votes",))))
        if self.max_votes is not None and self.borderline is None:
            words = {"key": "max_votes", "why": "it bounds what `borderline` asks again."}
            raise refused(LanguageError(Fault("RB215", words, path=("max_votes",))))
        if self.max_votes is not None and self.max_votes <= at_once:
            words = {
                "key": "max_votes",
                "wanted": f"more than the {at_once} of the first round",
                "value": f"{self.max_votes}",
            }
            raise refused(LanguageError(Fault("RB205", words, path=("max_votes",))))
        return self

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

    def voting(self) -> Voting:
        """How many grades become one."""
        judges = len(self.judges or (None,))
        most = self.max_votes or min(3 * judges * self.votes, MOST_VOTES)
        return Voting(judges, self.votes, self.vote, self.borderline, most)

    def asked_how(self) -> tuple[str | None, str | None, float | None]:
        """The endpoint, the variable of its key, and the temperature."""
        return self.base_url, self.api_key_env, self.temperature


class LlmJudge(JudgingCheck, kind="llm_judge"):
    """A model answers in declared fields, and the score is one of them or what an expression makes of them.

    Source: scorers, llm_judge.
    """

    needs_threshold = True

    answer: Annotated[dict[str, AnswerField], AfterValidator(_fields)] = Field(
        description="The fields that the model fills in: each has a `type`, and may have bounds and a `description`."
    )
    score: NumberFormula | None = Field(
        None, description="A field, or an expression over the fields, in 0..1; the field `score` by default."
    )
    instructions: TemplateField | None = Field(None, description="What the model is told; a template.")
    overflow: Literal["cut", "unmeasured"] = Field(
        "cut",
        description="What becomes of longer sources: their middle is `cut` out, or nothing is judged: `unmeasured`.",
    )

    @model_validator(mode="after")
    def _has_a_score(self) -> Self:
        if self.score is None and "score" not in self.answer:
            words = {"thing": "`llm_judge`", "key": "score", "purpose": "which field, or what of the fields, is it?"}
            raise refused(LanguageError(Fault("RB202", words)))
        return self

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
            own = Scope("the answer", {name: each.kind() for name, each in self.answer.items()})
            yield ("score",), _Score(self.score), own
        yield from self.texts_of_sources(scope)

    def sentence(self) -> str:
        """What it asks for."""
        asked = ", ".join(f"`{name}`" for name in self.answer)
        sources, score = self.sources_in_words(), self._score().text
        return f"A judge model looks at {sources} and fills in {asked}; the score is `{score}`."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Show the model its sources, and ask for an answer.

        Raises NotHandedIn where the student left nothing to judge, Missing where our side cannot tell.
        """
        from rulebook.evidence.field_judge import FieldJudge, graded_by_fields  # lint asks no model
        from rulebook.evidence.judge_answers import JudgeModel
        from rulebook.evidence.rubric_context import context_of

        instructions = "" if self.instructions is None else filled(self.instructions, evidence)
        judges = tuple(JudgeModel(name, *self.asked_how()) for name in self.judges or (self.model,))
        asked = FieldJudge(
            instructions, self.answer, self._score(), judges, self.voting(), self.max_characters, self.overflow
        )
        students = evidence.record.models if evidence.record is not None else ()
        return graded_by_fields(context_of(self.from_, evidence, ports), asked, ports, students)

    def _score(self) -> Formula:
        return Formula("score" if self.score is None else self.score.text, "anything")
