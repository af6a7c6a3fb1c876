"""What calls give for the kinds of their arguments."""

from msgspec.structs import replace

from rulebook.languages.formula_functions import FUNCTIONS
from rulebook.languages.formula_kinds import either, plain_number, takes
from rulebook.languages.formula_terms import Call
from rulebook.languages.select import Select
from rulebook.languages.types import ANYTHING, NUMBER, TEXT, YES_NO, ListOf, Scalar, Type

COUNT = Scalar("number", least=0)


def unfit_argument(call: Call, kinds: tuple[Type, ...]) -> int | None:
    """The position of the first argument of a kind that the function does not take; None when all fit."""
    wanted: tuple[str, ...] = FUNCTIONS[call.name].takes
    if call.name in ("min", "max") and len(kinds) > 1:
        wanted = ("number",) * len(kinds)
    for position, (one, kind) in enumerate(zip(wanted, kinds, strict=False)):
        if not takes(one, kind):
            return position
    return None


def result_of(call: Call, kinds: tuple[Type, ...], item: Type | None) -> Type:
    """The kind of a call's value; `item` is that of its quoted expression, else of the list's items."""
    missing = any(kind.optional for kind in kinds)
    match call.name:
        case "count" | "len":
            kind: Scalar = COUNT
        case "sum":
            kind = COUNT if _not_negative(item) else NUMBER
        case "mean" | "min" | "max":
            kind = _among(call, kinds, item)
        case "lower" | "upper" | "strip":
            kind = TEXT
        case "abs":
            kind = COUNT
        case "round":
            kind = NUMBER
        case "json" | "path":
            return ListOf(ANYTHING) if isinstance(call.extra, Select) and not call.extra.leads_to_one else ANYTHING
        case "default":
            joined = either(replace(kinds[0], optional=False), kinds[1])
            return joined if joined is not None else ANYTHING
        case "known":
            return YES_NO
        case _:
            kind = YES_NO
    return replace(kind, optional=True) if missing else kind


def _not_negative(kind: Type | None) -> bool:
    return isinstance(kind, Scalar) and kind.least is not None and kind.least >= 0


def _among(call: Call, kinds: tuple[Type, ...], item: Type | None) -> Scalar:
    numbers = [plain_number(kind) for kind in kinds] if len(kinds) > 1 else [plain_number(item or NUMBER)]
    pick = max if call.name == "max" else min
    lows = [kind.least for kind in numbers if kind.least is not None]
    highs = [kind.most for kind in numbers if kind.most is not None]
    least = pick(lows) if len(lows) == len(numbers) else None
    most = pick(highs) if len(highs) == len(numbers) else None
    return Scalar("number", least=least, most=most)
