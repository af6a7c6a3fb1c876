"""The scorers of an evaluation, as a rule file says them. Source: scorers, "Built-in scorers"."""

import re
from collections.abc import Mapping

from rulebook.languages.faults import LanguageError, Shown
from rulebook.languages.pattern import read_pattern
from rulebook.place import Path
from rulebook.spec.evaluation_parts import ScorerSpec
from rulebook.spec.judged_scorers import faults_in
from rulebook.spec.reader import Reader
from rulebook.spec.scorer_kinds import SCORERS, SHORT
from rulebook.spec.scorer_options import (
    AnyColumns,
    BesideScorer,
    MarkedKeys,
    OneColumn,
    PythonScorer,
    RegexMatchScorer,
    ScorerKeys,
    TwoColumns,
)
from rulebook.spec.validation import below, validate_options
from rulebook.spelling import guess

_LABEL = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_FUNCTION = re.compile(r"[\w.]+:\w+")


def read_scorers(reader: Reader) -> tuple[ScorerSpec, ...]:
    """The scorers of an evaluation, as far as they are valid."""
    path: Path = ("scorers",)
    count = reader.entries(path, "scorers", Shown([{"json_valid": {}}], "scorers"))
    if count == 0:
        reader.add("RB207", path, key="scorers")
    found: dict[str, ScorerSpec] = {}
    for place in range(count or 0):
        scorer = _scorer(reader, (*path, place))
        if scorer is None:
            continue
        if scorer.name in found:
            line = reader.document.span(found[scorer.name].path).line
            reader.add("RB301", scorer.path, things="scorers", name=scorer.name, line=line)
        else:
            found[scorer.name] = scorer
    return tuple(found.values())


def names_meant(scorers: object) -> list[str]:
    """What the scorers are called, those too with which something is wrong, as far as that can be told."""
    found = []
    for each in scorers if isinstance(scorers, list) else ():
        for kind, options in each.items() if isinstance(each, dict) else ():
            if kind in SCORERS:
                given = options if isinstance(options, dict) else {}
                found.append(str(each.get("name") or given.get("name") or _default_name(kind, given)))
    return found


def _scorer(reader: Reader, path: Path) -> ScorerSpec | None:
    value = reader.document.at(path)
    keys = [key for key in value if key not in BesideScorer.model_fields] if isinstance(value, dict) else []
    if not isinstance(value, dict) or not keys:
        example = reader.shown(Shown({"json_valid": {"name": "valid-json"}}))
        reader.not_a_mapping(path, "scorers", f"a scorer, such as `{example}`")
        return None
    kinds = [key for key in keys if key in SCORERS]
    if len(kinds) > 1 or len(keys) > 1 > len(kinds):
        reader.add_at_key("RB208", (*path, keys[1]), kinds=" and ".join(f"`{key}`" for key in keys))
        return None
    if not kinds:
        reader.add_at_key("RB201", (*path, keys[0]), key=keys[0], thing="`scorers`", guess=guess(keys[0], SCORERS))
        return None
    (kind,) = kinds
    given = {key: value[key] for key in value if key != kind}
    beside = validate_options(BesideScorer, given, "a scorer", below(path), reader)
    return None if beside is None else _with_options(reader, kind, (*path, kind), value[kind], beside)


def _with_options(reader: Reader, kind: str, path: Path, given: object, beside: BesideScorer) -> ScorerSpec | None:
    options = {} if given is None else {SHORT[kind]: given} if kind in SHORT and isinstance(given, str) else given
    if not isinstance(options, dict):
        reader.not_a_mapping(path, kind, "a mapping (keys and values)")
        return None
    is_short = not isinstance(given, dict)
    keys = validate_options(SCORERS[kind], options, f"`{kind}`", (lambda _: path) if is_short else below(path), reader)
    if keys is None:
        return None
    for key in beside.model_fields_set & keys.model_fields_set:
        if key != "threshold" or isinstance(keys, MarkedKeys):  # in `jev`, `threshold` is no pass mark
            reader.add_at_key("RB215", (*path[:-1], key), key=key, why=f"it stands inside `{kind}` already. Keep one.")
    name = beside.name or keys.name or _default_name(kind, options)
    if kind != "sql" and not _LABEL.fullmatch(name):
        place = (*path[:-1], "name") if beside.name else (*path, "name") if keys.name else path
        better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "my-scorer"
        reader.add("RB214", place, value=name, what="the name of a scorer", example=f"`{better}`")
    if isinstance(keys, PythonScorer):
        check_function(reader, path if is_short else (*path, "function"), keys.function)
    if isinstance(keys, RegexMatchScorer):
        _check_pattern(reader, path if is_short else (*path, "pattern"), keys.pattern)
    for below_it, fault in faults_in(keys):
        reader.add_fault(fault, (*path, *below_it))
    columns = _inputs(reader, path, keys)
    mark, card = _mark(keys, beside), beside.card or keys.card
    threshold, is_marked = 1.0 if mark is None else mark, mark is not None
    return ScorerSpec(
        kind, name, path, columns, _others(options), threshold, "inputs" in options, keys, card, is_marked
    )


def _mark(keys: ScorerKeys, beside: BesideScorer) -> float | None:
    inside = keys.threshold if isinstance(keys, MarkedKeys) else None
    return next((mark for mark in (beside.threshold, inside) if mark is not None), None)


def _inputs(reader: Reader, path: Path, keys: ScorerKeys) -> tuple[str, ...] | None:
    if not isinstance(keys, OneColumn | TwoColumns | AnyColumns):
        return None
    count = 2 if isinstance(keys, TwoColumns) else 1 if isinstance(keys, OneColumn) else len(keys.inputs)
    if not count or len(keys.inputs) != count or len(set(keys.inputs)) != count:
        several = "a list of two different columns" if count == 2 else "a list of one column"
        wanted = "a list of different columns, one or more" if isinstance(keys, AnyColumns) else several
        reader.add("RB205", (*path, "inputs"), key="inputs", wanted=wanted, value=", ".join(keys.inputs) or "empty")
    return keys.inputs


def _others(options: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in options.items() if key not in ("name", "inputs", "threshold", "card")}


def _default_name(kind: str, options: Mapping[str, object]) -> str:
    word = {"string_similarity": options.get("method"), "python": str(options.get("function")).rpartition(":")[2]}
    return str(word.get(kind) or kind).replace("_", "-").strip("-").lower()


def _check_pattern(reader: Reader, path: Path, text: str) -> None:
    try:
        read_pattern(text)
    except LanguageError as error:
        for fault in error.faults:
            reader.add_fault(fault, path)


def check_function(reader: Reader, path: Path, value: str) -> None:
    """Note a text that cannot be the name of a function."""
    if not _FUNCTION.fullmatch(value):
        reader.add("RB214", path, value=value, what="a function", example="`triage:triage`, a module and what is in it")
