"""JSON Schemas of the rule files, for editors: draft-07, closed, and without unions that blame the wrong branch."""

import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from rulebook.checks import Check, kinds
from rulebook.evidence.sources import AssistantText, FinalMessage
from rulebook.outcome import CATEGORIES
from rulebook.spec.combinators import COMBINATORS, options_of
from rulebook.spec.eval_groups import GROUPS
from rulebook.spec.evaluation import DatasetKeys, EvaluationFile
from rulebook.spec.evaluation_task import TaskKeys
from rulebook.spec.gate_parts import FIGURES
from rulebook.spec.gates import BoundKeys, MostKeys
from rulebook.spec.number_options import BranchOptions
from rulebook.spec.oracles import OracleKeys
from rulebook.spec.pack import PackFile
from rulebook.spec.param_reading import ParamKeys
from rulebook.spec.reading import BesideKeys
from rulebook.spec.scorer_kinds import SCORERS, SHORT
from rulebook.spec.scorer_options import BesideScorer, ScorerKeys
from rulebook.spec.session_eval import EvalFile, expectation_kinds
from rulebook.spec.submissions import SubmissionKeys
from rulebook.spec.suite import SuiteFile
from rulebook.spec.task import LimitKeys, StepKeys, TaskFile

Schema = dict[str, Any]

_RULE: Schema = {"$ref": "#/definitions/rule"}
_USE: Schema = {"type": ["array", "object"], "items": {"type": "string"}, "additionalProperties": {"type": "string"}}
_RULES: Schema = {"type": "array", "items": _RULE, "minItems": 1}


def schema_names() -> tuple[str, ...]:
    """The names of the schemas that can be printed."""
    return tuple(_MAKERS)


