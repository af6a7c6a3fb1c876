"""What a step's student hands in, as it is declared."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rulebook.languages.faults import Shown
from rulebook.languages.fields import Size, StudentPath
from rulebook.place import Path
from rulebook.spec.combinators import check_name
from rulebook.spec.reader import Reader
from rulebook.spec.steps import SubmissionSpec, WhenMissing
from rulebook.spec.validation import below, validate_options

Count = Annotated[int, Field(ge=1)]


class SubmissionKeys(BaseModel):
    """One thing to hand in. What breaks one of its limits is misbehaviour."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    path: StudentPath = Field(description="Where the student writes it, from the folder in which it works.")
    missing: WhenMissing = Field(
        "judge",
        description="What it means that it was never written: `judge` leaves that to the judge, `zero` scores the step "
        "0 unread, `misbehavior` takes it for misbehaviour.",
    )
    max_bytes: Size | None = Field(None, description="The most that it may hold, all its files together.")
    max_entries: Count | None = Field(None, description="The most files and folders that a folder may hold.")
    max_depth: Count | None = Field(None, description="The deepest that folders in it may be nested.")


def read_submissions(reader: Reader, path: Path) -> tuple[SubmissionSpec, ...]:
    """The submissions declared at `path`, those that are declared wrongly among them, which is then noted."""
    value = reader.mapping(path, "submissions", Shown({"answer": {"path": "answer.txt"}}, "submissions"))
    if value is not None and not value:
        reader.add("RB207", path, key="submissions")
    found: list[SubmissionSpec] = []
    for name in value or ():
        here = (*path, name)
        check_name(reader, here, name)
        keys = _keys(reader, here, name)
        if keys is None:
            found.append(SubmissionSpec(name, ""))
            continue
        found.append(SubmissionSpec(name, keys.path, keys.missing, keys.max_bytes, keys.max_entries, keys.max_depth))
    return tuple(found)


def _keys(reader: Reader, path: Path, name: str) -> SubmissionKeys | None:
    value = reader.document.at(path)
    if isinstance(value, str):
        mended = reader.shown(Shown({"path": value}))
        hint = f" Write `{reader.shown(Shown({'path': value}, name))}`."
        reader.not_a_mapping(path, name, "a mapping with its `path`", hint, mended)
        return None
    plain = reader.mapping(path, name, Shown({"path": "answer.txt"}, name))
    if plain is None:
        return None
    return validate_options(SubmissionKeys, plain, f"the submission `{name}`", below(path), reader)
