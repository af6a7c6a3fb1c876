"""Terms as closures, for what runs thousands of times: compiled once, about a microsecond a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import assert_never

from rulebook.languages.formula_plain import Each, of_numbers, over_items, plain, rounded
from rulebook.languages.formula_terms import (
    PARAMS,
    Calculate,
    Call,
    Choices,
    Compare,
    Joined,
    Literal,
    Lookup,
    Negative,
    Not,
    Pick,
    Read,
    Search,
    Term,
    item_of,
)
from rulebook.languages.formula_values import UNFIT, calculate, compare, named, negative, opposite
from rulebook.languages.globs import glob_matches
from rulebook.languages.pattern import Pattern
from rulebook.languages.select import Select, SelectLimit
from rulebook.languages.types import MISSING, MissingValue

Closure = Callable[[Lookup, Search], object]

ITEM = "item"
"""What an item that has no fields of its own is called in a quoted expression."""


@lru_cache(maxsize=4096)
def closure(term: Term, text: str) -> Closure:
    """The term as a function of what names are worth; `text` is the whole text, which names its parts."""
    match term:
        case Literal(value=value):
            return lambda _lookup, _search: value
        case Choices(items=items):
            values = [item.value for item in items]
            return lambda _lookup, _search: values
        case Read():
            return _read(term, text)
        case Not(part=part) | Negative(part=part):
            change = opposite if isinstance(term, Not) else negative
            run, where = closure(part, text), text[term.start : term.end]
            return lambda lookup, search: named(change(run(lookup, search)), where)
        case Joined():
            return _joined(term, text)
        case Compare():
            return _compare(term, text)
        case Calculate(operator=operator):
            left, right, where = (
                closure(term.left, text),
                closure(term.right, text),
                text[term.start : term.end],
            )
            return lambda lookup, search: named(calculate(operator, left(lookup, search), right(lookup, search)), where)
        case Pick():
            return _pick(term, text)
        case Call():
            return _call(term, text)
        case _:
            assert_never(term)


def of_item(item: object, outer: Lookup) -> Lookup:
    """The names of a quoted expression: an item's fields (`item` if it has none), and the file's `params`."""
    fields: Mapping[str, object] = item if isinstance(item, Mapping) else {ITEM: item}
    return lambda name: outer(name) if name == PARAMS else fields.get(name, MISSING)


def field_of(value: object, keys: Sequence[str], label: str) -> object:
    """What a path of keys leads to; `label` names it when it is not there."""
    for key in keys:
        if type(value) is MissingValue or not isinstance(value, Mapping) or key not in value:
            return MissingValue(label)
        value = value[key]
    return MissingValue(label) if type(value) is MissingValue and not value.what else value


def read(term: Read, lookup: Lookup) -> object:
    """The value of a name and its fields. A plain value's own fields (`a`, `a.passed`) have dotted names."""
    value = lookup(term.keys[0])
    if len(term.keys) > 1 and isinstance(value, (str, int, float)):
        return field_of(lookup(".".join(term.keys)), (), term.label)
    return field_of(value, term.keys[1:], term.label)


def apply(call: Call, values: Sequence[object], each: Each | None, lookup: Lookup, search: Search) -> object:
    """What a call gives for the values of its arguments; UNFIT for values of a kind that it does not take."""
    if call.name == "known":
        return type(values[0]) is not MissingValue
    if call.name == "default":
        return values[1] if type(values[0]) is MissingValue else values[0]
    missing = next((value for value in values if type(value) is MissingValue), None)
    if missing is not None:
        return missing
    match call.extra:
        case Pattern():
            return search(call.extra, values[0]) if isinstance(values[0], str) else UNFIT
        case str():
            return glob_matches(call.extra, values[0]) if isinstance(values[0], str) else UNFIT
        case Select():
            return _selected(call.extra, lookup)
    if call.name == "round":
        return rounded(values[0], call.extra if isinstance(call.extra, int) else None)
    if call.name in _OVER_ITEMS:
        return of_numbers(call.name, values) if len(values) > 1 else over_items(call.name, values[0], each)
    return plain(call.name, values)


def each_of(call: Call, text: str, lookup: Lookup, search: Search) -> Each | None:
    """The quoted expression of a call as a function of an item; None when it has none."""
    item = item_of(call)
    if item is None:
        return None
    run = closure(item, text)
    return lambda found: run(of_item(found, lookup), search)


def joined(word: str, values: Iterable[object]) -> object:
    """Yes and no joined: false and missing is false, true or missing is true, in either order."""
    decisive = word == "or"
    missing: object = None
    for value in values:
        if value is decisive:
            return decisive
        missing = value if missing is None and not isinstance(value, bool) else missing
    return (not decisive) if missing is None else missing


_OVER_ITEMS = frozenset(("count", "any", "all", "sum", "mean", "min", "max"))


def _read(term: Read, text: str) -> Closure:
    keys, label = term.keys, term.label
    if term.base is not None:
        base = closure(term.base, text)
        return lambda lookup, search: field_of(base(lookup, search), keys, label)
    if len(keys) > 1:
        return lambda lookup, _search: read(term, lookup)
    name = keys[0]

    def run(lookup: Lookup, _search: Search) -> object:
        value = lookup(name)
        return MissingValue(label) if type(value) is MissingValue and not value.what else value

    return run


def _joined(term: Joined, text: str) -> Closure:
    parts = [(closure(part, text), text[part.start : part.end]) for part in term.parts]
    decisive = term.word == "or"

    def run(lookup: Lookup, search: Search) -> object:
        missing: object = None
        for part, where in parts:
            value = part(lookup, search)
            if value is decisive:
                return decisive
            if value is not (not decisive) and missing is None:
                missing = value if type(value) is MissingValue else MissingValue(where)
        return (not decisive) if missing is None else missing

    return run


def _compare(term: Compare, text: str) -> Closure:
    runs = [closure(part, text) for part in term.parts]
    where = text[term.start : term.end]
    first = term.operators[0]
    if len(term.operators) == 1:
        left, right = runs
        return lambda lookup, search: named(compare(first, left(lookup, search), right(lookup, search)), where)
    second = term.operators[1]

    def run(lookup: Lookup, search: Search) -> object:
        low, middle, high = (part(lookup, search) for part in runs)
        return joined("and", [named(compare(first, low, middle), where), named(compare(second, middle, high), where)])

    return run


def _pick(term: Pick, text: str) -> Closure:
    test, then, otherwise = (closure(part, text) for part in (term.test, term.then, term.otherwise))
    where = text[term.test.start : term.test.end]

    def run(lookup: Lookup, search: Search) -> object:
        answer = test(lookup, search)
        if answer is True:
            return then(lookup, search)
        if answer is False:
            return otherwise(lookup, search)
        return answer if type(answer) is MissingValue else MissingValue(where)

    return run


def _call(term: Call, text: str) -> Closure:
    args = [closure(part, text) for part in term.args]
    where = text[term.start : term.end]
    item = item_of(term)
    inner = None if item is None else closure(item, text)

    def run(lookup: Lookup, search: Search) -> object:
        each = None if inner is None else lambda found: inner(of_item(found, lookup), search)
        return named(apply(term, [part(lookup, search) for part in args], each, lookup, search), where)

    return run


def _selected(path: Select, lookup: Lookup) -> object:
    try:
        found = path.find(lookup)
    except SelectLimit:
        return MissingValue(path.text)
    if not path.leads_to_one:
        return found
    return found[0] if found else MissingValue(path.text)
