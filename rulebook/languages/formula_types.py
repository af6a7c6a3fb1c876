"""Typing an expression against a scope: all that would go wrong, or mean nothing, before anything runs."""

from typing import Literal as OneOf
from typing import NamedTuple, assert_never

from msgspec.structs import replace

from rulebook.languages.faults import Fault, LanguageError
from rulebook.languages.formula_advice import (
    Lack,
    Text,
    exact_decimal,
    hyphenated,
    missing_faults,
    never_that_word,
    not_nothing,
    not_wanted,
    unknown_field,
    unlike,
)
from rulebook.languages.formula_guards import known_when, narrowed
from rulebook.languages.formula_kinds import (
    always_equal,
    always_ordered,
    calculated,
    cannot_equal,
    cannot_order,
    either,
    field_kind,
    is_kind,
    item_record,
    kind_along,
    kind_of,
    negated,
    plain_number,
    worth,
)
from rulebook.languages.formula_literals import outward
from rulebook.languages.formula_syntax import Parsed, parsed
from rulebook.languages.formula_terms import (
    PARAMS,
    Calculate,
    Call,
    Choices,
    Compare,
    Joined,
    Literal,
    Negative,
    Not,
    Pick,
    Read,
    Term,
    item_of,
)
from rulebook.languages.pattern import Pattern
from rulebook.languages.select import Select
from rulebook.languages.types import (
    ANYTHING,
    NOTHING,
    NUMBER,
    YES_NO,
    ListOf,
    RecordOf,
    Scalar,
    Scope,
    Type,
    described,
)


def faults_of(form: Parsed, scope: Scope, wanted: OneOf["yes or no", "number", "anything"]) -> tuple[Fault, ...]:
    """Everything wrong with an expression whose value must be `wanted`, in the order of the text."""
    checker = _Checker(Text(form.text), RecordOf(scope.place, scope.names), [])
    checker.whole(form.root, wanted)
    return tuple(sorted(map(_sound, checker.faults), key=lambda fault: fault.start))


class _Found(NamedTuple):
    """The kind of a value, and yes or no where it is always the same."""

    kind: Type
    truth: bool | None = None


