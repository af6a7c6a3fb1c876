"""One rule of a located document becomes a `RuleSpec`, or diagnostics."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from rulebook.checks import Check, foreign_kinds, kind_named, kind_names
from rulebook.languages.faults import Shown
from rulebook.languages.fields import Duration
from rulebook.languages.formula import YesNoFormula
from rulebook.outcome import CATEGORIES, Category
from rulebook.place import Path
from rulebook.spec.combinators import COMBINATORS, check_name, read_combinator
from rulebook.spec.reader import Reader
from rulebook.spec.rules import Beside, Body, Named, OfCheck, RuleSpec
from rulebook.spec.validation import below, validate_options
from rulebook.spelling import guess


class BesideKeys(BaseModel):
    """The common keys as they are written. Which of them have an effect where they stand is the compiler's to say."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    name: Annotated[str, Field(min_length=1)] | None = Field(None, description="What people call this rule.")
    why: Annotated[str, Field(min_length=1)] | None = Field(None, description="Shown to people when it fails.")
    category: str | None = Field(None, description="Whose a failure is.")
    weight: float | None = Field(None, description="Its share; 0 is shown and counts nothing.")
    required: bool | None = Field(None, description="Its parent fails with score 0 without it.")
    threshold: float | None = Field(None, description="It passes when its score is at least this.")
    when: YesNoFormula | None = Field(None, description="An expression; when it is false the rule is skipped.")
    timeout: Duration | None = Field(None, description="How long this rule may take, such as `30s`.")
    on_timeout: Literal["unmeasured"] | None = Field(
        None, description="Say `unmeasured` when running out of time is not the student's doing."
    )
    report: bool | None = Field(None, description="A finding of its own, though `judge` names it.")


NOTHING_BESIDE = Beside()
COMMON_KEYS: tuple[str, ...] = tuple(BesideKeys.model_fields)
_A_RULE = Shown({"contains": "done"})


def read_rule(reader: Reader, path: Path) -> RuleSpec | None:
    """The rule at `path`; None, with every problem noted, when it is not one."""
    value = reader.document.at(path)
    if not isinstance(value, dict):
        example = Shown({"rule": value}) if _names_a_rule(reader, value) else _A_RULE
        hint = " Join several rules with `all:` or `any:` above the list." if isinstance(value, list) else ""
        reader.not_a_mapping(path, _key(path), f"a rule, such as `{reader.shown(example)}`", hint)
        return None
    key = _kind_key(reader, path, value)
    beside, inside = _common(reader, path, value, key)
    if key is None:
        return None
    body_path = (*path, key)
    body = (
        read_combinator(reader, key, body_path, read_rule)
        if key in COMBINATORS
        else _check(reader, key, body_path, inside)
    )
    if isinstance(body, OfCheck) and body.check.for_rows:
        where = "under `scorers:` in a `rulebook.evaluation` file, whose rows it scores"
        reader.add_at_key("RB210", body_path, key=key, where=where)
        return None
    if body is None or beside is None:
        return None
    return RuleSpec(key, reader.document, path, body_path, beside, body)


def _names_a_rule(reader: Reader, value: object) -> bool:
    """Whether the text that stands for a rule is the name of one, here or in a pack."""
    if not isinstance(value, str):
        return False
    data = reader.document.data
    here, used = (data.get("checks"), data.get("use")) if isinstance(data, dict) else (None, None)
    pack, _, name = value.partition(".")
    return (isinstance(here, dict) and value in here) or (bool(name) and isinstance(used, dict) and pack in used)


def read_named(reader: Reader, path: Path) -> tuple[Named, ...]:
    """The named rules at `path`, as far as they are valid."""
    value = reader.mapping(path, "checks", Shown({"my_rule": _A_RULE.data}, "checks"))
    if value is not None and not value:
        reader.add("RB207", path, key="checks")
    found: list[Named] = []
    for name, rule_value in (value or {}).items():
        if (name in COMBINATORS or name in kind_names()) and _is_nameless(reader, path, name, rule_value):
            continue
        rule = read_rule(reader, (*path, name))
        if check_name(reader, (*path, name), name) and rule is not None:
            found.append(Named(name, rule))
    return tuple(found)


