"""The kinds that hold rules: how each is written."""

import math
from collections.abc import Callable, Mapping

from rulebook.checks import kind_named
from rulebook.languages.faults import LanguageError, Shown
from rulebook.languages.formula import Formula, read_formula
from rulebook.place import Path
from rulebook.spec.group_options import GroupOptions, Options, PartsOptions
from rulebook.spec.reader import Reader
from rulebook.spec.rules import (
    Aggregate,
    Body,
    OfBranches,
    OfCount,
    OfFormula,
    OfGroup,
    OfMisbehavior,
    OfName,
    OfNumbers,
    OfOne,
    RuleSpec,
)
from rulebook.spec.validation import below, validate_options

_NAME_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")

ReadRule = Callable[[Reader, Path], RuleSpec | None]

COMBINATORS: tuple[str, ...] = (
    "all",
    "any",
    "not",
    "none",
    "invert",
    "at_least",
    "weighted",
    "sum",
    "min",
    "max",
    "mean",
    "product",
    "formula",
    "first",
    "misbehavior",
    "rule",
)
"""Every combinator."""

_INSIDE = ("name", "timeout")


def options_of(kind: str) -> type[Options] | None:
    """The options of a combinator beside the rules it holds; None: it has none."""
    match kind:
        case "all" | "any":
            return GroupOptions
        case "none" | "min" | "max" | "product":
            return PartsOptions
        case "not" | "invert" | "first" | "rule":
            return None
        case _:
            from rulebook.spec.number_options import OPTIONS  # six models that most files do without

            return OPTIONS[kind]


def read_combinator(reader: Reader, kind: str, path: Path, read_rule: ReadRule) -> Body | None:
    """What stands under a combinator's key at `path`; None, with every problem noted, when it is not valid."""
    match kind:
        case "not" | "invert":
            part = read_rule(reader, path)
            return None if part is None else OfOne("not" if kind == "not" else "invert", part)
        case "first":
            return _first(reader, path, read_rule)
        case "rule":
            return _reference(reader, path)
        case "formula":
            return _formula(reader, path, read_rule)
        case "misbehavior":
            return _misbehavior(reader, path, read_rule)
        case _:
            return _group(reader, kind, path, read_rule)


def _group(reader: Reader, kind: str, path: Path, read_rule: ReadRule) -> Body | None:
    model = options_of(kind) or PartsOptions
    value = reader.document.at(path)
    long = isinstance(value, dict)
    if isinstance(value, dict) and "of" not in value and _is_rule_for_list(reader, kind, path, value):
        return None
    given = {k: v for k, v in value.items() if k not in _INSIDE} if isinstance(value, dict) and value else {"of": value}
    options = validate_options(model, given, f"`{kind}`", below(path), reader)
    if options is None:
        return None
    parts = _parts(reader, (*path, "of") if long and value else path, kind, read_rule)
    if parts is None:
        return None
    match options:
        case GroupOptions(score=score, stop=stop):
            return _all_or_any(reader, path, kind, parts, score, stop)
        case PartsOptions() if kind == "none":
            return OfGroup("none", parts)
        case PartsOptions():
            return OfNumbers("min" if kind == "min" else "max" if kind == "max" else "product", parts)
        case _:
            return _count_or_mean(reader, path, kind, parts, options)


def _is_rule_for_list(reader: Reader, kind: str, path: Path, value: Mapping[str, object]) -> bool:
    """Whether rules stand under a group without a list around them, which is then said."""
    kinds = [key for key in value if key in COMBINATORS or kind_named(key) is not None]
    if not kinds or kind == "at_least":
        return False
    reader.add("RB206", path, key=kind, list=reader.shown(Shown([{key: "…"} for key in kinds])))
    return True


def _all_or_any(
    reader: Reader, path: Path, kind: str, parts: tuple[RuleSpec, ...], score: Aggregate, stop: str | None
) -> Body:
    if stop == "first" and score != "decisive":
        why = f"`score: {score}` looks at every part, so it never stops early."
        reader.add_at_key("RB215", (*path, "stop"), key="stop", why=why)
    stops = stop != "never" and score == "decisive"
    return OfGroup("all" if kind == "all" else "any", parts, score, stops)


def _count_or_mean(reader: Reader, path: Path, kind: str, parts: tuple[RuleSpec, ...], options: Options) -> Body | None:
    from rulebook.spec.number_options import CountOptions, MeanOptions, SumOptions  # as in `options_of`

    match options:
        case CountOptions(count=count):
            if count > len(parts):
                reader.add("RB205", (*path, "count"), key="count", wanted=f"at most {len(parts)}", value=count)
            return OfCount(count, parts)
        case MeanOptions(min_measured=share):
            return OfNumbers("weighted" if kind == "weighted" else "mean", parts, share)
        case SumOptions(range=span):
            return OfNumbers("sum", parts, None, _range(reader, (*path, "range"), span))
        case _:
            raise AssertionError(f"the combinator {kind} has options that nobody reads")


