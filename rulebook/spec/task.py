"""`rulebook.task` files: steps that a student works through, each ended by a judge. Source: scoring."""

from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from rulebook.languages.faults import LanguageError, Shown
from rulebook.languages.fields import Duration
from rulebook.languages.formula import Formula, YesNoFormula, read_formula
from rulebook.languages.template import TemplateField
from rulebook.place import Path
from rulebook.ports import Files
from rulebook.source.located import Located
from rulebook.spec.head import Head
from rulebook.spec.judging import read_judge
from rulebook.spec.pack import check_name_value
from rulebook.spec.params import Param
from rulebook.spec.reader import Reader
from rulebook.spec.reading import all_kinds, read_named
from rulebook.spec.rules import PackSpec
from rulebook.spec.steps import (
    AGGREGATES,
    HINTS_PARAM,
    Aggregate,
    Limits,
    OracleSpec,
    StepSpec,
    SubmissionSpec,
    TaskCase,
    TaskSpec,
)
from rulebook.spec.submissions import read_submissions
from rulebook.spec.validation import below, validate_options
from rulebook.spelling import guess, listed

Count = Annotated[int, Field(ge=1)]


class TaskFile(Head):
    """A `rulebook.task` file."""

    params: object = Field(None, description="Parameters that instructions and rules can read.")
    cases: object = Field(None, description="Rows of values for the parameters, or a CSV, JSONL or YAML file of them.")
    system_prompt: TemplateField | None = Field(None, description="What the student is told before any step.")
    limits: object = Field(None, description="What the student may use up before a step ends.")
    use: object = Field(None, description="Packs of rules to import.")
    checks: object = Field(None, description="Named rules that every step's judge can use.")
    steps: object = Field(description="What the student works through, in order.")
    score: object = Field(
        "last", description="How the steps' scores make one: last, sum, mean, min, max, weighted, or an expression."
    )


class LimitKeys(BaseModel):
    """What a student may use up before a step ends."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    turns: Count | None = Field(None, description="The most turns of a step.")
    step_time: Duration | None = Field(None, description="The longest that a step may take, such as `15m`.")
    context_tokens: Count | None = Field(None, description="The most tokens that the conversation may come to.")
    on_limit: Literal["unmeasured", "score"] = Field(
        "unmeasured", description="What becomes of a step that reaches a limit: `score` judges what is there by then."
    )


class StepKeys(BaseModel):
    """One step of a task."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    name: Annotated[str, Field(min_length=1)] = Field(description="The step's name: small letters, digits and `_`.")
    description: str | None = Field(None, description="What it is about, for people.")
    instructions: TemplateField = Field(description="What the student is asked to do; a template.")
    hints: Annotated[tuple[TemplateField, ...], Field(strict=False)] = Field(
        (), description="Templates that stand below the instructions when the parameter `use_hints` is true."
    )
    submissions: object = Field(None, description="What the student hands in, by name.")
    checks: object = Field(None, description="Named rules of this step alone.")
    judge: object = Field(description="A rule, or a condition over the named rules, that ends the step.")
    when: YesNoFormula | None = Field(None, description="An expression; when it is false the step is skipped.")
    weight: Annotated[float, Field(ge=0)] | None = Field(None, description="Its share under `score: weighted`.")
    oracle: object = Field(None, description="Right work, which `rulebook task probe` hands in to see that it passes.")


def read_task(document: Located, reader: Reader, packs: tuple[PackSpec, ...], files: Files) -> TaskSpec | None:
    """The task in `document`, as far as it is valid; every problem is noted. None for no mapping."""
    data = document.data
    if not isinstance(data, dict):
        return None
    strays = [key for key in data if _belongs_in_step(reader, key)]
    head = validate_options(TaskFile, {k: v for k, v in data.items() if k not in strays}, "a task", below(()), reader)
    params = _params(reader) if "params" in data else ()
    checks = read_named(reader, ("checks",)) if "checks" in data else ()
    steps = _steps(reader, params) if "steps" in data else ()
    cases = _cases(reader, params, files) if "cases" in data else ()
    limits = _limits(reader) if "limits" in data else Limits()
    score = _score(reader) if "score" in data else "last"
    _weights(reader, steps, score)
    name, prompt = ("", None) if head is None else (head.name, head.system_prompt)
    return TaskSpec(document, name, params, packs, checks, steps, cases, prompt, limits, score)


def _belongs_in_step(reader: Reader, key: str) -> bool:
    """Whether a key at the top of the file is one of a step; notes where it belongs."""
    if key in TaskFile.model_fields or key not in StepKeys.model_fields:
        return False
    reader.add_at_key("RB210", (key,), key=key, where="in a step, under `steps:`")
    return True


def _params(reader: Reader) -> tuple[Param, ...]:
    from rulebook.spec.param_reading import read_params  # a file without parameters does without

    return read_params(reader, ("params",))