def _is_nameless(reader: Reader, path: Path, kind: str, value: object) -> bool:
    """Whether the rule under `kind` in `checks` lacks a name of its own, which is then said."""
    check = kind_named(kind) if kind not in COMBINATORS else None
    own = check.options() if check else ("of", "let", "if", "count")
    if isinstance(value, dict) and (not value.keys() & set(own) or value.keys() & set(all_kinds())):
        return False  # a rule that is called like a kind
    reader.add_at_key("RB210", (*path, kind), key=kind, where=in_a_named_rule(reader, kind, value))
    return True


def in_a_named_rule(reader: Reader, kind: str, value: object) -> str:
    """Where a `kind` with this `value` belongs that stands outside of any rule, in words."""
    check = kind_named(kind) if kind not in COMBINATORS else None
    field = None if check is None else check.model_fields.get(check.short or "")
    number = field is not None and field.annotation in (int, float)
    short = isinstance(value, int | float if number else str | int | float) and len(str(value)) <= 30
    example = reader.shown(Shown({"my_rule": {kind: value if short else "…"}}, "checks"))
    return f"in a rule that has a name: `{example}`"


def all_kinds() -> tuple[str, ...]:
    """Every word that can be the kind of a rule."""
    return (*COMBINATORS, *sorted(kind_names()))


def _kind_key(reader: Reader, path: Path, value: Mapping[str, object]) -> str | None:
    found = [key for key in value if key not in COMMON_KEYS]
    real = [key for key in found if key in COMBINATORS or kind_named(key) is not None]
    if len(real) == 1 and len(found) == 1:
        return real[0]
    if len(real) > 1:
        names = " and ".join(f"`{key}`" for key in real)
        reader.add_at_key("RB208", (*path, real[1]), kinds=names)
    elif not found:
        reader.add("RB209", path, guess=" Write one kind, such as `contains:` or `all:`.")
    for key in found:
        if key not in real:
            _unknown_kind(reader, (*path, key), key, real[0] if real else None)
    return real[0] if len(real) == 1 else None


def _unknown_kind(reader: Reader, path: Path, key: str, kind: str | None) -> None:
    """Note a key that is neither a kind nor a common key; `kind` is the kind that stands beside it, if one does."""
    check = None if kind is None or kind in COMBINATORS else kind_named(kind)
    if check is not None and key in check.options():
        example = Shown({**({check.short: "…"} if check.short else {}), key: "…"}, str(kind))
        reader.add_at_key("RB210", path, key=key, where=f"inside `{kind}`: write `{reader.shown(example)}`")
        return
    negated = key.removeprefix("not_").removeprefix("not-").removeprefix("no_")
    if negated != key and negated in all_kinds():
        example = Shown({negated: "…"}, "not")
        reader.add_at_key("RB201", path, key=key, thing="a rule", guess=f" Write `{reader.shown(example)}`.")
        return
    options = COMMON_KEYS if kind else (*all_kinds(), *foreign_kinds(), *COMMON_KEYS)
    hint = guess(key, options) or " `rulebook explain` lists every kind."
    reader.add_at_key("RB201", path, key=key, thing="a rule", guess=hint)


def _common(
    reader: Reader, path: Path, value: Mapping[str, object], kind: str | None
) -> tuple[Beside | None, frozenset[str]]:
    """The common keys beside the kind, and the `name` and `timeout` that were written inside it instead."""
    written = {key: value[key] for key in value if key in COMMON_KEYS}
    inside = _inside(value, kind)
    if not written and not inside:
        return NOTHING_BESIDE, frozenset()
    places = {key: (*path, key) for key in written}
    for key in inside:
        if key in written:
            reader.add_at_key(
                "RB215", (*path, str(kind), key), key=key, why=f"`{key}` also stands beside `{kind}`. Keep one."
            )
        written[key] = reader.document.at((*path, str(kind), key))
        places[key] = (*path, str(kind), key)
    keys = validate_options(
        BesideKeys, written, "a rule", lambda loc: (*places.get(str(loc[0]), path), *loc[1:]) if loc else path, reader
    )
    if keys is None:
        return None, frozenset(inside)
    category = _category(reader, places.get("category", path), keys.category)
    beside = Beside(
        keys.name,
        keys.why,
        category,
        keys.weight,
        keys.required,
        keys.threshold,
        keys.when,
        keys.timeout,
        keys.on_timeout,
        keys.report,
    )
    return beside, frozenset(inside)