def _parts(reader: Reader, path: Path, kind: str, read_rule: ReadRule) -> tuple[RuleSpec, ...] | None:
    count = reader.entries(path, kind)
    if count is None:
        return None
    if count == 0:
        reader.add("RB207", path, key=kind)
        return None
    parts = [read_rule(reader, (*path, index)) for index in range(count)]
    whole = [part for part in parts if part is not None]
    return tuple(whole) if len(whole) == count else None


def _range(reader: Reader, path: Path, span: tuple[float, float] | None) -> tuple[float, float] | None:
    if span is not None and (span[0] >= span[1] or not math.isfinite(span[1] - span[0])):
        reader.add("RB205", path, key="range", wanted="`[low, high]` with low below high", value=reader.source_of(path))
        return None
    return span


def _first(reader: Reader, path: Path, read_rule: ReadRule) -> Body | None:
    from rulebook.spec.number_options import BranchOptions  # as in `options_of`

    count = reader.entries(path, "first")
    if count is None:
        return None
    if count == 0:
        reader.add("RB207", path, key="first")
        return None
    branches = []
    for index in range(count):
        here = (*path, index)
        value = reader.mapping(here, "a branch of `first`")
        if value is None or validate_options(BranchOptions, value, "a branch of `first`", below(here), reader) is None:
            continue
        then = read_rule(reader, (*here, "then"))
        when = None
        if "when" in value:
            when = read_expression(reader, (*here, "when"))
            if when is None:
                continue
        elif index < count - 1:
            reader.add(
                "RB202",
                here,
                thing="A branch that isn't the last",
                key="when",
                purpose="otherwise no later branch is ever reached.",
            )
        if then is not None:
            branches.append((when, then))
    return OfBranches(tuple(branches)) if len(branches) == count else None


def _reference(reader: Reader, path: Path) -> Body | None:
    value = reader.document.at(path)
    if isinstance(value, str) and value:
        return OfName(value)
    reader.wrong_type(path, "rule", "the name of a rule")
    return None


def _formula(reader: Reader, path: Path, read_rule: ReadRule) -> Body | None:
    from rulebook.spec.number_options import FormulaOptions  # as in `options_of`

    value = reader.mapping(path, "formula")
    if value is None:
        return None
    options = validate_options(FormulaOptions, value, "`formula`", below(path), reader)
    named = reader.mapping((*path, "let"), "let") if "let" in value else None
    if options is None or named is None:
        return None
    if not named:
        reader.add("RB207", (*path, "let"), key="let")
        return None
    let = []
    for name in named:
        part = read_rule(reader, (*path, "let", name))
        if check_name(reader, (*path, "let", name), name) and part is not None:
            let.append((name, part))
    span = _range(reader, (*path, "range"), options.range)
    return OfFormula(tuple(let), options.score, span) if len(let) == len(named) else None


def _misbehavior(reader: Reader, path: Path, read_rule: ReadRule) -> Body | None:
    from rulebook.spec.number_options import MisbehaviorOptions  # as in `options_of`

    value = reader.mapping(path, "misbehavior")
    if value is None:
        return None
    options = validate_options(MisbehaviorOptions, value, "`misbehavior`", below(path), reader)
    if options is None:
        return None
    part = read_rule(reader, (*path, "if"))
    return None if part is None else OfMisbehavior(part, options.reason)


def read_expression(reader: Reader, path: Path) -> Formula | None:
    """The yes-or-no expression at `path`; None, with the problem noted, when it is not one."""
    value = reader.document.at(path)
    if not isinstance(value, str):
        reader.wrong_type(path, "when", "an expression (text)")
        return None
    try:
        return read_formula(value)
    except LanguageError as error:
        for fault in error.faults:
            reader.add_fault(fault, path)
        return None


def check_name(reader: Reader, path: Path, name: str) -> bool:
    """Whether a key that names something is a proper name; notes the problem when it is not."""
    if _NAME_SIGNS.issuperset(name) and "a" <= name[:1] <= "z":
        return True
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.lower()).strip("_")
    plain = plain if plain[:1].isalpha() else f"rule_{plain}" if plain else ""
    reader.add_at_key("RB213", path, value=name, guess=f" `{plain}` would do." if plain else "")
    return False
