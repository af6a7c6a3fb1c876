"""The options of `all`, `any` and the groups that have none of their own, beside the rules they hold."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from rulebook.spec.rules import Aggregate


class Options(BaseModel):
    """The options of a combinator beside the rules it holds."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class GroupOptions(Options):
    """`all` and `any`."""

    of: object = Field(description="The rules, in order.")
    score: Aggregate = Field("decisive", description="The score: the deciding part's, or one over all parts.")
    stop: Literal["first", "never"] | None = Field(None, description="Whether it stops at the first part that decides.")


class PartsOptions(Options):
    """`none`, `min`, `max` and `product`."""

    of: object = Field(description="The rules, in order.")
