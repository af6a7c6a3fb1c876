"""Templates: what they fill in, what they refuse, and every attack by its name."""

import contextlib
import copy
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from rulebook.codes import CODES
from rulebook.languages.faults import Fault, LanguageError
from rulebook.languages.template import (
    MissingInTemplate,
    TemplateError,
    TemplateField,
    TemplateLimit,
    TemplateMismatch,
    looks_like_template,
    read_template,
)
from rulebook.languages.template_filters import MAX_OUTPUT_CHARACTERS
from rulebook.languages.template_jinja import MAX_ITEMS
from rulebook.languages.types import ANYTHING, MISSING, NUMBER, TEXT, YES_NO, ListOf, MapOf, RecordOf, Scope

DATA: dict[str, object] = {
    "params": {"x": "v", "n": 1.5, "strict": True, "big": 12, "gone": MISSING},
    "items": [{"name": "a"}, {"name": "b"}],
    "row": {"none": None, "items": [1, "x"], "keys": {"update": "k"}, "_hidden": "h", "é": "e"},
    "submissions": {"answer": {"path": "/p", "text": "t"}},
    "lost": MISSING,
}
SCOPE = Scope(
    "the session",
    {
        "params": RecordOf("params", {"x": TEXT, "n": NUMBER, "strict": YES_NO, "big": NUMBER}),
        "items": ListOf(RecordOf("an item", {"name": TEXT})),
        "row": MapOf(ANYTHING),
        "submissions": RecordOf(
            "submissions",
            {
                "answer": RecordOf("a submission", {"path": TEXT, "text": TEXT}),
                "site": RecordOf("a submission", {"write_to": TEXT}),
            },
        ),
        "run": RecordOf("the run", {"id": TEXT, "turns": NUMBER}),
        "open": RecordOf("anything", {"id": TEXT}, open=True),
    },
)


def rendered(text: str) -> str:
    return read_template(text).render(lambda name: DATA.get(name, MISSING))


RENDERS = {
    "plain\r\n\n": "plain\r\n\n",
    "": "",
    "a } } b": "a } } b",
    "{{ params.x }}!\n": "v!\n",
    "{{params['x']}}": "v",
    "{{ params.n }} {{ params.big }}": "1.5 12",
    "{{ params.strict }} {{ row.none }}": "true null",
    "{{ row.items }} {{ items }}": '[1, "x"] [{"name": "a"}, {"name": "b"}]',
    "{{ row.keys.update }} {{ row.é }}": "k e",
    "{% for i in items %}{{ loop.index }}{{ i.name }}{% if not loop.last %}, {% endif %}{% endfor %}": "1a, 2b",
    "{% for i in items if i.name == 'b' %}{{ i.name }}{% else %}none{% endfor %}": "b",
    "{% if params.strict and params.n > 1 %}yes{% elif params.x %}x{% else %}no{% endif %}": "yes",
    "{{ 'a' if params.strict else 'b' }}": "a",
    "{{ params.x ~ params.big ~ params.strict }}": "v12true",
    "{{ items[0].name }}{{ items[-1].name }}{{ params.x[0] }}": "abv",
    "{{ items[1:] }}": '[{"name": "b"}]',
    "{{ row.gone | default('d') }}{{ lost | default('e') }}{{ params.gone | default('f') }}": "def",
    "{{ '' | default('d', true) }}": "d",
    "{% if row.gone is defined %}1{% else %}2{% endif %}": "2",
    "{% if row.none is none %}1{% endif %}": "1",
    "{% if 'x' in row.items %}1{% endif %}": "1",
    "{# said to nobody #}{% raw %}{{ x }}{% endraw %}": "{{ x }}",
    "{{ params.x | upper }}{{ 'A' | lower }}{{ ' b ' | trim }}{{ items | length }}": "Vab2",
    "{{ items | join(', ', attribute='name') }} {{ row.items | join('-') }}": "a, b 1-x",
    "{{ row.items | tojson }} {{ 'é<\"' | tojson }}": '[1, "x"] "é<\\""',
    "{{ 'one two three' | truncate(9) }} {{ 'one two three' | truncate(9, true, '…') }}": "one... one two …",
    "{{ row.items | first }}{{ row.items | last }}": "1x",
    "{{ 'aXa' | replace('a', 'b') }} {{ 'aXa' | replace('a', 'b', 1) }}": "bXb bXa",
    "{{ 2.567 | round(1) }} {{ 2.567 | round }} {{ '3' | int }} {{ '3.9' | int }} {{ 'x' | int(7) }}": "2.6 3 3 3 7",
    "{{ '1.5' | float }} {{ 'x' | float }} {{ '1e999' | float }} {{ 3 | string }}": "1.5 0.0 0.0 3",
    "{{ 'a\nb' | indent(2) }}": "a\n  b",
    "{{ 'a\n\nb' | indent(2, first=true) }}": "  a\n\n  b",
    "<{{ '<b>' }}>": "<<b>>",
}


