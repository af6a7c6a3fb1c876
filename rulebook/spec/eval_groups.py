"""The groups of keys in an eval that say more of a run than what is checked: `harness` and `provenance`."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from rulebook.languages.fields import Argv, Sha256
from rulebook.spec.head import Text
from rulebook.spec.reader import Reader
from rulebook.spec.validation import below, validate_options


class Provenance(BaseModel):
    """Which policy, trainer and intervention produced the session, kept apart from the task."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    model_profile: Text | None = Field(None, description="The tokenizer, chat and tool protocol.")
    checkpoint: Text | None = Field(None, description="The exact weights or adapter revision.")
    trainer: Text | None = Field(None, description="The optimisation recipe.")
    seed: int | None = Field(None, description="The seed of the run.")
    intervention: Text | None = Field(None, description="What was steered: layer, representation, strength.")
    intervention_sha256: Sha256 | None = Field(None, description="The digest of the vector or configuration.")


class Harness(BaseModel):
    """Another agent to drive in place of the built-in loop."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    command: Argv = Field(description="The program that plays the agent, as a list of words.")


GROUPS: dict[str, type[BaseModel]] = {"harness": Harness, "provenance": Provenance}
"""The keys of each group, by its own."""


def read_group(reader: Reader, key: str) -> Mapping[str, object] | None:
    """What is written under `harness` or `provenance`; None, with every problem noted, when it is not valid."""
    if reader.document.at((key,)) is None:
        return {}
    value = reader.mapping((key,), key)
    found = None if value is None else validate_options(GROUPS[key], value, "an eval", below((key,)), reader)
    return None if found is None else found.model_dump(exclude_none=True)
