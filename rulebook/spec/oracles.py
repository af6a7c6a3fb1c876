"""Right work of a step, as its author writes it down: what `rulebook task probe` hands in to see that it passes."""

from collections.abc import Mapping
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from rulebook.languages.faults import Shown
from rulebook.languages.fields import StudentPath
from rulebook.languages.template import Template, TemplateField
from rulebook.place import Path
from rulebook.spec.reader import Reader
from rulebook.spec.steps import OracleSpec, SubmissionSpec
from rulebook.spec.validation import Place, below, validate_options
from rulebook.spelling import guess


class OracleKeys(BaseModel):
    """Right work, for `rulebook task probe`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    hand_in: object = Field(
        None,
        description="What is handed in, by submission: a template, or for a folder templates by their paths in it.",
    )
    say: TemplateField | None = Field(None, description="What the student says at the end; a template.")


class _Text(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    text: TemplateField


class _InFolder(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    path: StudentPath


def read_oracle(reader: Reader, path: Path, submissions: tuple[SubmissionSpec, ...]) -> OracleSpec | None:
    """The oracle at `path`, as far as it is valid; every problem is noted. None where it is no mapping, or empty."""
    value = reader.mapping(path, "oracle", Shown({"say": "Done."}, "oracle"))
    if value is None:
        return None
    if not value:
        reader.add("RB207", path, key="oracle")
        return None
    keys = validate_options(OracleKeys, value, "an oracle", below(path), reader)
    handed_in = _hand_in(reader, (*path, "hand_in"), submissions) if "hand_in" in value else {}
    return None if keys is None else OracleSpec(handed_in, keys.say)


def _hand_in(
    reader: Reader, path: Path, submissions: tuple[SubmissionSpec, ...]
) -> Mapping[str, Template | Mapping[str, Template]]:
    names = [each.name for each in submissions]
    example = Shown({names[0] if names else "answer": "42"}, "hand_in")
    value = reader.mapping(path, "hand_in", example)
    if value is not None and not value:
        reader.add("RB207", path, key="hand_in")
    found: dict[str, Template | Mapping[str, Template]] = {}
    for name, content in (value or {}).items():
        here = (*path, name)
        if name not in names:
            hint = guess(name, names) if names else " The step has no submissions."
            reader.add_at_key("RB201", here, key=name, thing="what the oracle hands in", guess=hint)
            continue
        if isinstance(content, dict):
            found[name] = _folder(reader, here, cast("dict[str, object]", content))
        elif (text := _text(reader, here, content)) is not None:
            found[name] = text
    return found


def _folder(reader: Reader, path: Path, content: Mapping[str, object]) -> Mapping[str, Template]:
    if not content:
        reader.add("RB207", path, key=path[-1])
    found: dict[str, Template] = {}
    for name, value in content.items():
        here = (*path, name)
        fits = validate_options(_InFolder, {"path": name}, "a file", _at(here), reader)
        text = _text(reader, here, value)
        if fits is not None and text is not None:
            found[name] = text
    return found


def _text(reader: Reader, path: Path, value: object) -> Template | None:
    keys = validate_options(_Text, {"text": value}, "a file", _at(path), reader)
    return None if keys is None else keys.text


def _at(path: Path) -> Place:
    """The place of a model's only option, which stands in the file without a key of its own."""
    return lambda loc: (*path, *loc[1:])