@pytest.mark.parametrize(("template", "text"), RENDERS.items())
def test_renders(template: str, text: str) -> None:
    assert rendered(template) == text
    assert read_template(template).live is ("{{" in template or "{%" in template or "{#" in template)


MISSES = {
    "{{ lost }}": "lost",
    "{{ params.gone }}": "params.gone",
    "{{ row.no.such }}": "row.no",
    "{{ row['no such'] }}": "no such",
    "{% for x in row.nothing %}{% endfor %}": "row.nothing",
    "{{ row.nothing | upper }}": "row.nothing",
    "{{ 'a' | replace('a', row.nothing) }}": "row.nothing",
    "{{ params.x ~ row.nothing }}": "row.nothing",
    "{% if row.nothing %}{% endif %}": "row.nothing",
    "{{ items | join(attribute='no') }}": "no",
    "{{ items[7] }}": "7",
    "{{ '' | first }}": "the first item of an empty list",
}


@pytest.mark.parametrize(("template", "what"), MISSES.items())
def test_a_missing_value_is_named_and_never_empty(template: str, what: str) -> None:
    with pytest.raises(MissingInTemplate) as error:
        rendered(template)
    assert error.value.what == what


SYNTAX = {
    "{{ x": (1, "it ends where `}}` was expected"),
    "a\n{% if params.x %}b": (2, "`{% endif %}` is missing"),
    "\n\n{% endif %}": (3, "`{% endif %}` closes nothing"),
    "{% foo %}": (1, "there is no `{% foo %}`; templates know `if` and `for`"),
    "{% %}": (1, "a word like `if` or `for` is missing after `{%`"),
    "{{ }}": (1, "a name is missing before the end, as in `{{ params.name }}`"),
    "{# a": (1, "this `{#` is never closed; add `#}`"),
    "{% raw %}a": (1, "`{% endraw %}` is missing"),
    "{{ a b }}": (1, "I expected `}}` where `b` stands"),
    "{{ a } }}": (1, "I did not expect `}` there"),
    "{{ ? }}": (1, "I cannot read the sign `?` there"),
}


@pytest.mark.parametrize(("template", "told"), SYNTAX.items())
def test_mistakes_are_told_in_words(template: str, told: tuple[int, str]) -> None:
    (fault,) = refused(template)
    assert fault.code == "RB417"
    assert (fault.words["line"], fault.words["sentence"]) == told
    assert template[fault.start : fault.end] == template.split("\n")[told[0] - 1]


ATTACKS = {
    # refused before anything runs
    "text times a billion": "{{ 'a' * 10**9 }}",
    "a power": "{{ 9 ** 9 ** 9 }}",
    "any sum": "{{ 1 + 1 }}",
    "percent formatting": "{{ '%099999999d' % 1 }}",
    "the format filter": "{{ '%099999999d' | format(1) }}",
    "the center filter": "{{ 'a' | center(10**8) }}",
    "the attr filter": "{{ params | attr('__class__') }}",
    "the map filter": "{{ items | map(attribute='name') }}",
    "str.format": "{{ '{0.__class__}'.format(params) }}",
    "str.format_map": "{{ '{a.__class__}'.format_map(params) }}",
    "a stored reference to format": "{% set f = '{0}'.format %}{{ f(1) }}",
    "an endless macro": "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "a method": "{{ params.items() }}",
    "emptying the evidence": "{{ items.clear() }}",
    "range": "{% for i in range(99999) %}{% endfor %}",
    "lipsum": "{{ lipsum() }}",
    "cycler's globals": "{{ cycler.__init__.__globals__ }}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import 'x' as x %}",
    "from import": "{% from 'x' import y %}",
    "extends": "{% extends 'x' %}",
    "block": "{% block x %}{% endblock %}",
    "call": "{% call x() %}{% endcall %}",
    "filter block": "{% filter upper %}a{% endfilter %}",
    "set": "{% set x = 1 %}",
    "self": "{{ self }}",
    "self's blocks": "{{ self._TemplateReference__context }}",
    "underscores": "{{ params.__class__ }}",
    "a recursive loop": "{% for i in items recursive %}{% endfor %}",
    "loop in its own condition": "{% for i in items if loop.first %}{% endfor %}",
    "unpacking": "{% for a, b in items %}{% endfor %}",
    "a list": "{{ [1] }}",
    "a mapping": "{{ {'a': 1} }}",
    "star arguments": "{{ 'a' | join(*items) }}",
    "too many arguments": "{{ 'a' | upper(1) }}",
    "unknown options": "{{ 'a' | indent(wide=1) }}",
    "an unknown test": "{{ 'a' is callable }}",
    "minus a name": "{{ -params.n }}",
}


