"""What each scorer of an evaluation takes in a rule file. Source: scorers, "Built-in scorers"."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from rulebook.languages.fields import FolderPath
from rulebook.spec.head import Text, Texts


class ScorerKeys(BaseModel):
    """What every scorer takes within its kind."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    name: Text | None = Field(None, description="What its scores are called, such as `intent-match`.")
    card: FolderPath | None = Field(
        None, description="The card of `rulebook calibrate`, from the folder of this file; `FILE.NAME.card.json` else."
    )


class MarkedKeys(ScorerKeys):
    """What every scorer takes whose own options have no other use for `threshold`."""

    threshold: float | None = Field(
        None, description="A score passes when it is at least this, 1 where nothing is said; for `pass_rate`."
    )


class BesideScorer(MarkedKeys):
    """What may stand beside the kind instead of within it, as it stands beside the kind of a check."""


class OneColumn(MarkedKeys):
    """A scorer that reads one column."""

    inputs: Texts = Field(("output",), description="The column that it reads.")


class TwoColumns(MarkedKeys):
    """A scorer that compares two columns."""

    inputs: Texts = Field(("output", "expected"), description="The column that is judged, then the one it is held to.")


class AnyColumns(ScorerKeys):
    """A scorer that reads as many columns as it is given."""

    inputs: Texts = Field(("output",), description="The columns that the model is shown.")


class JsonValidScorer(OneColumn):
    """A column is a JSON document."""


class RegexMatchScorer(OneColumn):
    """A column holds a pattern."""

    pattern: Text = Field(description="The pattern, of Python's `re`.")
    full_match: bool = Field(False, description="The pattern must cover the whole column.")


class ExactMatchScorer(TwoColumns):
    """Two columns hold the same text."""

    strip: bool = Field(True, description="Leave out white space at the ends.")
    normalize_whitespace: bool = Field(False, description="Take every stretch of white space as one blank.")
    case_insensitive: bool = Field(False, description="Take capital and small letters as the same.")


class ContainsScorer(TwoColumns):
    """A column holds what another asks for."""

    mode: Literal["all", "any", "fraction"] = Field("all", description="How much of a list must be there.")
    case_insensitive: bool = Field(False, description="Take capital and small letters as the same.")


class LevenshteinScorer(TwoColumns):
    """How few letters must change to make one column the other."""

    case_insensitive: bool = Field(False, description="Take capital and small letters as the same.")


class StringSimilarityScorer(TwoColumns):
    """How alike two columns are, by a measure."""

    method: Literal["jaro_winkler", "jaccard", "token_set", "token_sort", "partial", "sequence"] = Field(
        description="The measure."
    )
    case_insensitive: bool = Field(False, description="Take capital and small letters as the same.")


class JsonMatchScorer(TwoColumns):
    """Two columns agree as JSON documents."""

    paths: Annotated[tuple[Text, ...], Field(strict=False, min_length=1)] | None = Field(
        None, description="Dotted paths, such as `user.id`; the score is the share of them whose values agree."
    )


class NumericCloseScorer(TwoColumns):
    """Two columns agree as numbers."""

    tolerance: float | None = Field(None, ge=0, description="How far apart they may be.")
    relative: bool = Field(False, description="Take the tolerance as a share of the larger number.")


class SqlScorerKeys(MarkedKeys):
    """An SQL expression over the columns of a row."""

    name: Text = Field(description="What its scores are called.")
    expression: Text = Field(description='An expression that gives a number, such as `length("output") / 100.0`.')


class PythonScorer(MarkedKeys):
    """A function of your own, with `@rulebook.function` above it."""

    function: Text = Field(description="Where it is: `module:function`.")
