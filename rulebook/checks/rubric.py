"""`rubric`: what a judge model finds, one criterion at a time."""

import re
from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

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
from rulebook.evidence.prompt import Prompt
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import Messages
from rulebook.languages.endpoint_fields import AddressField, VariableField
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.template import Template, TemplateField
from rulebook.languages.types import Scope
from rulebook.languages.values import Several
from rulebook.outcome import Outcome, total
from rulebook.place import Path
from rulebook.ports import Ports


def _asks(text: Template) -> Template:
    if not text.text.strip():
        raise refused(LanguageError(Fault("RB216", {"key": "criterion", "why": "it says what the model looks for."})))
    return text


def _id(text: str) -> str:
    if re.fullmatch("[a-z][a-z0-9_]*", text):
        return text
    raise refused(LanguageError(Fault("RB213", {"value": text})))


def _odd(votes: int) -> int:
    if votes % 2:
        return votes
    raise refused(LanguageError(Fault("RB205", {"key": "votes", "wanted": "an odd number", "value": votes})))


class CriterionOptions(BaseModel):
    """One criterion, as it is written."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    criterion: Annotated[TemplateField, AfterValidator(_asks)] = Field(
        description="What must be so, for the model to answer yes or no; a template."
    )
    weight: float = Field(description="What it adds to the score when it is met; may be negative.")
    id: Annotated[str, AfterValidator(_id)] | None = Field(
        None, description="Its name in the report; `criterion_1` and so on by default."
    )
    required: bool = Field(False, description="Without it the score is 0 and the rubric does not pass.")


class Rubric(Check, kind="rubric"):
    """A model finds that the work meets criteria; the score is the sum of their weights.

    Source: scoring, RubricJudge.
    """

    short = "criteria"

    criteria: Several[CriterionOptions] = Field(description="What the model is asked, one call for each.")
    context: Several[ContextField] = Field(
        default_factory=lambda: (Messages(),),
        description="What the model is shown: sources of text; the whole transcript by default.",
    )
    model: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="Which model judges: an alias or `provider/model`; the default one of `rulebook.toml`."
    )
    base_url: AddressField | None = Field(
        None, description="An OpenAI-compatible endpoint, in place of a provider of `rulebook.toml`."
    )
    api_key_env: VariableField | None = Field(None, description="The name of the variable that holds its key.")
    temperature: float | None = Field(0.0, ge=0, le=2, description="How far the model's answers may vary.")
    votes: Annotated[int, AfterValidator(_odd)] = Field(
        1, ge=1, le=15, description="How often each criterion is asked; most of the answers decide. An odd number."
    )
    continue_threshold: float = Field(0.0, description="It passes when the score is more than this.")
    on_unparsed: Literal["unmeasured", "no"] = Field(
        "unmeasured", description="What a reply means that twice was no YES and no NO: `unmeasured`, or `no`."
    )
    max_characters: int = Field(262_144, ge=1024, description="How many characters of the context the model is shown.")
    overflow: Literal["cut", "unmeasured"] = Field(
        "cut",
        description="What becomes of a longer context: its middle is `cut` out, or nothing is judged: `unmeasured`.",
    )
    range: (
        Annotated[
            tuple[Annotated[float, Field(strict=True)], Annotated[float, Field(strict=True)]], Field(strict=False)
        ]
        | None
    ) = Field(None, description="Low and high: the score is scaled from here to 0..1 in a finding.")

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> Self:
        seen: set[str] = set()
        for position, name in enumerate(self._ids()):
            if name in seen:
                words = {"key": "id", "wanted": "another name for each criterion", "value": f"`{name}` again"}
                raise refused(LanguageError(Fault("RB205", words, path=("criteria", position))))
            seen.add(name)
        if all(criterion.weight == 0 for criterion in self.criteria):
            raise refused(LanguageError(Fault("RB602", {"what": "score"}, path=("criteria",))))
        return self

    def scores(self) -> tuple[float, float]:
        """The sums of the negative and of the positive weights."""
        weights = [criterion.weight for criterion in self.criteria]
        return total(w for w in weights if w < 0), total(w for w in weights if w > 0)

    def runs_code(self) -> bool:
        """Whether a part of its context is a provider of the harness's own."""
        return any(isinstance(source, OwnContext) for source in self.context)

    def wants(self) -> Wants:
        """What its sources, and the templates in its criteria, need."""
        found = wants_of_names(frozenset().union(*(each.criterion.names() for each in self.criteria)))
        for source in self.context:
            found |= context_wants(source)
        return found

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The criteria, and what its sources hold."""
        for position, each in enumerate(self.criteria):
            yield ("criteria", position, "criterion"), Prompt(each.criterion), scope
        for position, source in enumerate(self.context):
            for path, text in context_texts(source):
                yield ("context", position, *path), text, scope

    def sentence(self) -> str:
        """What it asks for."""
        asked = "; ".join(f"{each.criterion.text} ({each.weight:g})" for each in self.criteria)
        sources = ", ".join(map(context_in_words, self.context))
        return f"A judge model looks at {sources} and adds up what is met of: {asked}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Show the model the context, and ask it about each criterion: as many calls as criteria and votes.

        Raises NotHandedIn where the student left nothing to judge, Missing where our side cannot tell.
        """
        from rulebook.evidence.rubric import Asking, Criterion, scored_by_rubric  # lint asks no model
        from rulebook.evidence.rubric_context import context_of

        criteria = [
            Criterion(filled(each.criterion, evidence), each.weight, name, each.required)
            for name, each in zip(self._ids(), self.criteria, strict=True)
        ]
        asking = Asking(
            model=self.model,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            temperature=self.temperature,
            votes=self.votes,
            on_unparsed=self.on_unparsed,
            overflow=self.overflow,
            window=self.max_characters,
            pass_above=self.continue_threshold,
        )
        students = evidence.record.models if evidence.record is not None else ()
        return scored_by_rubric(criteria, context_of(self.context, evidence, ports), asking, ports, students)

    def _ids(self) -> list[str]:
        return [each.id or f"criterion_{number}" for number, each in enumerate(self.criteria, 1)]
