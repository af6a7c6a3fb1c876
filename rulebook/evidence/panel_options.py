"""What an author says of the models that judge, alone or as a panel that votes: options of checks and of scorers."""

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from rulebook.evidence.ballots import MOST_VOTES, Vote, Voting
from rulebook.languages.endpoint_fields import AddressField, VariableField
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.values import Several

_Model = Annotated[str, Field(min_length=1)]
_Share = Annotated[float, Field(strict=True, ge=0, le=1)]


def _band(band: tuple[float, float]) -> tuple[float, float]:
    if band[0] <= band[1]:
        return band
    words = {"key": "borderline", "wanted": "low and then high", "value": f"{band[0]:g} and {band[1]:g}"}
    raise refused(LanguageError(Fault("RB205", words)))


_Band = Annotated[tuple[_Share, _Share], Field(strict=False), AfterValidator(_band)]


class PanelOptions(BaseModel):
    """Who is asked, where, how often, and how several grades become one."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
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

    def voting(self) -> Voting:
        """How many grades become one."""
        judges = len(self.judges or (None,))
        most = self.max_votes or min(3 * judges * self.votes, MOST_VOTES)
        return Voting(judges, self.votes, self.vote, self.borderline, most)

    def asked_models(self) -> tuple[str | None, ...]:
        """The models that judge; None is the default one."""
        return tuple(self.judges or (self.model,))

    def asked_how(self) -> tuple[str | None, str | None, float | None]:
        """The endpoint, the variable of its key, and the temperature."""
        return self.base_url, self.api_key_env, self.temperature
