"""Parameters: what a file declares, and the values that a caller gives them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from rulebook.errors import UsageError
from rulebook.languages.types import NUMBER, TEXT, YES_NO, Scalar, Type
from rulebook.place import Path
from rulebook.spec.combinators import check_name
from rulebook.spec.reader import Reader
from rulebook.spec.validation import below, validate_options
from rulebook.spelling import guess, listed

ParamType = Literal["boolean", "integer", "number", "string"]
Value = bool | int | float | str

_WORDS: dict[ParamType, str] = {
    "boolean": "`true` or `false`",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
}


class ParamKeys(BaseModel):
    """One declared parameter."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    type: ParamType = Field(description="boolean, integer, number or string.")
    default: object = Field(None, description="Its value when the caller gives none; without it one must be given.")
    description: str | None = Field(None, description="What it changes.")
    choices: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = Field(
        None, description="The texts it can be."
    )


class Param(Struct, frozen=True):
    """A declared parameter. `default` None: the caller must give a value."""

    name: str
    type: ParamType
    default: Value | None = None
    choices: tuple[str, ...] = ()

    @property
    def kind(self) -> Type:
        """Its type in expressions."""
        if self.type == "boolean":
            return YES_NO
        if self.type == "string":
            return Scalar("text", choices=self.choices) if self.choices else TEXT
        return NUMBER

    def accepts(self, value: object) -> bool:
        """Whether `value` is of its type and among its choices."""
        match self.type:
            case "boolean":
                return isinstance(value, bool)
            case "integer":
                return isinstance(value, int) and not isinstance(value, bool)
            case "number":
                return isinstance(value, int | float) and not isinstance(value, bool)
            case "string":
                return isinstance(value, str) and (not self.choices or value in self.choices)

    def wanted(self) -> str:
        """What it takes, in words."""
        return listed(self.choices) if self.choices else _WORDS[self.type]


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


def param_values(params: tuple[Param, ...], given: Mapping[str, object]) -> dict[str, object]:
    """Every declared parameter's value. Raises UsageError for one that is unknown, missing or of the wrong kind.

    A text from a command line is read as the parameter's type.
    """
    names = [param.name for param in params]
    for name in given:
        if name not in names:
            hint = guess(name, names) if names else " The file declares none."
            raise UsageError(f"There is no parameter `{name}` in this file.{hint}")
    values: dict[str, object] = {}
    for param in params:
        value = _read(param, given[param.name]) if param.name in given else param.default
        if value is None:
            raise UsageError(f"The parameter `{param.name}` needs a value: `--param {param.name}=…`.")
        if not param.accepts(value):
            raise UsageError(f"The parameter `{param.name}` must be {param.wanted()}; this is `{value}`.")
        values[param.name] = value
    return values


def _read(param: Param, value: object) -> object:
    if not isinstance(value, str) or param.type == "string":
        return value
    if param.type == "boolean":
        return {"true": True, "false": False}.get(value, value)
    try:
        return int(value) if param.type == "integer" else float(value)
    except ValueError:
        return value
