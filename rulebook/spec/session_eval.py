"""`chock.eval` files: what one recorded or live session must have done. Source: session-evals, "The spec"."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct
from pydantic import Field

from rulebook.checks import Check, kind_named, kinds
from rulebook.languages.faults import Shown
from rulebook.outcome import CATEGORIES
from rulebook.place import Path
from rulebook.source.located import EmptyZon, Located
from rulebook.spec.head import Head, Text
from rulebook.spec.params import Param
from rulebook.spec.reader import Reader
from rulebook.spec.reading import check_of, in_a_named_rule, read_named
from rulebook.spec.rules import Beside, Named, OfCheck, PackSpec, RuleSpec
from rulebook.spec.validation import below, validate_options
from rulebook.spelling import guess

Weight = Annotated[float, Field(ge=0)]


class EvalFile(Head):
    """A `chock.eval` file. `check` needs only something to check; the rest is for `run`."""

    task: Text | None = Field(None, description="What the agent is asked to do.")
    fixture: Text | None = Field(None, description="The folder of the repository, from this file's own folder.")
    provider: Text | None = Field(None, description="The model provider of a run.")
    model: Text | None = Field(None, description="The model of a run.")
    base_commit: Text | None = Field(None, description="The commit from which every session starts; HEAD by default.")
    capture: Text | None = Field(None, description="Where the exchanges of a run are kept.")
    output: Text | None = Field(None, description="Where a run writes its report.")
    harness: object = Field(None, description="Another agent to drive.")
    provenance: object = Field(None, description="Which policy produced the session.")
    expect: object = Field(None, description="What the session must have done, by expectation.")
    reward_weights: object = Field(
        None, description="What each category counts in the reward; 1 where none is written."
    )
    tests: object = Field(None, description="Commands that are run in the resulting repository.")
    checks: object = Field(None, description="Named rules; each gives a finding.")
    judge: object = Field(None, description="A rule, or a condition over the named rules.")
    use: object = Field(None, description="Packs of rules to import.")
    params: object = Field(None, description="Parameters that rules can read.")


class Expectation(Struct, frozen=True):
    """One expectation that becomes a finding of its own; `id` is the finding's."""

    id: str
    rule: RuleSpec


class EvalSpec(Struct, frozen=True):
    """A `chock.eval` file, typed. `weights` and `provenance` have only what was written."""

    document: Located
    head: EvalFile
    expectations: tuple[Expectation, ...]
    tests: tuple[Expectation, ...]
    checks: tuple[Named, ...]
    judge: RuleSpec | None
    packs: tuple[PackSpec, ...]
    params: tuple[Param, ...]
    weights: Mapping[str, float]
    provenance: Mapping[str, object]


def read_eval(document: Located, reader: Reader, packs: tuple[PackSpec, ...]) -> EvalSpec | None:
    """The eval in `document`; None, with every problem noted, when its frame is not valid."""
    data = document.data
    if not isinstance(data, dict):
        return None
    known = {field.alias or name for name, field in EvalFile.model_fields.items()}
    strays = [key for key in data if key not in known and _belongs_elsewhere(reader, key)]
    plain = {key: value for key, value in data.items() if key not in strays}
    head = validate_options(EvalFile, plain, "an eval", below(()), reader)
    expectations = _expect(reader) if "expect" in data else ()
    tests = _tests(reader) if "tests" in data else ()
    checks = read_named(reader, ("checks",)) if "checks" in data else ()
    judge = _judge(reader) if "judge" in data else None
    params = _params(reader) if "params" in data else ()
    weights = _weights(reader) if "reward_weights" in data else {}
    provenance = _group(reader, "provenance") if "provenance" in data else {}
    harness = _group(reader, "harness") if "harness" in data else {}
    if head is None or provenance is None or harness is None:
        return None
    return EvalSpec(document, head, expectations, tests, checks, judge, packs, params, weights, provenance)


def _belongs_elsewhere(reader: Reader, key: str) -> bool:
    """Whether a key at the top of the file is a kind of check; notes where it belongs."""
    kind = kind_named(key)
    if kind is None and key != "currency":
        return False
    where = "under `expect:`" if kind is None or kind.in_expect else "in a rule under `checks:`, which has a name"
    reader.add_at_key("RB210", (key,), key=key, where=where)
    return True


def _group(reader: Reader, key: str) -> Mapping[str, object] | None:
    from rulebook.spec.eval_groups import read_group  # two models that most files do without

    return read_group(reader, key)


def expectation_kinds() -> dict[str, type[Check]]:
    """The kinds that `expect:` knows, by their keys."""
    return {key: kind for key, kind in kinds().items() if kind.in_expect}


def _expect(reader: Reader) -> tuple[Expectation, ...]:
    value = reader.mapping(("expect",), "expect", Shown({"max_turns": 8}, "expect"))
    found: list[Expectation] = []
    for key in value or {}:
        path: Path = ("expect", key)
        if key == "currency":
            if value is not None and "max_cost" not in value:
                reader.add_at_key("RB807", path, key="currency", needs="a `max_cost` beside it")
        elif (kind := kind_named(key)) is not None and not kind.in_expect:
            reader.add_at_key("RB210", path, key=key, where=in_a_named_rule(reader, key, reader.document.at(path)))
        elif kind is None:
            words = (*expectation_kinds(), "currency")
            hint = guess(key, words) or " Other kinds of check go under `checks:`."
            reader.add_at_key("RB201", path, key=key, thing="`expect`", guess=hint)
        else:
            found += _expectation(reader, kind, path)
    return tuple(found)


