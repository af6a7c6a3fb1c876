"""How two steps of a sequence can stand to each other."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from rulebook.evidence.precedence import (
    PERHAPS,
    SURE,
    Broken,
    Corner,
    Pairs,
    never_after,
    not_before,
    not_followed,
)
from rulebook.evidence.step_shape import Step, Steps
from rulebook.evidence.timeline import Rank


class Relation(BaseModel):
    """Two steps and how they stand to each other. `keys` are the fields of the earlier one and of the later one."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    keys: ClassVar[tuple[str, str]]

    @property
    def earlier(self) -> tuple[Step, ...]:
        """The step that comes first, or each of those of which any one does."""
        steps: tuple[Step, ...] = getattr(self, self.keys[0])
        return steps

    @property
    def later(self) -> tuple[Step, ...]:
        """The step that comes after it, likewise."""
        steps: tuple[Step, ...] = getattr(self, self.keys[1])
        return steps

    @property
    def asked(self) -> tuple[Step, ...]:
        """The steps without which nothing is asked of the session."""
        return self.later

    @property
    def clears(self) -> tuple[Step, ...]:
        """The steps whose presence can make up for what would else be a breach."""
        return ()

    def broken(self, pairs: Pairs, rank: Rank, *, surely: bool) -> list[Broken]:
        """Where it does not hold; `surely`: whatever becomes of what cannot be told, else where it may not."""
        raise NotImplementedError

    def settled(self, broken: list[Broken], rank: Rank) -> bool:  # noqa: ARG002 — when it was matters to one of them
        """Whether nothing that might still come could mend it."""
        return bool(broken)

    def sentence(self) -> str:
        """What it asks for, without a full stop."""
        raise NotImplementedError


class Before(Relation):
    """No `then` without a `first` before it."""

    keys = ("first", "then")

    first: Steps = Field(description="The step that must come first.")
    then: Steps = Field(description="The step that may only come after it.")

    @property
    def clears(self) -> tuple[Step, ...]:
        """An earlier `first` clears a `then`."""
        return self.first

    def broken(self, pairs: Pairs, rank: Rank, *, surely: bool) -> list[Broken]:
        """Every `then` without a `first` before it."""
        return not_before(pairs, rank, Corner(PERHAPS, SURE) if surely else Corner(SURE, PERHAPS))

    def sentence(self) -> str:
        """What it asks for."""
        return f"{_either(self.then)} comes only after {_either(self.first)}"


class Follows(Relation):
    """Each `each` is followed by a `by`."""

    keys = ("each", "by")

    each: Steps = Field(description="The step that must be followed.")
    by: Steps = Field(description="The step that must follow each of them.")
    within: int | None = Field(None, ge=1, description="It must be among the next so many steps.")

    @property
    def asked(self) -> tuple[Step, ...]:
        """Without an `each` nothing must follow."""
        return self.each

    @property
    def clears(self) -> tuple[Step, ...]:
        """A later `by` clears an `each`."""
        return self.by

    def broken(self, pairs: Pairs, rank: Rank, *, surely: bool) -> list[Broken]:
        """Every `each` that no `by` follows."""
        return not_followed(pairs, rank, Corner(SURE, PERHAPS) if surely else Corner(PERHAPS, SURE), self.within)

    def settled(self, broken: list[Broken], rank: Rank) -> bool:
        """A `by` may still come, unless it would be too late."""
        within = self.within
        return within is not None and any(rank[one.moment] + within < len(rank) for one in broken)

    def sentence(self) -> str:
        """What it asks for."""
        soon = "" if self.within is None else f" within {self.within} steps"
        return f"each {_either(self.each)} is followed by {_either(self.by)}{soon}"


class NeverAfter(Relation):
    """After a `once` there is no `then`."""

    keys = ("once", "then")

    once: Steps = Field(description="The step after which the other must not come.")
    then: Steps = Field(description="The step that must not come any more.")
    together: bool = Field(False, description="`true`: neither may one call be both at once.")

    def broken(self, pairs: Pairs, rank: Rank, *, surely: bool) -> list[Broken]:
        """Every `then` that comes after a `once`."""
        verdicts = SURE if surely else PERHAPS
        return never_after(pairs, rank, Corner(verdicts, verdicts), together=self.together)

    def sentence(self) -> str:
        """What it asks for."""
        both = ", nor is one call both" if self.together else ""
        return f"never {_either(self.then)} after {_either(self.once)}{both}"


def _either(steps: tuple[Step, ...]) -> str:
    return " or ".join(step.described() for step in steps)
