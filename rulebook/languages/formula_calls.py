"""Calls: only of listed functions, with as many values as they take, and their quoted parts read at once."""

import ast
from collections.abc import Callable

from rulebook.languages.faults import LanguageError
from rulebook.languages.formula_functions import FUNCTIONS, Function
from rulebook.languages.formula_literals import outward
from rulebook.languages.formula_reading import Reading
from rulebook.languages.formula_terms import Call, Read, Term
from rulebook.languages.pattern import Pattern, read_pattern
from rulebook.languages.select import Select, read_select
from rulebook.spelling import guess, nearest


def read_call(reading: Reading, node: ast.Call, depth: int) -> Term:
    """The call of a listed function."""
    if not isinstance(node.func, ast.Name):
        return _method(reading, node)
    function = FUNCTIONS.get(node.func.id)
    if function is None:
        return _unknown(reading, node.func)
    if node.keywords:
        return reading.refuse(node.keywords[0].value, "A named argument", " Write the values in order.")
    starred = next((argument for argument in node.args if isinstance(argument, ast.Starred)), None)
    if starred is not None:
        return reading.refuse_syntax(starred, starred)
    if not function.least <= len(node.args) <= function.most:
        return _wrong_count(reading, node, node.func.id, function)
    start, end = reading.source.span(node)
    call = Call(node.func.id, (), None, start, end)
    _SPECIAL[function.special](reading, node, call, depth)
    return call


def _plain(reading: Reading, node: ast.Call, call: Call, depth: int) -> None:
    call.args = tuple(reading.term(argument, depth) for argument in node.args)


def _item(reading: Reading, node: ast.Call, call: Call, depth: int) -> None:
    numbers = call.name in ("min", "max") and len(node.args) > 1
    if numbers and not (len(node.args) == 2 and _is_text(node.args[1])):
        return _plain(reading, node, call, depth)
    over = reading.term(node.args[0], depth)
    call.args = (over,)
    if len(node.args) == 1:
        return None
    if not _is_text(node.args[1]):
        _unquoted(reading, node, call)
        return None
    prefix = over.label if isinstance(over, Read) else ""
    call.extra = reading.inside(node.args[1], prefix, depth)
    return None


def _pattern(reading: Reading, node: ast.Call, call: Call, depth: int) -> None:
    call.args = (reading.term(node.args[1], depth),)
    call.extra = _literal(reading, node, call, read_pattern)


def _glob(reading: Reading, node: ast.Call, call: Call, depth: int) -> None:
    call.args = (reading.term(node.args[1], depth),)
    call.extra = _literal(reading, node, call, str)


def _path(reading: Reading, node: ast.Call, call: Call, _depth: int) -> None:
    call.extra = _literal(reading, node, call, read_select)


def _digits(reading: Reading, node: ast.Call, call: Call, depth: int) -> None:
    call.args = (reading.term(node.args[0], depth),)
    if len(node.args) == 1:
        return
    digits = node.args[1]
    if isinstance(digits, ast.Constant) and type(digits.value) is int and 0 <= digits.value <= 15:
        call.extra = digits.value
        return
    _wrong(reading, digits, call.name, f"`{reading.source.slice(digits)}`")


_SPECIAL = {"": _plain, "item": _item, "pattern": _pattern, "glob": _glob, "path": _path, "digits": _digits}


def _literal(
    reading: Reading, node: ast.Call, call: Call, read: Callable[[str], Pattern | Select | str]
) -> Pattern | Select | str | None:
    argument = node.args[0]
    if not _is_text(argument):
        _wrong(reading, argument, call.name, f"`{reading.source.slice(argument)}`, which isn't in quotes")
        return None
    found = reading.source.quoted(argument, pattern=True)
    call.offsets = found.offsets
    try:
        return read(found.value)
    except LanguageError as error:
        reading.findings.faults += [outward(fault, found.offsets, reading.source.mended) for fault in error.faults]
        return None


def _unquoted(reading: Reading, node: ast.Call, call: Call) -> None:
    condition = node.args[1]
    written = reading.source.slice(condition)
    quote = '"' if '"' not in written else "'"
    mended = None
    if quote not in written:
        mended = reading.source.mended(*reading.source.span(condition), f"{quote}{written}{quote}")
    words = {"name": call.name, "wanted": FUNCTIONS[call.name].wanted, "found": f"`{written}` without quotes"}
    reading.wrong("RB406", words, condition, mended)


def _wrong_count(reading: Reading, node: ast.Call, name: str, function: Function) -> Term:
    count = len(node.args)
    found = "nothing" if not count else "one value" if count == 1 else f"{count} values"
    return reading.wrong("RB406", {"name": name, "wanted": function.wanted, "found": found}, node)


def _wrong(reading: Reading, node: ast.expr, name: str, found: str) -> Term:
    return reading.wrong("RB406", {"name": name, "wanted": FUNCTIONS[name].wanted, "found": found}, node)


def _unknown(reading: Reading, name: ast.Name) -> Term:
    from rulebook.languages.formula_mistakes import METHODS  # only a mistake pays for it

    best = METHODS.get(name.id.lower().replace("_", "")) or nearest(name.id, FUNCTIONS)
    says = f" Did you mean `{best}`?" if best else guess(name.id, ())
    mended = reading.source.mended(*reading.source.span(name), best) if best else None
    return reading.wrong("RB405", {"name": name.id, "guess": says}, name, mended)


def _method(reading: Reading, node: ast.Call) -> Term:
    from rulebook.languages.formula_mistakes import METHODS, list_method  # as above

    source = reading.source
    if not isinstance(node.func, ast.Attribute):
        return reading.refuse_syntax(node, node.func)
    ours = METHODS.get(node.func.attr.lower())
    told = list_method(source.slice(node.func.value), node.func.attr)
    if ours is None and told is not None:
        return reading.refuse(node, *told)
    if ours is None or not isinstance(node.func.value, (ast.Name, ast.Attribute)):
        return reading.refuse(node, f"`.{node.func.attr}(…)`", " Only the listed functions can be called.")
    new = f"{ours}({', '.join(source.slice(part) for part in (node.func.value, *node.args))})"
    words = {"ours": new, "theirs": source.slice(node)}
    return reading.wrong("RB402", words, node, source.mended(*source.span(node), new))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
