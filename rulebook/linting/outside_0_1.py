"""RB607: a finding whose score can lie outside 0..1 and says nothing of its range."""

import math

from rulebook.expression.program import Loaded, Program
from rulebook.expression.ranges import range_of, score_range
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note every finding whose least or greatest score lies outside 0..1 and would be clamped."""
    if not isinstance(loaded.content, Program):
        return
    for item in loaded.content.items:
        least, most = score_range(item.node)
        if range_of(item.node) is not None or not math.isfinite(least) or not math.isfinite(most):
            continue
        if least < -1e-9 or most > 1 + 1e-9:
            common = item.node.common
            words = {"range": f"{least:g}..{most:g}", "least": f"{least:g}", "most": f"{most:g}"}
            loaded.readers[common.file].add_at_key("RB607", (*common.path, common.kind), **words)