class _Checker:
    """Types the terms of an expression, or of one quoted inside it; `record` has the names it can read."""

    def __init__(self, text: Text, record: RecordOf, faults: list[Fault]) -> None:
        self._text, self._record, self.faults = text, record, faults
        self._known: frozenset[str] = frozenset()
        self._sheltered = False
        self._under = ""
        self._lacks: list[Lack] = []

    def whole(self, term: Term, wanted: OneOf["yes or no", "number", "anything"]) -> Type:
        if wanted == "yes or no":
            return self._condition(term)
        found = self._find(term).kind
        self.faults += missing_faults(self._text, term, self._lacks, None)
        fits = is_kind(found, "number") if wanted == "number" else isinstance(found, Scalar)
        if not fits:
            self.faults.append(not_wanted(self._text, term, found, wanted))
        return found

    def _condition(self, term: Term) -> Type:
        around, under = self._lacks, self._under
        self._lacks, self._under = [], ""
        found = self._find(term)
        if self._lacks:
            self.faults += missing_faults(self._text, term, self._lacks, under)
        self._lacks, self._under = around, under
        if not is_kind(found.kind, "yes or no"):
            self.faults.append(not_wanted(self._text, term, found.kind, "yes or no"))
        elif found.truth is not None:
            words = {"value": "true" if found.truth else "false"}
            self.faults.append(Fault("RB409", words, term.start, term.end))
        return found.kind

    def _find(self, term: Term) -> _Found:
        match term:
            case Literal(value=value):
                return _Found(kind_of(value), value if isinstance(value, bool) else None)
            case Choices():
                return _Found(ListOf(ANYTHING))
            case Read():
                return _Found(self._read(term))
            case Not():
                self._under = "not"
                return _Found(_yes_no(self._condition(term.part).optional))
            case Negative():
                return _Found(negated(plain_number(self._number(term, term.part))))
            case Joined():
                return _Found(self._joined(term))
            case Compare():
                return self._compare(term)
            case Calculate():
                return _Found(self._calculate(term))
            case Pick():
                return _Found(self._pick(term))
            case Call():
                return _Found(self._call(term))
            case _:
                assert_never(term)

    def _read(self, term: Read) -> Type:
        kind: Type = self._record if term.base is None else self._find(term.base).kind
        for position, key in enumerate(term.keys):
            place, found = kind, field_kind(kind, key)
            if found is None:
                names = list(place.fields) if isinstance(place, RecordOf) else []
                item = term.base is None and self._text.quoted
                self.faults.append(unknown_field(self._text, term, position, place, names, item=item))
                return ANYTHING
            kind = found
            if kind.optional and self._may_lack(term, position, place):
                return replace(kind_along(kind, term.keys[position + 1 :]), optional=True)
        return worth(kind)

    def _may_lack(self, term: Read, position: int, place: Type) -> bool:
        path = ".".join(term.keys[: position + 1])
        if self._sheltered or path in self._known or term.base is not None:
            return False
        self._lacks.append(Lack(path, described(place), term.start, term.ends[position]))
        return True

    def _joined(self, term: Joined) -> Type:
        known, record = self._known, self._record
        told = known.union(*(known_when(part, term.word == "and") for part in term.parts))
        left, by = narrowed(term.parts, record) if term.word == "and" else (record, None)
        optional = False
        for part in term.parts:
            self._known = told
            self._record, self._under = (record if part is by else left), term.word
            optional = self._condition(part).optional or optional
        self._known, self._record, self._under = known, record, ""
        return _yes_no(optional)

    def _pick(self, term: Pick) -> Type:
        known = self._known
        self._condition(term.test)
        self._known = known | known_when(term.test, True)
        then = self._find(term.then).kind
        self._known = known | known_when(term.test, False)
        otherwise = self._find(term.otherwise).kind
        self._known = known
        kind = either(then, otherwise)
        if kind is None:
            why = "both sides of `if … else` must be of one kind"
            self.faults.append(unlike(term, "mixes", then, otherwise, why))
        return kind or ANYTHING

    def _number(self, whole: Term, term: Term) -> Type:
        kind = self._find(term).kind
        if not is_kind(kind, "number"):
            why = "`+`, `-`, `*` and `/` work on numbers"
            self.faults.append(unlike(whole, "calculates", kind, NUMBER, why))
            return NUMBER
        return kind

    def _calculate(self, term: Calculate) -> Type:
        if term.operator == "-":
            fault = hyphenated(self._text, term, list(self._record.fields))
            if fault is not None:
                self.faults.append(fault)
                return ANYTHING
        left, right = self._find(term.left).kind, self._find(term.right).kind
        if not (is_kind(left, "number") and is_kind(right, "number")):
            self.faults.append(unlike(term, "calculates", left, right, "`+`, `-`, `*` and `/` work on numbers"))
            return NUMBER
        return calculated(term.operator, plain_number(left), plain_number(right))

    def _compare(self, term: Compare) -> _Found:
        count = len(self.faults)
        kinds = [self._find(part).kind for part in term.parts]
        if len(self.faults) > count:
            self._bare_texts(term, term.parts, kinds, count)
        truths: list[bool | None] = []
        pairs = zip(term.operators, term.parts, term.parts[1:], kinds, kinds[1:], strict=False)
        for operator, left, right, one, other in pairs:
            if operator in ("in", "not in"):
                self._within(left, right, one, other)
                truths.append(None)
            elif operator in ("==", "!="):
                truths.append(self._equal(term, operator, left, right, one, other))
            else:
                why = cannot_order(one, other)
                if why is not None:
                    self.faults.append(unlike(term, "compares", one, other, why))
                truths.append(None if why else always_ordered(operator, one, other))
        optional = any(kind.optional for kind in kinds)
        truth = False if False in truths else True if all(truths) else None
        return _Found(_yes_no(optional), None if optional else truth)

    def _bare_texts(self, term: Term, parts: tuple[Term, ...], kinds: list[Type], since: int) -> None:
        """Say of a word beside a text that it needs quotes, in place of the faults found in it `since` then."""
        from rulebook.languages.formula_texts import bare_text  # only a mistake pays for it

        beside = [kind for part, kind in zip(parts, kinds, strict=True) if not isinstance(part, Literal)]
        for position, part in enumerate(parts):
            unknown = any(f.code == "RB403" and f.start == part.start for f in self.faults[since:])
            fault = bare_text(self._text, part, beside, self._record) if unknown else None
            if fault is not None:
                kept = [f for f in self.faults[since:] if not part.start <= f.start < part.end]
                self.faults[since:] = [*kept, fault]
                self._lacks_within(term)
                kinds[position] = ANYTHING

    def _equal(self, term: Compare, operator: str, left: Term, right: Term, one: Type, other: Type) -> bool | None:
        why = cannot_equal(one, other)
        if why is not None:
            self._lacks_within(term)
            self.faults.append(
                not_nothing(self._text, term, one, other, why)
                if NOTHING in (one, other)
                else unlike(term, "compares", one, other, why)
            )
            return None
        if not isinstance(one, Scalar) or not isinstance(other, Scalar) or one.name != other.name:
            return None
        same = always_equal(one, other)
        for side, literal, kind in ((left, right, one), (right, left, other)):
            written = isinstance(literal, Literal) and not isinstance(side, Literal)
            if written and same is False and kind.name == "text":
                assert isinstance(literal, Literal)
                self.faults.append(never_that_word(self._text, side, literal, kind.choices))
                return None
            if written and isinstance(literal, Literal) and _is_decimal(literal):
                self.faults.append(exact_decimal(self._text, term, self._lacks_within(term)))
                return None
        return same if operator == "==" or same is None else not same

    def _lacks_within(self, term: Term) -> list[Lack]:
        """Take what may be missing in `term` out of what is still to be said."""
        lacks = [lack for lack in self._lacks if term.start <= lack.start < term.end]
        self._lacks = [lack for lack in self._lacks if lack not in lacks]
        return lacks

    def _within(self, left: Term, right: Term, one: Type, other: Type) -> None:
        if isinstance(right, Choices):
            for item in right.items:
                self._one_of(left, item, one)
        elif isinstance(other, ListOf):
            why = cannot_equal(one, other.item)
            if why is not None:
                self.faults.append(unlike(left, "looks for", one, other, why))
        elif is_kind(other, "text"):
            if not is_kind(one, "text"):
                self.faults.append(unlike(left, "looks for", one, other, "text holds only text"))
        else:
            why = "only a list or text can be looked through"
            self.faults.append(unlike(right, "looks for", one, other, why))

    def _one_of(self, left: Term, item: Literal, kind: Type) -> None:
        why = cannot_equal(kind, kind_of(item.value))
        choices = kind.choices if isinstance(kind, Scalar) else ()
        if why is not None:
            self.faults.append(unlike(item, "compares", kind, kind_of(item.value), why))
        elif choices and item.value not in choices and not isinstance(left, Literal):
            self.faults.append(never_that_word(self._text, left, item, choices))

    def _call(self, term: Call) -> Type:
        from rulebook.languages.formula_functions import FUNCTIONS  # many expressions call nothing
        from rulebook.languages.formula_results import result_of, unfit_argument

        sheltered = self._sheltered
        count, kinds = len(self.faults), list[Type]()
        for position, argument in enumerate(term.args):
            self._sheltered = sheltered or (term.name in ("known", "default") and position == 0)
            kinds.append(self._find(argument).kind)
        self._sheltered = sheltered
        if len(self.faults) > count and term.name in ("contains", "starts_with", "ends_with"):
            self._bare_texts(term, term.args, kinds, count)
        unfit = unfit_argument(term, tuple(kinds))
        if unfit is not None:
            argument = term.args[unfit]
            words = {
                "name": term.name,
                "wanted": FUNCTIONS[term.name].wanted,
                "found": described(kinds[unfit]),
            }
            self.faults.append(Fault("RB406", words, argument.start, argument.end))
            return ANYTHING
        self._check_pair(term, kinds)
        self._check_literal(term)
        return result_of(term, tuple(kinds), self._item(term, kinds))

    def _check_pair(self, term: Call, kinds: list[Type]) -> None:
        if term.name == "default" and either(kinds[0], kinds[1]) is None:
            why = "both must be of one kind"
            self.faults.append(unlike(term.args[1], "replaces", kinds[0], kinds[1], why))
        elif term.name == "contains":
            self._within(term.args[1], term.args[0], kinds[1], kinds[0])

    def _check_literal(self, term: Call) -> None:
        match term.extra:
            case Pattern():
                faults = term.extra.faults()
                if faults:
                    from rulebook.languages.formula_texts import without_flags  # only a mistake pays for it

                    faults = tuple(map(without_flags, faults))
            case Select():
                faults = term.extra.faults(Scope(self._record.place, self._record.fields))
            case _:
                return
        self.faults += [outward(fault, term.offsets, self._text.mended) for fault in faults]

    def _item(self, term: Call, kinds: list[Type]) -> Type | None:
        item = item_of(term)
        record = item_record(kinds[0]) if kinds else RecordOf("an item", {})
        if item is None:
            return self._bare_item(term, kinds)
        shared = {PARAMS: self._record.fields[PARAMS]} if PARAMS in self._record.fields else {}
        record = replace(record, fields={**record.fields, **shared})
        inner = _Checker(Text(self._text.whole, quoted=True), record, self.faults)
        return inner.whole(item, "yes or no" if term.name in ("count", "any", "all") else "number")

    def _bare_item(self, term: Call, kinds: list[Type]) -> Type | None:
        if term.name not in ("sum", "mean", "min", "max") or len(kinds) > 1:
            return None
        item = kinds[0].item if isinstance(kinds[0], ListOf) else ANYTHING
        if not is_kind(item, "number"):
            from rulebook.languages.formula_functions import FUNCTIONS  # as above

            words = {"name": term.name, "wanted": FUNCTIONS[term.name].wanted, "found": described(kinds[0])}
            self.faults.append(Fault("RB406", words, term.start, term.end))
        return item


def _sound(fault: Fault) -> Fault:
    """The fault without its mended text, where that would be too long or too deep to be read."""
    if fault.mended is None:
        return fault
    try:
        parsed(fault.mended)
    except LanguageError:
        return replace(fault, mended=None, safe=False)
    return fault


def _yes_no(optional: bool) -> Scalar:
    return _PERHAPS if optional else YES_NO


_PERHAPS = Scalar("yes or no", optional=True)


def _is_decimal(literal: Literal) -> bool:
    return isinstance(literal.value, float) and not literal.value.is_integer()
