"""Reading the parameters that a file declares."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rulebook.place import Path
from rulebook.spec.combinators import check_name
from rulebook.spec.params import Param, ParamType, Value
from rulebook.spec.reader import Reader
from rulebook.spec.validation import below, validate_options


class ParamKeys(BaseModel):
    """One declared parameter."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    type: ParamType = Field(description="boolean, integer, number or string.")
    default: object = Field(None, description="Its value when the caller gives none; without it one must be given.")
    description: str | None = Field(None, description="What it changes.")
    choices: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = Field(
        None, description="The texts it can be."
    )


def read_params(reader: Reader, path: Path) -> tuple[Param, ...]:
    """The parameters declared at `path`, as far as they are valid."""
    value = reader.mapping(path, "params")
    found: list[Param] = []
    for name in value or ():
        here = (*path, name)
        keys = reader.mapping(here, name)
        if not check_name(reader, here, name) or keys is None:
            continue
        given = validate_options(ParamKeys, keys, f"the parameter `{name}`", below(here), reader)
        if given is None:
            continue
        param = Param(name, given.type, None, given.choices or ())
        if "default" in keys and not param.accepts(given.default):
            reader.wrong_type((*here, "default"), "default", param.wanted())
            continue
        default = given.default if isinstance(given.default, Value) else None
        found.append(Param(name, given.type, default, given.choices or ()))
    return tuple(found)
