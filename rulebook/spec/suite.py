"""`chock.rl-suite` files: cases × rollouts for a trainer. Source: session-evals, "Batched RL rollouts"."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from rulebook.place import Path
from rulebook.source.located import Located
from rulebook.spec.cases import Case, SuiteSpec
from rulebook.spec.head import Head, Text
from rulebook.spec.reader import Reader
from rulebook.spec.validation import below, validate_options

Split = Literal["train", "validation", "test"]


class SuiteCase(BaseModel):
    """One case of a suite."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    name: Text = Field(description="What people call the case.")
    spec: Text = Field(description="The eval file, from the suite's own folder.")
    split: Split = Field(description="train, validation or test.")
    rollouts: int = Field(1, ge=1, description="How many sessions to run.")
    group_size: int = Field(1, ge=1, description="How many sessions form a group; it divides `rollouts`.")


class SuiteFile(Head):
    """A `chock.rl-suite` file."""

    output: Text | None = Field(None, description="The folder that a run writes to.")
    parallelism: int = Field(1, ge=1, description="How many sessions run at once.")
    cases: Annotated[tuple[SuiteCase, ...], Field(strict=False, min_length=1)] = Field(description="The cases.")


def read_suite(document: Located, reader: Reader) -> SuiteSpec | None:
    """The suite in `document`; None, with every problem noted, when it is not valid."""
    if not isinstance(document.data, dict):
        return None
    file = validate_options(SuiteFile, document.data, "a suite", below(()), reader)
    if file is None:
        return None
    names: dict[str, int] = {}
    splits: dict[str, str] = {}
    for index, case in enumerate(file.cases):
        path: Path = ("cases", index)
        if case.rollouts % case.group_size:
            place = (*path, "group_size") if _written(document, (*path, "group_size")) else path
            reader.add("RB805", place, group=case.group_size, rollouts=case.rollouts)
        if case.name in names:
            reader.add("RB301", (*path, "name"), things="cases", name=case.name, line=names[case.name])
        names.setdefault(case.name, document.span((*path, "name")).line)
        if splits.setdefault(case.spec, case.split) != case.split:
            reader.add("RB804", (*path, "spec"), spec=case.spec, first=splits[case.spec], second=case.split)
    cases = tuple(Case(case.name, case.spec, case.split, case.rollouts, case.group_size) for case in file.cases)
    return SuiteSpec(document, file, cases)


def _written(document: Located, path: Path) -> bool:
    try:
        document.at(path)
    except KeyError:
        return False
    return True
