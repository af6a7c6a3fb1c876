"""Whether a rule says from which score on it passes."""

from rulebook.expression.nodes import FormulaOf, Leaf, Node, Numeric


def lacks_mark(node: Node, *, lenient: bool) -> bool:
    """Whether nobody wrote from which score on a rule passes, though something depends on it.

    `lenient`: a kind that everything passes until it is told otherwise, as in the scoring reference, may stay so.
    """
    if node.common.threshold is not None:
        return False
    match node:
        case Numeric() | FormulaOf():
            return True
        case Leaf(_, check) if check.passes_unless_told and not lenient:
            return "continue_threshold" not in check.model_fields_set
        case Leaf(_, check):
            return check.needs_threshold
        case _:
            return False
