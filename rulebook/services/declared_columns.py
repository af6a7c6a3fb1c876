"""What annotations say of the columns of a table of results."""

from msgspec import Struct

from rulebook.evidence.row_columns import Kind


class Declared(Struct, frozen=True):
    """What is known of a table's columns before any row is: the kind of the outputs, and the scorers that give lists.

    `output` None: nobody said, and the outputs themselves tell.
    """

    output: Kind | None = None
    lists: frozenset[str] = frozenset()
