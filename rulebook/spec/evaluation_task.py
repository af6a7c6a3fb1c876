"""The task of an evaluation, as a rule file says it: a function, a command, or a question for a model."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from rulebook.languages.endpoint_fields import AddressField, VariableField
from rulebook.languages.faults import Shown
from rulebook.languages.fields import Duration, LiveArgv
from rulebook.languages.template import Template, TemplateField
from rulebook.languages.types import ANYTHING, RecordOf, Scope
from rulebook.place import Path
from rulebook.spec.evaluation_parts import ModelTask, RowTask
from rulebook.spec.evaluation_scorers import check_function
from rulebook.spec.head import Text, Texts
from rulebook.spec.params import Param
from rulebook.spec.reader import Reader
from rulebook.spec.validation import below, validate_options

MOST_AT_ONCE = 1_000
"""How many rows may be under way at once."""

OWN_NAMES = ("params", "row")
"""What a template reads beside the columns of a row, which stand in `row` as well: one may be called otherwise."""

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)
_COMMAND_S, _MODEL_S = 60.0, 600.0
_PATH: Path = ("task",)
_WAYS = ("python", "argv", "model")


class ModelKeys(BaseModel):
    """A question that a model is asked about each row."""

    model_config = _STRICT

    prompt: TemplateField = Field(description="What the model is asked: a template over the row's columns.")
    system_prompt: TemplateField | None = Field(None, description="What stands before it, in the same way.")
    model: TemplateField | None = Field(
        None, description="Which model: an alias or `provider/model`; the default one of `rulebook.toml`."
    )
    base_url: AddressField | None = Field(
        None, description="An OpenAI-compatible endpoint, in place of a provider of `rulebook.toml`."
    )
    api_key_env: VariableField | None = Field(None, description="The name of the variable that holds its key.")
    temperature: float | None = Field(None, ge=0, le=2, description="How far its answers may vary.")
    max_tokens: int = Field(16_000, ge=1, le=10_000_000, description="How long an answer may be; a longer one is none.")


class TaskKeys(BaseModel):
    """What makes a row's output."""

    model_config = _STRICT

    python: Text | None = Field(
        None, description="A function of yours, `module:function`, which `--allow-python` lets run."
    )
    argv: LiveArgv | None = Field(
        None, description="A command: it reads the row as JSON, and what it prints is the output."
    )
    model: ModelKeys | None = Field(None, description="A model, whose answer is the output.")
    timeout: Duration | None = Field(
        None, description="How long a row may take: 1m for a command and 10m for a model without it."
    )
    pass_env: Texts = Field((), description="Variables that the command sees, such as the key of a model.")
    concurrency: int | None = Field(
        None,
        ge=1,
        le=MOST_AT_ONCE,
        description="How many rows are under way at once: as many commands as there are processors without it, as many "
        "questions as `rulebook.toml` lets, and one call of a function.",
    )


def read_task(reader: Reader, value: object, params: tuple[Param, ...]) -> RowTask | None:
    """The task in `value`; None, with every problem noted, when it is not valid."""
    if not isinstance(value, dict):
        example = reader.shown(Shown({"argv": ["python", "task.py"]}, "task"))
        reader.not_a_mapping(_PATH, "task", "a mapping with `python`, `argv` or `model`", f" Write `{example}`.")
        return None
    keys = validate_options(TaskKeys, value, "`task`", below(_PATH), reader)
    if keys is None:
        return None
    ways = [key for key in _WAYS if getattr(keys, key) is not None]
    if len(ways) != 1:
        purpose = "a task is one of a function of yours (`python`), a command (`argv`) and a question (`model`)."
        reader.add_at_key("RB202", _PATH, thing="`task`", key="argv", purpose=purpose)
        return None
    if keys.python is not None:
        check_function(reader, (*_PATH, "python"), keys.python)
    for key, needed, what in (
        ("timeout", ("argv", "model"), "a command (`argv`) or a model"),
        ("pass_env", ("argv",), "a command (`argv`)"),
    ):
        if key in value and ways[0] not in needed:
            reader.add_at_key("RB215", (*_PATH, key), key=key, why=f"it is for {what}.")
    model = None if keys.model is None else _model(keys.model)
    usual_s = _COMMAND_S if model is None else _MODEL_S
    timeout_s = usual_s if keys.timeout is None else keys.timeout
    task = RowTask(keys.python, keys.argv, model, timeout_s, keys.pass_env, keys.concurrency)
    _check_templates(reader, task, params)
    return task


def templates_of(task: RowTask) -> Iterator[tuple[Path, Template, bool]]:
    """Every template of a task, where it stands, and whether it may read the columns of a row beside `params`."""
    for place, word in enumerate(task.argv or ()):
        yield (*_PATH, "argv", place), word, False
    if task.model is not None:
        found = {"prompt": task.model.prompt, "system_prompt": task.model.system_prompt, "model": task.model.model}
        for key, template in found.items():
            if template is not None:
                yield (*_PATH, "model", key), template, key != "model"


def _model(keys: ModelKeys) -> ModelTask:
    return ModelTask(
        keys.prompt, keys.system_prompt, keys.model, keys.base_url, keys.api_key_env, keys.temperature, keys.max_tokens
    )


def _check_templates(reader: Reader, task: RowTask, params: tuple[Param, ...]) -> None:
    """Note every name that is not there. Which columns there are is not known here: a rule of the linter says that."""
    own = {"params": RecordOf("`params`", {param.name: param.kind for param in params})}
    for path, template, reads_rows in templates_of(task):
        columns = dict.fromkeys(template.names(), ANYTHING) if reads_rows else {}
        for fault in template.faults(Scope("a task", {**columns, **own})):
            reader.add_fault(fault, path)
