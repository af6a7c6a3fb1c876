"""Reading the parameters that a file declares."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rulebook.languages.faults import Shown
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
    """The parameters declared at `path`, those that are declared wrongly among them, which is then noted."""
    value = reader.mapping(path, "params", Shown({"most": {"type": "integer", "default": 12}}, "params"))
    found: list[Param] = []
    for name in value or ():
        here = (*path, name)
        param = _param(reader, here, name)
        check_name(reader, here, name)
        found.append(param or Param(name, "string", sound=False))
    return tuple(found)


def _param(reader: Reader, path: Path, name: str) -> Param | None:
    keys = reader.document.at(path)
    if not isinstance(keys, dict):
        _only_a_value(reader, path, name, keys)
        return None
    given = validate_options(ParamKeys, keys, f"the parameter `{name}`", below(path), reader)
    if given is None:
        return None
    param = Param(name, given.type, None, given.choices or ())
    if "default" in keys and not param.accepts(given.default):
        _wrong_default(reader, (*path, "default"), param)
        return None
    default = given.default if isinstance(given.default, Value) else None
    return Param(name, given.type, default, given.choices or ())


def _only_a_value(reader: Reader, path: Path, name: str, value: object) -> None:
    """Note that a value stands where a parameter is declared, and how it would be declared with that value."""
    from rulebook.spec.advice import param_for  # only a mistake pays for it

    declared = param_for(value)
    if declared is None:
        reader.not_a_mapping(path, name, _DECLARATION)
        return
    hint = f" Write `{reader.shown(Shown(declared, name))}`."
    reader.not_a_mapping(path, name, _DECLARATION, hint, reader.shown(Shown(declared)))


def _wrong_default(reader: Reader, path: Path, param: Param) -> None:
    from rulebook.spec.advice import advice_for  # as above

    error = {"boolean": "bool_type", "integer": "int_type", "number": "float_type", "string": "string_type"}[param.type]
    advice = advice_for(error, "", reader.document.at(path), reader.source_of(path), reader.language)
    hint = advice.hint if not param.choices else ""
    reader.wrong_type(path, "default", param.wanted(), hint, advice.mended if hint else None)


_DECLARATION = "a mapping with its `type`"