def _expectation(reader: Reader, kind: type[Check], path: Path) -> list[Expectation]:
    value = reader.document.at(path)
    if value is False and kind.short is not None and kind.model_fields[kind.short].annotation is bool:
        return []
    if kind.each is not None and (value == [] or isinstance(value, EmptyZon)):
        return []
    if kind.kind == "max_cost":
        return _max_cost(reader, kind, path)
    body = check_of(reader, kind, value, path)
    if body is None:
        return []
    if kind.each is None:
        return [Expectation(kind.kind, _rule(reader, kind, path, body))]
    items = getattr(body.check, kind.each)
    alone = [OfCheck(_only(body.check, kind.each, item)) for item in items]
    return [
        Expectation(f"{kind.kind}[{kind.item_name(item)}]", _rule(reader, kind, (*path, index), only))
        for index, (item, only) in enumerate(zip(items, alone, strict=True))
    ]


def _only(check: Check, field: str, item: object) -> Check:
    return check.model_copy(update={field: (item,)})


def _max_cost(reader: Reader, kind: type[Check], path: Path) -> list[Expectation]:
    expect = reader.document.at(("expect",))
    currency = expect.get("currency") if isinstance(expect, dict) else None
    options = {"amount": reader.document.at(path)}
    if currency is not None:
        options["currency"] = currency
    elif isinstance(options["amount"], str):
        _no_amount(reader, path, options["amount"])
        return []
    else:
        reader.add_at_key("RB807", path, key="max_cost", needs="a `currency` beside it, such as `USD`")
        return []
    places = {"amount": path, "currency": ("expect", "currency")}
    check = validate_options(
        kind, options, "`max_cost`", lambda loc: places.get(str(loc[0]), path) if loc else path, reader
    )
    return [] if check is None else [Expectation(kind.kind, _rule(reader, kind, path, OfCheck(check)))]


def _no_amount(reader: Reader, path: Path, text: str) -> None:
    """Note that `max_cost`, without a `currency` beside it, is a text such as `0.50 USD`."""
    from rulebook.languages.values import money_in  # only a mistake pays for it
    from rulebook.spec.advice import for_number  # as above

    money = money_in(text)
    if money is None:
        advice = for_number(text)
        reader.wrong_type(path, "max_cost", "a number", advice.hint, advice.mended)
        return
    number = f".max_cost = {money[0]}" if reader.language == "zon" else f"max_cost: {money[0]}"
    hint = f" Write `{number}` and `{reader.shown(Shown(money[1], 'currency'))}`."
    reader.wrong_type(path, "max_cost", "a number", hint)


def _tests(reader: Reader) -> tuple[Expectation, ...]:
    from rulebook.checks.tests import Tests  # a file without tests does without

    example = {"name": "unit", "argv": ["make", "test"]}
    count = reader.entries(("tests",), "tests", Shown([example], "tests"))
    found: list[Expectation] = []
    lines: dict[str, int] = {}
    for index in range(count or 0):
        path: Path = ("tests", index)
        if not isinstance(reader.document.at(path), dict):
            hint = f" Write `{reader.shown(Shown(example))}`."
            reader.not_a_mapping(path, "tests", "a list of mappings (keys and values)", hint)
            continue
        body = check_of(reader, Tests, reader.document.at(path), path)
        if body is None:
            continue
        name = Tests.item_name(body.check)
        if name in lines:
            reader.add("RB301", (*path, "name"), things="tests", name=name, line=lines[name])
            continue
        lines[name] = reader.document.span((*path, "name")).line
        found.append(Expectation(f"tests[{name}]", _rule(reader, Tests, path, body)))
    return tuple(found)


def _rule(reader: Reader, kind: type[Check], path: Path, body: OfCheck) -> RuleSpec:
    return RuleSpec(kind.kind, reader.document, path, path, Beside(), body)


def _params(reader: Reader) -> tuple[Param, ...]:
    from rulebook.spec.param_reading import read_params  # a file without parameters does without

    return read_params(reader, ("params",))


def _judge(reader: Reader) -> RuleSpec | None:
    from rulebook.spec.judging import read_judge  # a file without a judge does without

    return read_judge(reader, ("judge",))


def _weights(reader: Reader) -> dict[str, float]:
    value = reader.mapping(("reward_weights",), "reward_weights", Shown({"tests": 2}, "reward_weights"))
    found: dict[str, float] = {}
    for key, weight in (value or {}).items():
        path: Path = ("reward_weights", key)
        category = "test" if key == "tests" else key
        if category not in CATEGORIES:
            reader.add_at_key("RB603", path, value=key, guess=guess(key, (*CATEGORIES, "tests"), list_up_to=0))
        elif isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            from rulebook.spec.advice import for_number  # only a mistake pays for it

            advice = for_number(weight)
            words = {"value": reader.source_of(path), "hint": advice.hint}
            reader.add_words("RB601", path, words, advice.mended)
        elif category in found:
            why = "`test` and `tests` are the same category. Keep one."
            reader.add_at_key("RB215", path, key=key, why=why)
        else:
            found[category] = float(weight)
    return found
