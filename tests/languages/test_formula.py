"""Expressions: what they give, what they read, and what a field of a check makes of them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from rulebook.errors import NotHandedIn, OutOfTime, UsageError
from rulebook.languages.faults import LanguageError
from rulebook.languages.formula import (
    Formula,
    NumberFormula,
    YesNoFormula,
    filter_items,
    read_formula,
    search_with,
)
from rulebook.languages.pattern import Pattern
from rulebook.languages.types import MISSING, MissingValue
from rulebook.ports import Ports


class Loader(yaml.SafeLoader):
    """YAML with `!missing path` for a value that is not there."""


Loader.add_constructor("!missing", lambda loader, node: MissingValue(loader.construct_scalar(node)))
CASES = yaml.load((Path(__file__).parent / "formula_values.yaml").read_text("utf-8"), Loader)


@pytest.mark.parametrize("case", CASES, ids=[case["expr"] for case in CASES])
def test_value(case: dict[str, Any]) -> None:
    formula = read_formula(case["expr"], case.get("wanted", "yes or no"))
    expected = MissingValue(case["missing"]) if "missing" in case else case["value"]
    for value in (formula.value(case["given"].__getitem__), formula.quick_value(case["given"].__getitem__)):
        assert value == expected
        assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("text", "names", "paths"),
    [
        ("turns <= 8 and usage.input_tokens > 3", {"turns", "usage"}, {"turns", "usage.input_tokens"}),
        ("0.7*a + 0.3*b.passed", {"a", "b"}, {"a", "b.passed"}),
        ("any(tool_calls, \"name == 'x'\")", {"tool_calls"}, {"tool_calls", "tool_calls.name"}),
        ("path('$.messages[0].text') == true", {"messages"}, {"messages"}),
        ("json(final).a == null", {"final"}, {"final"}),
    ],
)
def test_what_it_reads(text: str, names: set[str], paths: set[str]) -> None:
    assert read_formula(text).names() == names
    assert read_formula(text).reads() == paths


def test_a_value_that_lookup_does_not_name_is_named_by_its_path() -> None:
    assert read_formula("cost < 1").value(lambda _name: MISSING) == MissingValue("cost")


def test_filtering_says_how_many_items_were_missing_something() -> None:
    items = [{"n": 1}, {}, {"n": 9}, {"n": "?"}]
    assert filter_items(read_formula("n > params.most"), items, lambda _name: {"most": 3}) == ([2], 2)


def test_evidence_is_out_of_reach_of_every_expression() -> None:
    events = [{"name": "a", "clear": 1}]
    lookup = {"events": events, "x": events}.__getitem__
    for text in ("any(events, 'clear == 1')", "x == events", "count(x) > 0", "contains(events, 'a')"):
        read_formula(text).value(lookup)
    assert events == [{"name": "a", "clear": 1}]


class Limited:
    """Searches that find `x`, and that run out of time on `slow`."""

    def search(self, pattern: Pattern, text: str, limit_s: float) -> tuple[int, int] | None:
        assert limit_s <= 2
        if text == "slow":
            raise TimeoutError
        at = text.find("x")
        return None if at < 0 else (at, at + len(pattern.text))


class Stopped:
    """A clock that stands still."""

    def monotonic_s(self) -> float:
        return 5.0


def ports(deadline_s: float | None = None) -> Ports:
    absent: Any = None
    return Ports(absent, absent, absent, Limited(), Stopped(), absent, absent, absent, deadline_s)


def test_matches_searches_through_the_ports() -> None:
    formula = read_formula("matches('x', t)")
    assert formula.value({"t": "axb"}.__getitem__, search_with(ports())) is True
    assert formula.value({"t": "ab"}.__getitem__, search_with(ports())) is False


def test_a_search_that_runs_out_of_time_is_no_answer() -> None:
    lookup = {"t": "slow"}.__getitem__
    with pytest.raises(NotHandedIn, match="did not end within 2 s"):
        read_formula("matches('x', t)").value(lookup, search_with(ports()))
    with pytest.raises(OutOfTime):
        read_formula("matches('x', t)").quick_value(lookup, search_with(ports(deadline_s=5.0)))


def test_without_a_limit_only_quick_patterns_are_searched() -> None:
    formula = read_formula(r"matches('\s+$', t)")
    assert formula.value({"t": "a "}.__getitem__) is True
    with pytest.raises(UsageError, match="time limit"):
        formula.value({"t": " " * 100_000 + "x"}.__getitem__)


class Options(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    where: YesNoFormula
    score: NumberFormula | None = None


def test_a_field_reads_text_and_keeps_a_formula() -> None:
    options = Options.model_validate({"where": "turns > 3", "score": "turns / 2"})
    assert options.where == Formula("turns > 3", "yes or no")
    assert options.score == Formula("turns / 2", "number")
    assert Options(where=options.where).where is options.where
    assert Options.model_json_schema()["properties"]["where"]["type"] == "string"


def test_a_field_hands_on_its_faults() -> None:
    with pytest.raises(ValidationError) as refused:
        Options.model_validate({"where": "turns >", "score": 3})
    found = {error["loc"]: error for error in refused.value.errors()}
    assert found[("where",)]["type"] == "rulebook_language"
    assert [fault.code for fault in found[("where",)]["ctx"]["faults"]] == ["RB401"]
    assert found[("score",)]["type"] == "rulebook_wrong_type"
    assert found[("score",)]["ctx"] == {"wanted": "text"}


ATTACKS = {
    "a power that never ends": "3999999**3999999 > 0",
    "a smaller power": "3999999**399999 > 0",
    "lists multiplied": "[[0]*99999]*9999 == 1",
    "text by a number": "'a' * 999999999 == 'a'",
    "text by a format": "'%099999999d' % 1 == 'a'",
    "text by padding": "'a'.ljust(10**8) == 'a'",
    "text by replacing": "('a'*99999).replace('a','a'*9999) == 'a'",
    "evidence cleared": "events.clear() == 1",
    "evidence popped": "events.pop() == 1",
    "a bound method": "events.items() == 1",
    "assignment": "x = 3",
    "assignment inside": "(x := 3) == 3",
    "two expressions": "3; 4",
    "signs in a row": "-" * 998 + "1",
    "brackets in brackets": "(" * 400 + "1" + ")" * 400,
    "a chain of sums": "1+" * 499 + "1",
    "a chain of comparisons": "1<" * 499 + "1",
    "the class of a value": "(1).__class__ == 1",
    "the bases of a class": "().__class__.__bases__[0].__subclasses__() == 1",
    "the class of a name": "turns.__class__ == 1",
    "the order of a class": "turns.mro() == 1",
    "text.format": "'{0.__class__}'.format(turns) == 'a'",
    "text.format_map": "'{a}'.format_map(m) == 'a'",
    "a generator's frame": "(i for i in events).gi_frame == 1",
    "a loop": "[e for e in events] == 1",
    "a lambda": "(lambda: 1)() == 1",
    "a lambda by its name": "lambda: 1",
    "an import": "__import__('os') == 1",
    "eval": "eval('1') == 1",
    "open": "open('/etc/passwd') == 1",
    "getattr": "getattr(turns, 'real') == 1",
    "a formatted text": "f'{turns}' == 'a'",
    "bytes": "b'a' == 1",
    "a number without end": "1e999 > 0",
    "a whole number that is too large": "9" * 900 + " > 0",
    "an imaginary number": "1j == 1",
    "dots": "... == 1",
    "unpacking": "max(*events) == 1",
    "unpacking names": "max(**events) == 1",
    "a slice": "events[0:1] == 1",
    "a function as a value called": "count(events)(1) == 1",
    "a function of an item called": "any(events, 'name.clear()')",
    "an attack in quotes in quotes": "any(events, 'any(x, \"__import__(item)\")')",
    "a pattern without end": "matches('(a+)+$', name)",
    "a null character": "turns\0 == 1",
    "half of a character": "'\ud800' == \ud800",
    "another alphabet's letters": "ｅｖｅｎｔｓ == 1",
    "a character that stands for an escape": "'\ue000\\' == 'a'",
}


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_is_refused_when_it_is_read(text: str) -> None:
    with pytest.raises(LanguageError):
        read_formula(text)


def test_deep_json_is_no_value() -> None:
    value = read_formula("known(json(t))").value({"t": "[" * 500_000}.__getitem__)
    assert value is False


def test_linting_never_loads_simpleeval() -> None:
    code = (
        "import sys; from rulebook.languages.formula import read_formula; from rulebook.evidence.scope import SCOPE\n"
        "read_formula('turns < 3').faults(SCOPE); print('simpleeval' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
