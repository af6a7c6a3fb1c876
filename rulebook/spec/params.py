"""Parameters: what a file declares, and the values that a caller gives them."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.languages.types import ANYTHING, NUMBER, TEXT, YES_NO, Scalar, Type
from rulebook.spelling import guess, listed

ParamType = Literal["boolean", "integer", "number", "string"]
Value = bool | int | float | str

_WORDS: dict[ParamType, str] = {
    "boolean": "`true` or `false`",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
}


class Param(Struct, frozen=True):
    """A declared parameter. `default` None: the caller must give a value. `sound` is false of one declared wrongly."""

    name: str
    type: ParamType
    default: Value | None = None
    choices: tuple[str, ...] = ()
    sound: bool = True

    @property
    def kind(self) -> Type:
        """Its type in expressions; what is declared wrongly may be anything, so that the mistake is said once."""
        if not self.sound:
            return ANYTHING
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
        value = value_from_text(param, given[param.name]) if param.name in given else param.default
        if value is None:
            raise UsageError(f"The parameter `{param.name}` needs a value: `--param {param.name}=…`.")
        if not param.accepts(value):
            raise UsageError(f"The parameter `{param.name}` must be {param.wanted()}; this is `{value}`.")
        values[param.name] = value
    return values


def value_from_text(param: Param, value: object) -> object:
    """A text from a command line or a table, as the value of the parameter's type where it can be read as one."""
    if not isinstance(value, str) or param.type == "string":
        return value
    if param.type == "boolean":
        return {"true": True, "false": False}.get(value, value)
    try:
        return int(value) if param.type == "integer" else float(value)
    except ValueError:
        return value
