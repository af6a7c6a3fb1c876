"""`rulebook schema`: the JSON Schemas that editors complete and check rule files with."""

from collections.abc import Sequence

from rulebook.cli import output
from rulebook.cli.arguments import Arguments
from rulebook.errors import UsageError
from rulebook.spelling import guess


def run(argv: Sequence[str]) -> int:
    """Print one schema, or the names of all."""
    parser = Arguments(
        "schema",
        "Print the JSON Schema of a kind of rule file. Without a name it lists them.",
        "rulebook schema chock.eval > chock.eval.schema.json",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as `chock.eval`")
    given = parser.read(argv)
    from rulebook.spec.json_schema import schema_names, schema_text

    names = schema_names()
    if given.name is None:
        output.put("".join(f"{name}\n" for name in names))
        return 0
    if given.name not in names:
        raise UsageError(f"there is no schema called `{given.name}`.{guess(given.name, names)}")
    text = schema_text(given.name)
    output.put(text if text.endswith("\n") else text + "\n")
    return 0