def _inside(value: Mapping[str, object], kind: str | None) -> list[str]:
    body = value.get(kind) if kind is not None else None
    if kind is None or not isinstance(body, dict) or kind in ("first", "formula", "not", "invert"):
        return []
    found = [key for key in ("name", "timeout") if key in body]
    check = kind_named(kind) if found and kind not in COMBINATORS else None
    return [key for key in found if check is None or key not in check.options()]


def _category(reader: Reader, path: Path, word: str | None) -> Category | None:
    if word is None:
        return None
    for category in CATEGORIES:
        if word == category:
            return category
    reader.add("RB603", path, value=word, guess=guess(word, CATEGORIES, list_up_to=0))
    return None


def _check(reader: Reader, key: str, path: Path, inside: frozenset[str]) -> Body | None:
    kind = kind_named(key)
    value = reader.document.at(path)
    return None if kind is None else check_of(reader, kind, value, path, inside)


def check_of(
    reader: Reader, kind: type[Check], value: object, path: Path, inside: frozenset[str] = frozenset()
) -> OfCheck | None:
    """A check of `kind` from the value at `path`, in full or in short; `inside` names common keys to pass over."""
    if isinstance(value, dict) and (value or kind.short is None or _has_default(kind)):
        options = {name: option for name, option in value.items() if name not in inside}
        check = validate_options(kind, options, f"`{kind.kind}`", below(path), reader)
        return None if check is None else OfCheck(check)
    if value is None and kind.short is not None and kind.short != "":
        from rulebook.spec.advice import example_of  # only a mistake pays for it

        wanted, example = example_of(kind, reader.language)
        reader.add_at_key("RB203", path, key=kind.kind, wanted=wanted, found="nothing", hint=f" Write `{example}`.")
        return None
    if kind.short is None:
        from rulebook.spec.advice import in_full  # as above

        body = in_full(kind.kind, value)
        example = reader.shown(Shown(body, kind.kind)) if body else ""
        reader.wrong_type(path, kind.kind, "a mapping (keys and values)", f" Write `{example}`." if body else "")
        return None
    if _list_for_pattern(reader, kind, value, path):
        return None
    if _is_list_in_a_line(reader, kind, value, path):
        return None
    in_one_line = kind.short == "argv" and isinstance(value, str) and len(value.split()) > 1
    wrapped = _takes_list(kind) and not isinstance(value, list | dict) and not in_one_line
    skipped = 2 if wrapped else 1
    option = (value,) if wrapped else value
    check = validate_options(
        kind,
        {kind.short: option},
        f"`{kind.kind}`",
        lambda loc: (*path, *loc[skipped:]) if loc and loc[0] == kind.short else path,
        reader,
    )
    return None if check is None else OfCheck(check, short=True, wrapped=wrapped)


@cache
def _has_default(kind: type[Check]) -> bool:
    """Whether a kind works without any option: its main field says what it is where nothing is written."""
    field = _main_field(kind)
    return field is not None and not field.is_required() and field.default is not None


@cache
def _takes_list(kind: type[Check]) -> bool:
    field = _main_field(kind)
    return field is not None and str(field.annotation).startswith("tuple[")


def _main_field(kind: type[Check]) -> FieldInfo | None:
    return next((f for n, f in kind.model_fields.items() if (f.alias or n) == kind.short), None)


def _list_for_pattern(reader: Reader, kind: type[Check], value: object, path: Path) -> bool:
    """Whether `regex: [ACGT]` was written: a list of one bare word where a character class was meant."""
    if kind.kind not in ("regex", "regex_match") or not isinstance(value, list) or len(value) != 1:
        return False
    only = value[0]
    if not isinstance(only, str) or reader.document.styles.get((*path, 0)) != "plain":
        return False
    if not only.replace("-", "").isalnum():
        return False
    from rulebook.languages.pattern import list_for_pattern  # only a mistake pays for it

    reader.add_fault(list_for_pattern(only), path)
    return True


def _is_list_in_a_line(reader: Reader, kind: type[Check], value: object, path: Path) -> bool:
    """Whether `required_tools: Read, Edit` was written: one text where several names were meant, which is said."""
    if not isinstance(value, str) or not _takes_list(kind):
        return False
    entries = [part.strip() for part in value.split(", ")]
    if kind.short not in ("calls", "names", "paths") or len(entries) < 2 or not all(entries):
        return False
    reader.add("RB206", path, key=kind.kind, list=reader.shown(Shown(entries)))
    return True


def _key(path: Path) -> str:
    return next((str(step) for step in reversed(path) if isinstance(step, str)), "file")