def _cases(reader: Reader, params: tuple[Param, ...], files: Files) -> tuple[TaskCase, ...]:
    from rulebook.spec.task_cases import read_cases  # a task without cases does without

    return read_cases(reader, ("cases",), params, files)


def _steps(reader: Reader, params: tuple[Param, ...]) -> tuple[StepSpec, ...]:
    example = {"name": "report", "instructions": "…", "judge": {"regex": "…"}}
    count = reader.entries(("steps",), "steps", Shown([example], "steps"))
    if count == 0:
        reader.add("RB207", ("steps",), key="steps")
    found: list[StepSpec] = []
    lines: dict[str, int] = {}
    for index in range(count or 0):
        step = _step(reader, ("steps", index), params)
        if step is None:
            continue
        if step.name in lines:
            place = (*step.place, "name")
            reader.add("RB301", place, things="steps", name=step.name, line=lines[step.name])
        elif step.name:
            lines[step.name] = reader.document.span((*step.place, "name")).line
        found.append(step)
    return tuple(found)


def _step(reader: Reader, path: Path, params: tuple[Param, ...]) -> StepSpec | None:
    value = reader.mapping(path, "a step", Shown({"name": "report", "instructions": "…"}))
    if value is None:
        return None
    kinds = [key for key in value if key not in StepKeys.model_fields and key in all_kinds()]
    for key in kinds:
        reader.add_at_key("RB210", (*path, key), key=key, where="under the step's `judge:`")
    plain = {key: option for key, option in value.items() if key not in kinds}
    if kinds and "judge" not in plain:
        plain["judge"] = None  # where it belongs has been said
    keys = validate_options(StepKeys, plain, "a step", below(path), reader)
    judge = read_judge(reader, (*path, "judge")) if "judge" in value else None
    submissions = read_submissions(reader, (*path, "submissions")) if "submissions" in value else ()
    checks = read_named(reader, (*path, "checks")) if "checks" in value else ()
    oracle = _oracle(reader, (*path, "oracle"), submissions) if "oracle" in value else None
    written = value.get("name")
    name = (
        written if isinstance(written, str) and written and check_name_value(reader, (*path, "name"), written) else ""
    )
    if keys is None:
        return StepSpec(name, path, None, (), submissions, checks, judge)
    if keys.hints:
        _hints(reader, path, params)
    weight = 1.0 if keys.weight is None else keys.weight
    return StepSpec(name, path, keys.instructions, keys.hints, submissions, checks, judge, keys.when, weight, oracle)


def _oracle(reader: Reader, path: Path, submissions: tuple[SubmissionSpec, ...]) -> OracleSpec | None:
    from rulebook.spec.oracles import read_oracle  # a task without one does without

    return read_oracle(reader, path, submissions)


def _hints(reader: Reader, path: Path, params: tuple[Param, ...]) -> None:
    """Note hints that can never be shown."""
    switch = next((param for param in params if param.name == HINTS_PARAM), None)
    if switch is not None and (switch.type == "boolean" or not switch.sound):
        return
    example = reader.shown(Shown({HINTS_PARAM: {"type": "boolean", "default": False}}, "params"))
    why = f"hints are shown when the parameter `{HINTS_PARAM}` is true. Declare it: `{example}`."
    reader.add_at_key("RB215", (*path, "hints"), key="hints", why=why)


def _limits(reader: Reader) -> Limits:
    value = reader.mapping(("limits",), "limits", Shown({"turns": 40, "step_time": "15m"}, "limits"))
    keys = None if value is None else validate_options(LimitKeys, value, "`limits`", below(("limits",)), reader)
    if keys is None:
        return Limits()
    return Limits(keys.turns, keys.step_time, keys.context_tokens, keys.on_limit)


def _score(reader: Reader) -> Aggregate | Formula:
    value = reader.document.at(("score",))
    if not isinstance(value, str):
        reader.wrong_type(("score",), "score", f"one of {listed(AGGREGATES)}, or an expression over `steps`")
        return "last"
    if value in AGGREGATES:
        return value
    if value.isidentifier():
        words = {"key": "score", "value": value, "choices": f"{listed(AGGREGATES)}, or an expression over `steps`"}
        reader.add_words("RB204", ("score",), {**words, "guess": guess(value, AGGREGATES, list_up_to=0)})
        return "last"
    try:
        return read_formula(value, "number")
    except LanguageError as error:
        for fault in error.faults:
            reader.add_fault(fault, ("score",))
        return "last"


def _weights(reader: Reader, steps: tuple[StepSpec, ...], score: Aggregate | Formula) -> None:
    """Note weights that nothing reads, and those of which nothing is left."""
    if score == "weighted":
        if steps and all(step.weight == 0 for step in steps):
            reader.add("RB602", ("score",), what="score")
        return
    for step in steps:
        if "weight" in cast(dict[str, object], reader.document.at(step.place)):
            why = "only `score: weighted` reads the weights of steps."
            reader.add_at_key("RB215", (*step.place, "weight"), key="weight", why=why)
