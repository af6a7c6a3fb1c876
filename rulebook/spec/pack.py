"""Packs: named rules that other files import."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rulebook.place import Path
from rulebook.source.located import Located
from rulebook.spec.head import Head, Text
from rulebook.spec.reader import Reader
from rulebook.spec.reading import read_named
from rulebook.spec.rules import PackSpec, RuleSpec
from rulebook.spec.validation import below, validate_options

Names = Annotated[tuple[Text, ...], Field(strict=False)]


class Needs(BaseModel):
    """What a pack expects of the file that imports it."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    submissions: Names = Field((), description="Submissions that its rules read.")
    params: Names = Field((), description="Parameters that its rules read.")


class PackFile(Head):
    """A `rulebook.pack` file."""

    needs: Needs = Field(Needs(), description="What the importing file must declare.")
    checks: object = Field(description="The rules by name.")


def read_pack(document: Located, reader: Reader) -> PackSpec | None:
    """The pack in `document`; None, with every problem noted, when it is not valid."""
    if not isinstance(document.data, dict):
        return None
    head = validate_options(PackFile, document.data, "a pack", below(()), reader)
    rules = read_named(reader, ("checks",)) if "checks" in document.data else ()
    if head is None:
        return None
    if not check_name_value(reader, ("name",), head.name):
        return None
    by_name: dict[str, RuleSpec] = {named.name: named.rule for named in rules}
    return PackSpec(head.name, document, by_name, head.needs.params, head.needs.submissions)


def check_name_value(reader: Reader, path: Path, name: str) -> bool:
    """Whether the text at `path`, which others use as a name, is a proper one; notes the problem when it is not."""
    if name[0].isalpha() and name.replace("_", "a").isalnum() and name.islower() and name.isascii():
        return True
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.lower()).strip("_")
    reader.add("RB213", path, value=name, guess=f" `{plain}` would do." if plain[:1].isalpha() else "")
    return False
