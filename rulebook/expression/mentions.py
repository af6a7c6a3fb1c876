"""Which rules stand in a rule, and which named ones it stands on."""

from collections.abc import Iterator

from rulebook.expression.compile import Compiler
from rulebook.languages.condition import Condition, Joined, Name, NotOf, Several
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
    RuleSpec,
)


def mentioned(rule: RuleSpec, compiler: Compiler) -> set[str]:
    """The named rules that a rule stands on, those of its named rules too."""
    found: set[str] = set()
    waiting = _names(rule, compiler)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name in compiler.named:
            waiting += _names(compiler.named[name], compiler)
    return found


def rules_in(rule: RuleSpec) -> Iterator[RuleSpec]:
    """The rule and every one that is written inside it, without the named ones that it stands on."""
    yield rule
    for part in _parts(rule):
        yield from rules_in(part)


def _parts(rule: RuleSpec) -> tuple[RuleSpec, ...]:
    match rule.body:
        case OfCheck() | OfName() | OfCondition():
            return ()
        case OfGroup(parts=parts) | OfCount(parts=parts) | OfNumbers(parts=parts):
            return parts
        case OfOne(part=part) | OfMisbehavior(part=part):
            return (part,)
        case OfFormula(let=let):
            return tuple(part for _, part in let)
        case OfBranches(branches):
            return tuple(part for _, part in branches)


def _names(rule: RuleSpec, compiler: Compiler) -> list[str]:
    found: list[str] = []
    for part in rules_in(rule):
        match part.body:
            case OfName(name):
                found.append(name)
            case OfCondition(condition):
                found += _condition_names(condition, compiler)
            case _:
                pass
    return found


def _condition_names(condition: Condition, compiler: Compiler) -> list[str]:
    match condition:
        case Name(name):
            return [name]
        case NotOf(part):
            return _condition_names(part, compiler)
        case Joined(_, parts):
            return [name for part in parts for name in _condition_names(part, compiler)]
        case Several():
            return list(compiler.chosen(condition, ""))
