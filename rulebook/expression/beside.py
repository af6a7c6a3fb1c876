"""The common keys of a rule, as its node keeps them."""

from msgspec.structs import replace

from rulebook.expression.nodes import Common, Node
from rulebook.outcome import Category
from rulebook.spec.rules import RuleSpec


def common_of(spec: RuleSpec, category: Category) -> Common:
    """What stands beside a rule, as its node keeps it; `category` holds where none is written."""
    beside = spec.beside
    return Common(
        kind=spec.kind,
        file=spec.document.file,
        path=spec.path,
        name=beside.name or "",
        why=beside.why or "",
        category=beside.category or category,
        weight=1.0 if beside.weight is None else beside.weight,
        required=bool(beside.required),
        threshold=beside.threshold,
        when=beside.when,
        timeout_s=beside.timeout_s,
        student_timeout=beside.on_timeout != "unmeasured",
        report=bool(beside.report),
    )


def overlaid(node: Node, spec: RuleSpec) -> Node:
    """The named rule with the common keys that stand beside `rule:` in place of its own."""
    beside, own = spec.beside, node.common
    written = {
        "name": beside.name,
        "why": beside.why,
        "category": beside.category,
        "weight": beside.weight,
        "required": beside.required,
        "threshold": beside.threshold,
        "when": beside.when,
        "timeout_s": beside.timeout_s,
        "student_timeout": None if beside.on_timeout is None else False,
        "report": beside.report,
    }
    given = {key: value for key, value in written.items() if value is not None}
    return replace(node, common=replace(own, **given)) if given else node
