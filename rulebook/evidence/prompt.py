"""What a judge model is told by the author: a template in which nothing of the student's may stand."""

from msgspec import Struct

from rulebook.evidence.scope import RUN, USAGE
from rulebook.languages.faults import Fault
from rulebook.languages.template import Template
from rulebook.languages.types import Scalar, Scope, Type

_OURS = frozenset(("params", "steps", "run", "usage", *RUN, *USAGE))
_OURS_IN = {"submissions": ("path", "kind"), "repository": ("base_commit", "head", "tree")}


class Prompt(Struct, frozen=True):
    """The author's words to a model. What stands in them is read as the author's own, so it must be."""

    template: Template
    shown_under: str = "context"

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """What is wrong with the template, and RB703 for each text of the student's that becomes part of it."""
        found = self.template.faults(scope)
        if found or not self.template.live:
            return found
        from rulebook.languages.template_jinja import fills_in  # only a template with something to fill in pays for it

        fills = fills_in(self.template.text, scope)
        return tuple(
            Fault("RB703", {"path": fill.path, "key": self.shown_under}, fill.start, fill.end)
            for fill in fills
            if fill.root not in _OURS
            and _can_talk(fill.kind)
            and fill.path.rpartition(".")[2] not in _OURS_IN.get(fill.root, ())
        )


def _can_talk(kind: Type) -> bool:
    """Whether a value of that kind can hold words: no number can, and none of a few fixed ones."""
    if not isinstance(kind, Scalar):
        return True
    return kind.name in ("text", "anything") and not kind.choices