def schema_text(name: str) -> str:
    """The JSON Schema called `name`, as it stands in `schemas/`. Raises KeyError for a name that there is not."""
    return json.dumps(_MAKERS[name](), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _eval() -> Schema:
    schema = _file(EvalFile, "chock.eval")
    properties = cast(Schema, schema["properties"])
    properties["expect"] = _described(_expect(), EvalFile, "expect")
    properties["tests"] = _described({"type": "array", "items": _kind(kinds()["tests"], full=True)}, EvalFile, "tests")
    properties["checks"] = _described(_named(), EvalFile, "checks")
    properties["judge"] = _described({**_rule_or_text()}, EvalFile, "judge")
    properties["use"] = _described(_USE, EvalFile, "use")
    properties["params"] = _described({"type": "object", "additionalProperties": _model(ParamKeys)}, EvalFile, "params")
    for key, group in GROUPS.items():
        properties[key] = _described(_model(group), EvalFile, key)
    weights = {name: {"type": "number", "minimum": 0} for name in (*CATEGORIES, "tests")}
    properties["reward_weights"] = _described(_closed(weights), EvalFile, "reward_weights")
    return {**schema, "definitions": {"rule": _rule()}}


def _task() -> Schema:
    schema = _file(TaskFile, "rulebook.task")
    properties = cast(Schema, schema["properties"])
    properties["checks"] = _described(_named(), TaskFile, "checks")
    properties["use"] = _described(_USE, TaskFile, "use")
    properties["params"] = _described({"type": "object", "additionalProperties": _model(ParamKeys)}, TaskFile, "params")
    row = {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}
    properties["cases"] = _described({"type": ["array", "string"], "items": row, "minItems": 1}, TaskFile, "cases")
    properties["limits"] = _described(_model(LimitKeys), TaskFile, "limits")
    properties["score"] = _described({"type": "string", "default": "last"}, TaskFile, "score")
    step = _model(StepKeys)
    handed_in = {"type": "object", "additionalProperties": _model(SubmissionKeys), "minProperties": 1}
    step["properties"]["submissions"] = _described(handed_in, StepKeys, "submissions")
    step["properties"]["checks"] = _described(_named(), StepKeys, "checks")
    step["properties"]["judge"] = _described(_rule_or_text(), StepKeys, "judge")
    step["properties"]["oracle"] = _described(_oracle(), StepKeys, "oracle")
    properties["steps"] = _described({"type": "array", "items": step, "minItems": 1}, TaskFile, "steps")
    return {**schema, "definitions": {"rule": _rule()}}


def _oracle() -> Schema:
    schema = _model(OracleKeys)
    texts = {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1}
    entry = {**texts, "type": ["object", "string"]}
    handed_in = {"type": "object", "additionalProperties": entry, "minProperties": 1}
    schema["properties"]["hand_in"] = _described(handed_in, OracleKeys, "hand_in")
    return {**schema, "minProperties": 1}


def _suite() -> Schema:
    return _file(SuiteFile, "chock.rl-suite")


def _evaluation() -> Schema:
    schema = _file(EvaluationFile, "rulebook.evaluation")
    properties = cast(Schema, schema["properties"])
    dataset = _model(DatasetKeys)
    row = {"type": "object", "minProperties": 1}
    dataset["properties"]["rows"] = _described({"type": "array", "items": row, "minItems": 1}, DatasetKeys, "rows")
    properties["dataset"] = _described({**dataset, "type": ["object", "string"]}, EvaluationFile, "dataset")
    properties["task"] = _described({**_model(TaskKeys), "minProperties": 1}, EvaluationFile, "task")
    of_params = {"type": "object", "additionalProperties": _model(ParamKeys)}
    properties["params"] = _described(of_params, EvaluationFile, "params")
    kinds = {kind: _scorer(kind, model) for kind, model in SCORERS.items()}
    beside = cast(Schema, _model(BesideScorer)["properties"])
    scorer = {**_closed({**kinds, **beside}), "minProperties": 1, "maxProperties": 1 + len(beside)}
    properties["scorers"] = _described({"type": "array", "items": scorer, "minItems": 1}, EvaluationFile, "scorers")
    figures = {figure: {**_model(BoundKeys), "minProperties": 1} for figure in FIGURES}
    gate = {**_closed({**figures, "unmeasured": _model(MostKeys)}), "minProperties": 1}
    properties["gates"] = _described({"type": "object", "additionalProperties": gate}, EvaluationFile, "gates")
    return schema


def _scorer(kind: str, model: type[ScorerKeys]) -> Schema:
    about = (model.__doc__ or "").strip().splitlines()[0]
    schema = _model(model)
    return {**schema, "type": ["object", "string"] if kind in SHORT else "object", "description": about}


def _pack() -> Schema:
    schema = _file(PackFile, "rulebook.pack")
    schema["properties"]["checks"] = _described(_named(), PackFile, "checks")
    return {**schema, "definitions": {"rule": _rule()}}


def _file(model: type[BaseModel], name: str) -> Schema:
    schema = _model(model)
    schema["properties"]["schema"] = {"const": name, "description": "What kind of rule file this is."}
    schema["properties"]["version"] = {"const": 1, "description": "The version of the rule format."}
    return {"$schema": "http://json-schema.org/draft-07/schema#", "$id": f"{name}.json", "title": name, **schema}


def _expect() -> Schema:
    properties = {key: _kind(kind) for key, kind in expectation_kinds().items()}
    properties["currency"] = {"type": "string", "description": "The currency of `max_cost`."}
    return _closed(properties)


def _named() -> Schema:
    return {"type": "object", "additionalProperties": _RULE, "minProperties": 1}


def _rule_or_text() -> Schema:
    rule = _rule()
    return {**rule, "type": ["object", "string"]}


def _rule() -> Schema:
    common = cast(Schema, _model(BesideKeys)["properties"])
    common["category"] = {**common["category"], "enum": list(CATEGORIES)}
    groups = {name: _combinator(name, options_of(name)) for name in COMBINATORS}
    checks = {key: _kind(kind) for key, kind in kinds().items() if not kind.for_rows}
    return {**_closed({**checks, **groups, **common}), "title": "a rule", "minProperties": 1}


def _combinator(name: str, options: type[BaseModel] | None) -> Schema:
    if name in ("not", "invert"):
        return _RULE
    if name == "rule":
        return {"type": "string", "description": "The name of a rule."}
    if name == "first":
        branch = _model(BranchOptions)
        branch["properties"] = {"when": {"type": "string"}, "then": _RULE}
        return {"type": "array", "items": branch, "minItems": 1}
    if options is None:
        raise AssertionError(f"the combinator {name} has no options")
    schema = _model(options)
    properties = schema["properties"]
    if name == "formula":
        properties["let"] = {"type": "object", "additionalProperties": _RULE, "minProperties": 1}
        return schema
    if name == "misbehavior":
        properties["if"] = _RULE
        return schema
    properties["of"] = _RULES
    return {**schema, "type": ["array", "object"], "items": _RULE, "minItems": 1}


def _kind(kind: type[Check], *, full: bool = False) -> Schema:
    """A kind's options, and its short form beside them."""
    schema = _model(kind)
    schema["description"] = (kind.__doc__ or "").strip().splitlines()[0]
    if full or kind.short is None:
        return schema
    short = cast(Schema, schema["properties"])[kind.short]
    types = _types(short)
    if "array" in types and "items" in short:
        types = [*types, *_types(cast(Schema, short["items"]))]
        schema["items"] = short["items"]
        if "minItems" in short:
            schema["minItems"] = short["minItems"]
    schema["type"] = sorted({*types, "object"})
    return schema


class _Generator(GenerateJsonSchema):
    """Writes the defaults that are objects of ours as an author would."""

    def encode_default(self, dft: Any) -> Any:
        return _WRITTEN[type(dft)] if type(dft) in _WRITTEN else super().encode_default(dft)


def _types(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("type")
    if found is None:
        return ["string", "number", "boolean", "array", "object"]
    return [found] if isinstance(found, str) else list(found)


def _model(model: type[BaseModel]) -> Schema:
    raw = model.model_json_schema(by_alias=True, schema_generator=_Generator)
    definitions: dict[str, Schema] = raw.pop("$defs", {})
    return cast(Schema, _plain(raw, definitions))


def _plain(schema: Any, definitions: Mapping[str, Schema]) -> Any:
    """Without titles, references and `null`: what may be absent is simply not required."""
    if isinstance(schema, list):
        return [_plain(entry, definitions) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _plain({**definitions[name], **rest}, definitions)
    if "anyOf" in schema:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        options = [option for option in schema["anyOf"] if option != {"type": "null"}]
        return _plain({**_joined(options), **rest}, definitions)
    found = {key: value for key, value in schema.items() if key != "title" or isinstance(value, dict)}
    if found.get("default") is None:
        found.pop("default", None)
    properties = found.pop("properties", None)
    plain = {key: _plain(value, definitions) for key, value in found.items()}
    if properties is not None:
        plain["properties"] = {key: _plain(value, definitions) for key, value in properties.items()}
    if "prefixItems" in plain:
        plain["items"] = plain.pop("prefixItems")
    if plain.get("type") == "object" and "properties" in plain:
        plain["additionalProperties"] = False
    return plain


def _joined(options: list[Schema]) -> Schema:
    if len(options) == 1:
        return options[0]
    return {"type": sorted({kind for option in options for kind in _types(option)})}


def _described(schema: Schema, model: type[BaseModel], field: str) -> Schema:
    return {**schema, "description": model.model_fields[field].description}


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


_WRITTEN: dict[type, str] = {AssistantText: "assistant", FinalMessage: "final_message"}
_MAKERS = {
    "chock.eval": _eval,
    "chock.rl-suite": _suite,
    "rulebook.task": _task,
    "rulebook.pack": _pack,
    "rulebook.evaluation": _evaluation,
}
