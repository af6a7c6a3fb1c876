"""What the figures of an evaluation's scorers must reach, as a rule file says it."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from rulebook.languages.faults import Shown
from rulebook.place import Path
from rulebook.spec.gate_parts import FIGURES, Bounds, Gate
from rulebook.spec.reader import Reader
from rulebook.spec.validation import below, validate_options
from rulebook.spelling import guess

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)
_KNOWN = (*FIGURES, "unmeasured")


class BoundKeys(BaseModel):
    """The bounds of a figure."""

    model_config = _STRICT

    min: float | None = Field(None, description="The least that it may be.")
    max: float | None = Field(None, description="The most that it may be.")


class MostKeys(BaseModel):
    """How many rows may be unmeasured."""

    model_config = _STRICT

    max: int = Field(0, ge=0, description="How many rows may have failed: the task, or this scorer.")


def read_gates(reader: Reader, names: Sequence[str]) -> tuple[Gate, ...]:
    """The gates of an evaluation whose scorers have these names, as far as they are valid."""
    path: Path = ("gates",)
    value = reader.mapping(path, "gates", Shown({"valid-json": {"mean": {"min": 0.9}}}, "gates"))
    found = []
    for name in value or {}:
        if name not in names:
            reader.unknown_reference(name, names, (*path, name), reader.document.key_span((*path, name)))
            continue
        gate = _gate(reader, (*path, name), name)
        if gate is not None:
            found.append(gate)
    return tuple(found)


def _gate(reader: Reader, path: Path, name: str) -> Gate | None:
    value = reader.mapping(path, name, Shown({"mean": {"min": _number_at(reader, path, 0.9)}}, name))
    if not value:
        if value is not None:
            reader.add("RB216", path, key=name, why="write what its `mean` or `pass_rate` must reach.")
        return None
    figures: dict[str, Bounds] = {}
    most = 0
    for key in value:
        place = (*path, key)
        if key == "unmeasured":
            bound = _most(reader, place)
            most = bound
        elif key not in FIGURES:
            reader.add_at_key("RB201", place, key=key, thing="a gate", guess=guess(key, _KNOWN, list_up_to=9))
        else:
            bounds = _bounds(reader, place, key)
            if bounds is not None:
                figures[key] = bounds
    return Gate(name, figures, most)


def _most(reader: Reader, path: Path) -> int:
    value = reader.mapping(path, "unmeasured", Shown({"max": _number_at(reader, path, 0)}, "unmeasured"))
    keys = None if value is None else validate_options(MostKeys, value, "`unmeasured`", below(path), reader)
    return 0 if keys is None else keys.max


def _bounds(reader: Reader, path: Path, key: str) -> Bounds | None:
    value = reader.mapping(path, key, Shown({"min": _number_at(reader, path, 0.9)}, key))
    if value is None:
        return None
    keys = validate_options(BoundKeys, value, f"`{key}`", below(path), reader)
    if keys is None:
        return None
    if keys.min is None and keys.max is None:
        reader.add("RB216", path, key=key, why="write `min`, `max` or both.")
        return None
    if keys.min is not None and keys.max is not None and keys.min > keys.max:
        wanted = f"{keys.min:g} or more, which is `min`"
        reader.add("RB205", (*path, "max"), key="max", wanted=wanted, value=f"{keys.max:g}")
    return Bounds(keys.min, keys.max)


def _number_at(reader: Reader, path: Path, usual: float) -> float:
    """The number that stands where a mapping with it should, for the example to name it; else the `usual` one."""
    value = reader.document.at(path)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else usual