@pytest.mark.parametrize("template", ATTACKS.values(), ids=ATTACKS)
def test_attack_is_refused(template: str) -> None:
    faults = refused(template)
    assert {fault.code for fault in faults} == {"RB419"}
    assert all(told(fault) for fault in faults)


TOO_MUCH = {
    "three loops inside one another": "{% for a in x %}" * 3 + "{% endfor %}" * 3,
    "a deep expression": "{{ " + "(" * 45 + "a" + ".b)" * 45 + " }}",
    "a very deep expression": "{{ " + "(" * 5000 + "a" + ")" * 5000 + " }}",
    "very many nots": "{{ " + "not " * 4000 + "a }}",
    "deep blocks": "{% if a %}" * 60 + "{% endif %}" * 60,
    "a long source": "a" * 19_999 + "{{",
    "many filters": "{{ 'a'" + "|upper" * 2000 + " }}",
}


@pytest.mark.parametrize("template", TOO_MUCH.values(), ids=TOO_MUCH)
def test_too_much_is_refused(template: str) -> None:
    assert [fault.code for fault in refused(template)] == ["RB706"]


def test_a_long_chain_of_joins_is_refused() -> None:
    assert [fault.code for fault in refused("{{ a" + " ~ a" * 60 + " }}")] == ["RB419"]


GROWING = {
    "replace in a row": "{{ 'a' | replace('a', '" + "a" * 5000 + "') | replace('a', '" + "a" * 5000 + "') }}",
    "replace of nothing": "{{ long | replace('', '" + "a" * 9000 + "') }}",
    "join with a long text": "{{ many | join('" + "a" * 9000 + "') }}",
    "a wide indent": "{{ 'a\nb' | indent(100000000) }}",
    "an indent of many lines": "{{ lines | indent(100) }}",
    "tojson in a row": "{{ '\"'" + "| tojson" * 22 + " | length }}",
    "round to minus a billion": "{{ 5 | round(-1000000000) }}",
    "round to a billion": "{{ 5.5 | round(1000000000) }}",
    "truncate past a billion": "{{ 'a' | truncate(10000000000) }}",
    "a loop over too much": "{% for i in too_many %}{% endfor %}",
    "two loops over too much": "{% for i in many %}{% for j in many %}{% endfor %}{% endfor %}",
    "a loop over a long text": "{% for i in long %}{% endfor %}",
    "an output of too much": "{% for i in many %}{{ long }}{% endfor %}",
    "joins of too much": "{{ " + " ~ ".join(["long"] * 45) + " }}",
}
LARGE = {
    "long": "a" * 200_000,
    "many": [1] * 1000,
    "too_many": [1] * (MAX_ITEMS + 1),
    "lines": "a\n" * 20_000,
}


@pytest.mark.parametrize("template", GROWING.values(), ids=GROWING)
def test_growing_is_stopped(template: str) -> None:
    with pytest.raises(TemplateLimit):
        read_template(template).render(LARGE.__getitem__)


def test_the_limits_are_inclusive() -> None:
    each = read_template("{% for i in x %}{% endfor %}.")
    assert each.render(lambda _: [1] * MAX_ITEMS) == "."
    assert len(read_template("{{ x }}").render(lambda _: "a" * MAX_OUTPUT_CHARACTERS)) == MAX_OUTPUT_CHARACTERS
    with pytest.raises(TemplateLimit):
        read_template("{{ x }}.").render(lambda _: "a" * MAX_OUTPUT_CHARACTERS)


