"""What every rule file begins with: its schema, its version, its name."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rulebook.source.located import Located
from rulebook.spec.reader import Reader
from rulebook.spelling import guess

SCHEMAS: tuple[str, ...] = ("chock.eval", "chock.rl-suite", "rulebook.task", "rulebook.pack", "rulebook.evaluation")
"""The kinds of rule file that this version reads."""

VERSION = 1

Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], Field(strict=False)]


class Head(BaseModel):
    """The fields that every rule file has."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    schema_: Text = Field(alias="schema", description="What kind of rule file this is.")
    version: int = Field(description="The version of the rule format; 1.")
    name: Text = Field(description="What people call it.")
    description: Text | None = Field(None, description="What it is about, in a sentence.")
    tags: Texts = Field((), description="Words to find it by.")
    examples: object = Field(None, description="Small pieces of evidence and what the rules must say of them.")


def schema_of(document: Located, reader: Reader) -> str | None:
    """Which kind of rule file it is; None, with the problem noted, when it is none that we read."""
    data = document.data
    if not isinstance(data, dict):
        reader.not_a_mapping((), "a rule file", "a mapping that begins with `schema:`")
        return None
    name = data.get("schema")
    options = SCHEMAS
    if "schema" not in data:
        purpose = f"it says what kind of rule file this is, such as `{SCHEMAS[0]}`."
        reader.add(
            "RB202",
            (),
            document.key_span(next(((k,) for k in data), ())),
            thing="A rule file",
            key="schema",
            purpose=purpose,
        )
    elif not isinstance(name, str) or name not in options:
        shown = name if isinstance(name, str) else reader.source_of(("schema",))
        choices = ", ".join(f"`{option}`" for option in options)
        reader.add(
            "RB204",
            ("schema",),
            value=shown,
            key="schema",
            choices=choices,
            guess=guess(str(shown), options, list_up_to=0),
        )
    else:
        return name if _version(document, reader) else None
    return None


def _version(document: Located, reader: Reader) -> bool:
    data = document.data
    if not isinstance(data, dict) or "version" not in data:
        return True
    version = data["version"]
    if isinstance(version, int) and not isinstance(version, bool) and version != VERSION:
        newer = f"This file is written for rule format {version}; this program knows up to {VERSION}."
        older = f"There is no rule format {version}; write `version: {VERSION}`."
        reader.add("RB211", ("version",), sentence=newer if version > VERSION else older)
        return False
    return True
