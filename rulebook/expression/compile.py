"""Typed specs become the tree: names looked up, categories fixed, expressions typed, and what cannot work refused."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from rulebook.diagnostic import Diagnostic
from rulebook.expression.beside import common_of, overlaid
from rulebook.expression.marks import lacks_mark
from rulebook.expression.nodes import (
    AllOf,
    AnyOf,
    AtLeast,
    Branch,
    FirstOf,
    FormulaOf,
    Invert,
    Leaf,
    MisbehaviorIf,
    Node,
    NoneOf,
    Not,
    Numeric,
    parts_of,
)
from rulebook.expression.ranges import score_range
from rulebook.languages.condition import Several
from rulebook.languages.formula import Formula
from rulebook.languages.types import NUMBER, YES_NO, RecordOf, Scope, Type
from rulebook.outcome import Category
from rulebook.place import Path
from rulebook.spec.reader import Reader
from rulebook.spec.rules import (
    OfBranches,
    OfCheck,
    OfCondition,
    OfCount,
    OfFormula,
    OfGroup,
    OfMisbehavior,
    OfName,
    OfNumbers,
    OfOne,
    PackSpec,
    RuleSpec,
)

MAX_DEPTH = 200
"""How deep a tree may be once its named rules are put in place."""

MAX_PARTS = 20_000
"""How many parts a tree may have once its named rules are put in place: a rule named twice counts twice."""


class Stands(Struct, frozen=True):
    """Where a rule stands, which decides which common keys have an effect on it.

    `decides`: something depends on whether it passes. `weighs`: its parent, or its finding, has a use for `weight`.
    `requires`: its parent has a use for `required`. `negative_weights`: its parent takes weights below 0. `lenient`: a
    step goes on when it passes, so that a kind which everything passes, as in the scoring reference, may stand there.
    """

    decides: bool = True
    weighs: bool = False
    requires: bool = False
    negative_weights: bool = False
    lenient: bool = False


_BY_PARTS = (AllOf, AnyOf, Not, NoneOf, AtLeast, MisbehaviorIf, FirstOf)

FINDING = Stands(weighs=True)
PART = Stands()


class Compiler(Struct):
    """Compiles the rules of one file and its packs. Problems go to the reader of the file that they stand in.

    `written` has every name that the file or a pack bears, those of rules that are not valid too; `nearest` those that
    `them` means where a step has rules of its own.
    """

    readers: Mapping[str, Reader]
    scope: Scope
    named: Mapping[str, RuleSpec]
    packs: Mapping[str, PackSpec]
    written: tuple[str, ...]
    nearest: tuple[str, ...] = ()
    _open: list[str] = field(default_factory=list)
    _made: dict[tuple[str, Stands], Node | None] = field(default_factory=dict)
    _sizes: dict[int, tuple[Node, tuple[int, int]]] = field(default_factory=dict)

    @property
    def problems(self) -> list[Diagnostic]:
        """Every problem noted in any of the files."""
        return [found for reader in self.readers.values() for found in reader.problems]

    def rule(self, spec: RuleSpec, stands: Stands, pack: str = "") -> Node | None:
        """The tree of one rule, which stands in `pack`; None, with every problem noted, when it cannot be made."""
        self._typed(spec)
        node = self._node(spec, stands, pack)
        if node is not None and not self._fits(spec, node):
            return None
        if node is not None:
            self._effects(spec, node, stands)
            if not isinstance(spec.body, OfName):
                self._bounds(spec, node, stands)
        return node

    def lookup(self, name: str, stands: Stands, pack: str) -> Node | None:
        """The tree of the rule called `name`, made once for each way of standing; None when it cannot be made."""
        full = f"{pack}.{name}" if pack and "." not in name else name
        spec = self._spec_of(full)
        if spec is None or full in self._open:
            return None
        if len(self._open) >= MAX_DEPTH:
            self._too_much(spec, "levels", MAX_DEPTH)
            return None
        if (full, stands) not in self._made:
            self._open.append(full)
            node = self.rule(spec, replace(stands, weighs=True), full.partition(".")[0] if "." in full else "")
            if node is not None and not node.common.name:
                node = replace(node, common=replace(node.common, name=full))
            self._made[full, stands] = node
            self._open.pop()
        return self._made[full, stands]

    def part(self, name: str, pack: str) -> Node | None:
        """The tree of a named rule as a part whose pass decides."""
        return self.lookup(name, PART, pack)

    def chosen(self, several: Several, pack: str) -> tuple[str, ...]:
        """The named rules that `them` or a pattern of names stands for."""
        from rulebook.expression.conditions import chosen  # as for a condition

        return chosen(self, several, pack)

    def known_names(self, pack: str = "") -> tuple[str, ...]:
        """Every name that a condition or a `rule:` may use."""
        if pack:
            return tuple(name.partition(".")[2] for name in self.written if name.startswith(f"{pack}."))
        return self.written

    def reader(self, spec: RuleSpec) -> Reader:
        """The reader of the file that a rule stands in."""
        return self.readers[spec.document.file]

    def circle(self, name: str, pack: str) -> str | None:
        """How `name` comes back to itself from here, or None when it does not."""
        full = f"{pack}.{name}" if pack and "." not in name else name
        if full not in self._open:
            return None
        return " → ".join([*self._open[self._open.index(full) :], full])

    def _spec_of(self, full: str) -> RuleSpec | None:
        if full in self.named:
            return self.named[full]
        alias, _, name = full.partition(".")
        return self.packs[alias].rules.get(name) if alias in self.packs else None

    def _node(self, spec: RuleSpec, stands: Stands, pack: str) -> Node | None:
        match spec.body:
            case OfCheck(check):
                return Leaf(common_of(spec, check.owner()), check)
            case OfName(name):
                return self._named(spec, name, stands, pack)
            case OfCondition(condition):
                from rulebook.expression.conditions import condition_node  # a file without conditions does without

                return condition_node(self, spec, condition, pack)
            case OfFormula():
                return self._formula(spec, spec.body, pack)
            case OfBranches(branches):
                branch = replace(PART, decides=stands.decides, lenient=stands.lenient)
                parts = self._parts([rule for _, rule in branches], branch, pack)
                if parts is None:
                    return None
                made = tuple(Branch(when, part) for (when, _), part in zip(branches, parts, strict=True))
                return FirstOf(common_of(spec, shared(parts)), made)
            case OfOne() | OfMisbehavior():
                return self._one(spec, spec.body, stands, pack)
            case OfGroup() | OfCount() | OfNumbers():
                return self._group(spec, spec.body, stands, pack)

    def _named(self, spec: RuleSpec, name: str, stands: Stands, pack: str) -> Node | None:
        reader = self.reader(spec)
        circle = self.circle(name, pack)
        if circle is not None:
            reader.add("RB303", spec.body_path, circle=circle)
            return None
        known = self.known_names(pack)
        if name not in known:
            reader.unknown_reference(name, known, spec.body_path)
            return None
        node = self.lookup(name, stands, pack)
        return None if node is None else overlaid(node, spec)

    def _one(self, spec: RuleSpec, body: OfOne | OfMisbehavior, stands: Stands, pack: str) -> Node | None:
        invert = isinstance(body, OfOne) and body.how == "invert"
        part = self.rule(body.part, Stands(decides=not invert), pack)
        if part is None:
            return None
        common = common_of(spec, part.common.category)
        if isinstance(body, OfMisbehavior):
            return MisbehaviorIf(common, part, body.reason)
        if not invert:
            return Not(common, part)
        least, most = score_range(part)
        if least < 0 or most > 1:
            words = f"a rule whose score lies in 0..1 (this one's lies in {least:g}..{most:g})"
            self.reader(spec).add("RB205", spec.body_path, key="invert", wanted=words, value=part.common.kind)
        if spec.beside.threshold is None and stands.decides:
            self._needs_threshold(spec)
        return Invert(common, part)

    def _group(self, spec: RuleSpec, body: OfGroup | OfCount | OfNumbers, stands: Stands, pack: str) -> Node | None:
        parts = self._parts(body.parts, _standing(body, stands), pack)
        if parts is None:
            return None
        common = common_of(spec, shared(parts))
        match body:
            case OfGroup(how="all"):
                return AllOf(common, parts, body.score, body.stop)
            case OfGroup(how="any"):
                return AnyOf(common, parts, body.score, body.stop)
            case OfGroup():
                return NoneOf(common, parts)
            case OfCount(count):
                return AtLeast(common, count, parts)
            case OfNumbers():
                if body.how in ("weighted", "mean") and all(part.common.weight == 0 for part in parts):
                    self.reader(spec).add("RB602", spec.body_path, what="score")
                return Numeric(common, body.how, parts, body.min_measured, body.range)

    def _formula(self, spec: RuleSpec, body: OfFormula, pack: str) -> Node | None:
        passes = {read.partition(".")[0] for read in body.score.reads() if read.endswith(".passed")}
        let = []
        for name, rule in body.let:
            part = self.rule(rule, Stands(decides=name in passes), pack)
            if part is not None:
                let.append((name, part))
        names: dict[str, Type] = {name: part_type(name) for name, _ in let}
        if len(let) < len(body.let):
            return None
        self._check(spec, (*spec.body_path, "score"), body.score, Scope("this formula", names))
        return FormulaOf(common_of(spec, shared([part for _, part in let])), tuple(let), body.score, body.range)

    def _parts(self, rules: Iterable[RuleSpec], stands: Stands, pack: str) -> tuple[Node, ...] | None:
        made = [self.rule(rule, stands, pack) for rule in rules]
        whole = [node for node in made if node is not None]
        return tuple(whole) if len(whole) == len(made) else None

    def _fits(self, spec: RuleSpec, node: Node) -> bool:
        """Whether a tree keeps to its limits; notes the problem when it does not."""
        levels, parts = self._size(node)
        if levels > MAX_DEPTH:
            self._too_much(spec, "levels", MAX_DEPTH)
        elif parts > MAX_PARTS:
            self._too_much(spec, "parts", MAX_PARTS)
        return levels <= MAX_DEPTH and parts <= MAX_PARTS

    def _too_much(self, spec: RuleSpec, parts: str, limit: int) -> None:
        self.reader(spec).add("RB706", spec.path, what="rule", count=f"more than {limit}", parts=parts, limit=limit)

    def _size(self, node: Node) -> tuple[int, int]:
        """How many levels and parts a tree has; a shared part is looked at once and counted each time."""
        if id(node) not in self._sizes:
            below = [self._size(part) for part in parts_of(node)]
            levels = 1 + max((deep for deep, _ in below), default=0)
            self._sizes[id(node)] = (node, (levels, 1 + sum(count for _, count in below)))
        return self._sizes[id(node)][1]

    def _typed(self, spec: RuleSpec) -> None:
        if spec.beside.when is not None:
            self._check(spec, (*spec.path, "when"), spec.beside.when, self.scope)
        match spec.body:
            case OfCheck(check, short, wrapped):
                for path, text, scope in check.texts(self.scope):
                    skip = 0 if not short else 2 if wrapped else 1
                    place = (*spec.body_path, *path[skip:])
                    for fault in text.faults(scope):
                        self.reader(spec).add_fault(fault, place)
            case OfBranches(branches):
                for index, (when, _) in enumerate(branches):
                    if when is not None:
                        self._check(spec, (*spec.body_path, index, "when"), when, self.scope)
            case _:
                pass

    def _check(self, spec: RuleSpec, path: Path, formula: Formula, scope: Scope) -> None:
        for fault in formula.faults(scope):
            self.reader(spec).add_fault(fault, path)

    def _effects(self, spec: RuleSpec, node: Node, stands: Stands) -> None:
        beside, reader, path = spec.beside, self.reader(spec), spec.path
        if beside.threshold is not None and isinstance(
            node, AllOf | AnyOf | Not | NoneOf | AtLeast | MisbehaviorIf | FirstOf
        ):
            why = f"`{spec.kind}` passes or fails by its parts."
            reader.add_at_key("RB215", (*path, "threshold"), key="threshold", why=why)
        if beside.threshold is not None and isinstance(node, Leaf) and _has_own_mark(node):
            why = f"`continue_threshold` stands inside `{spec.kind}` already. Keep one."
            reader.add_at_key("RB215", (*path, "threshold"), key="threshold", why=why)
        if beside.weight is not None and not stands.weighs:
            why = "only the parts of `weighted`, `sum` and `mean`, and an eval's named rules, have weights."
            reader.add_at_key("RB215", (*path, "weight"), key="weight", why=why)
        if beside.weight is not None and beside.weight < 0 and not stands.negative_weights:
            reader.add("RB601", (*path, "weight"), value=f"{beside.weight:g}", hint=" (`sum` takes negative ones.)")
        if beside.required and not stands.requires:
            reader.add_at_key(
                "RB215", (*path, "required"), key="required", why="only a part of `weighted` can be required."
            )
        if beside.on_timeout is not None and beside.timeout_s is None:
            reader.add_at_key("RB215", (*path, "on_timeout"), key="on_timeout", why="there is no `timeout` beside it.")
        if beside.timeout_s == 0:
            reader.add("RB205", (*path, "timeout"), key="timeout", wanted="more than 0", value="0")
        decides = stands.decides or bool(beside.required)
        if decides and not isinstance(spec.body, OfName) and lacks_mark(node, lenient=stands.lenient):
            self._needs_threshold(spec)

    def _needs_threshold(self, spec: RuleSpec) -> None:
        self.reader(spec).add_at_key("RB610", spec.body_path if spec.kind != "judge" else spec.path, kind=spec.kind)

    def _bounds(self, spec: RuleSpec, node: Node, stands: Stands) -> None:
        threshold = spec.beside.threshold
        if threshold is None or not stands.decides:
            return
        least, most = score_range(node)
        place = (*spec.path, "threshold")
        if most < threshold - 1e-9:
            self.reader(spec).add("RB605", place, most=f"{most:g}", threshold=f"{threshold:g}")
        elif least >= threshold - 1e-9:
            self.reader(spec).add("RB606", place, least=f"{least:g}", threshold=f"{threshold:g}")


def _has_own_mark(leaf: Leaf) -> bool:
    """Whether the author wrote the pass mark among the options of the check."""
    return "continue_threshold" in leaf.check.model_fields_set


def shared(parts: Iterable[Node]) -> Category:
    """The category that all parts share, else `model`."""
    found = {part.common.category for part in parts}
    return found.pop() if len(found) == 1 else "model"


def part_type(name: str) -> Type:
    """What a formula's name is worth: a number that also has `score` and `passed`."""
    return RecordOf(f"`{name}`", {"score": NUMBER, "passed": YES_NO}, value=NUMBER)


def _standing(body: OfGroup | OfCount | OfNumbers, above: Stands) -> Stands:
    if not isinstance(body, OfNumbers):
        return replace(PART, lenient=above.lenient and isinstance(body, OfGroup) and body.how == "all")
    return Stands(
        decides=False,
        weighs=body.how in ("weighted", "sum", "mean"),
        requires=body.how == "weighted",
        negative_weights=body.how == "sum",
    )