UNREACHABLE = {
    "a class in quotes": "{{ ''['__class__'] }}",
    "a class of a list": "{{ items['__class__'] }}",
    "a method in quotes": "{{ items['append'] }}",
    "a method of text": "{{ params.x.upper }}",
    "a method of a mapping": "{{ params.items }}",
    "a number's parts": "{{ params.n.real }}",
    "the loop's own parts": "{% for i in items %}{{ loop['_iterator'] }}{% endfor %}",
    "the loop's cycle": "{% for i in items %}{{ loop.cycle }}{% endfor %}",
    "the loop's next item": "{% for i in items %}{{ loop.nextitem }}{% endfor %}",
    "the namespace": "{{ namespace }}",
    "the budget": "{{ row['the budget'] }}",
}


@pytest.mark.parametrize("template", UNREACHABLE.values(), ids=UNREACHABLE)
def test_no_object_can_be_reached(template: str) -> None:
    with pytest.raises(MissingInTemplate):
        rendered(template)


MISMATCHES = {
    "text and number": "{% if params.n > 'a' %}{% endif %}",
    "a loop over a number": "{% for i in params.n %}{% endfor %}",
    "the length of a number": "{{ params.n | length }}",
    "round of text": "{{ params.x | round }}",
    "a slice of a number": "{{ params.n[1:] }}",
    "join of a number": "{{ params.n | join }}",
    "in a number": "{% if 1 in params.n %}{% endif %}",
}


@pytest.mark.parametrize("template", MISMATCHES.values(), ids=MISMATCHES)
def test_a_value_of_the_wrong_kind_is_no_fault_of_ours(template: str) -> None:
    with pytest.raises(TemplateMismatch):
        rendered(template)


def test_nothing_reaches_the_evidence() -> None:
    before = copy.deepcopy(DATA)
    for template in [*RENDERS, *UNREACHABLE.values()]:
        try:
            rendered(template)
        except TemplateError:
            continue
    assert before == DATA


def test_only_the_names_that_are_read_are_looked_up() -> None:
    asked: list[str] = []

    def lookup(name: str) -> object:
        asked.append(name)
        return DATA[name]

    template = read_template("{{ params.x }}{% for i in items %}{{ i.name }}{{ loop.index }}{% endfor %}")
    assert template.names() == {"params", "items"}
    template.render(lookup)
    assert asked == ["items", "params"]
    assert read_template("{{ i }}{% for i in items %}{% endfor %}").names() == {"i", "items"}
    assert read_template("a").names() == frozenset()


TYPED = {
    "{{ params.x }}{{ row.any.thing }}{{ open.other }}": [],
    "{% for i in items %}{{ i.name }}{{ loop.last }}{% endfor %}": [],
    "{{ items }}{{ row }}{{ open }}": [],
    "{{ items[0].name }}{{ (items | first).name }}": [],
    "plain {params}": [],
    "{{ zzzz }}": ["3:7 RB418 The template uses `zzzz`, which isn't available here. Choose one of `params`, `items`, "
                   "`row`, `submissions`, `run`, `open`."],
    "{{ parms.x }}": ["3:8 RB418 The template uses `parms`, which isn't available here. Did you mean `params`? "
                      "-> {{ params.x }}"],
    "a\n{% if submissions.anser.path %}{% endif %}": [
        "20:25 RB418 The template uses `submissions.anser`, which isn't available here. Did you mean `answer`? "
        "-> a\n{% if submissions.answer.path %}{% endif %}"
    ],
    "{% for i in items %}{{ i.nme }}{% endfor %}": [
        "25:28 RB418 The template uses `i.nme`, which isn't available here. Did you mean `name`? "
        "-> {% for i in items %}{{ i.name }}{% endfor %}"
    ],
    "{{ items.name }}": ["9:13 RB418 The template uses `items.name`, which isn't available here."],
    "{{ params.x.y }}": ["12:13 RB418 The template uses `params.x.y`, which isn't available here."],
    "{{ items[0].nme }}": ["12:15 RB418 The template uses `items[0].nme`, which isn't available here. "
                           "Did you mean `name`? -> {{ items[0].name }}"],
    "{{ i }}{% for i in items %}{% endfor %}": ["3:4 RB418 The template uses `i`, which isn't available here. "
                                               "Choose one of `params`, `items`, `row`, `submissions`, `run`, `open`."],
    "{{ loop.index }}": ["3:7 RB418 The template uses `loop`, which isn't available here. Choose one of `params`, "
                         "`items`, `row`, `submissions`, `run`, `open`."],
    "{{ submissions.answer }}": ["3:21 RB419 `submissions.answer` as a whole isn't allowed in templates. "
                                 "Write `{{ submissions.answer.path }}`."],
    "{{ submissions.site }}": ["3:19 RB419 `submissions.site` as a whole isn't allowed in templates. "
                               "Write `{{ submissions.site.write_to }}`."],
    "{{ run }}": ["3:6 RB419 `run` as a whole isn't allowed in templates. Name one of its parts: `id`, `turns`."],
}  # fmt: skip


@pytest.mark.parametrize(("template", "expected"), TYPED.items())
def test_typed(template: str, expected: list[str]) -> None:
    found = [
        f"{f.start}:{f.end} {f.code} {told(f)}" + (f" -> {f.mended}" if f.mended else "")
        for f in read_template(template).faults(SCOPE)
    ]
    assert found == expected


LOOKS = {
    "a {{ params.x }} b": (2, 16),
    "{{x}}": (0, 5),
    "{{- x -}}": (0, 9),
    "{{ x": (0, 4),
    "a{{3}}": None,
    "{% if x %}": None,
    "{{ }}": None,
    "a{2}{{2}}": None,
    "": None,
}


@pytest.mark.parametrize(("text", "span"), LOOKS.items())
def test_looks_like_template(text: str, span: tuple[int, int] | None) -> None:
    assert looks_like_template(text) == span


def test_looks_like_template_only_for_known_names() -> None:
    assert looks_like_template("{{ other }} {{ params.x }}", {"params"}) == (12, 26)
    assert looks_like_template("{{ other }}", {"params"}) is None


def test_plain_text_never_loads_jinja2() -> None:
    program = (
        "import sys\n"
        "from rulebook.languages.template import read_template\n"
        "template = read_template('a { b } c')\n"
        "assert template.render(lambda name: 1) == 'a { b } c' and template.names() == frozenset()\n"
        "assert 'jinja2' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


class Form(BaseModel):
    text: TemplateField


def test_the_field() -> None:
    assert Form(text="{{ a }}").text == read_template("{{ a }}")  # type: ignore[arg-type]
    with pytest.raises(ValidationError) as error:
        Form(text="{{ a")  # type: ignore[arg-type]
    assert [fault.code for fault in error.value.errors()[0]["ctx"]["faults"]] == ["RB417"]
    with pytest.raises(ValidationError) as error:
        Form(text=3)  # type: ignore[arg-type]
    assert error.value.errors()[0]["type"] == "rulebook_wrong_type"


PARTS = st.sampled_from(
    [
        "{{ ",
        " }}",
        "{% if ",
        " %}",
        "{% endif %}",
        "{% for i in ",
        "{% endfor %}",
        "{% else %}",
        "params",
        "row",
        "i",
        "items",
    ]
    + [
        ".x",
        ".name",
        "[0]",
        "['x']",
        "[1:]",
        " | upper",
        " | join(', ')",
        " | default('d')",
        " | tojson",
        " | round",
        " ~ ",
    ]
    + [
        " == ",
        " > ",
        " in ",
        " and ",
        "not ",
        " is defined",
        " if ",
        " else ",
        "1",
        "'a'",
        "-1",
        "loop",
        ".index",
        "\n",
        "é",
    ]
    + ["{#", "#}", "(", ")", "{% raw %}", "{% endraw %}", " | length", " | first", " | int"]
)


@given(st.text() | st.lists(PARTS, max_size=12).map("".join) | st.text().map(lambda inner: "{{" + inner + "}}"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        template = read_template(text)
    except LanguageError as error:
        faults = error.faults
        assert faults
    else:
        faults = template.faults(SCOPE)
        assert template.names() is not None
        with contextlib.suppress(TemplateError):
            assert isinstance(template.render(lambda name: DATA.get(name, MISSING)), str)
    for fault in faults:
        assert told(fault)
        assert 0 <= fault.start <= len(text)
        assert fault.end is None or fault.start <= fault.end <= len(text)


def refused(text: str) -> tuple[Fault, ...]:
    with pytest.raises(LanguageError) as error:
        read_template(text)
    return error.value.faults


def told(fault: Fault) -> str:
    return CODES[fault.code].message.format(**fault.words)
