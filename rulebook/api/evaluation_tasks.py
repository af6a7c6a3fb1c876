"""The task of an evaluation as a run takes it: for one row after the other, or for several at once."""

from collections.abc import Mapping
from functools import partial

from rulebook.api.functions import Function
from rulebook.api.row_scorers import row_task
from rulebook.api.task_at_work import TaskAtWork
from rulebook.errors import UsageError
from rulebook.languages.run_errors import TemplateError
from rulebook.languages.template import Template
from rulebook.ports import Files, Ports
from rulebook.services.model_meter import metered
from rulebook.services.parallel import cores
from rulebook.services.row_threads import EndSign, RowThreads
from rulebook.session.evaluating import Task, output_of
from rulebook.session.evaluating_together import Crew, Paid
from rulebook.session.row_commands import RowCommand
from rulebook.session.row_questions import RowAsking, RowQuestion
from rulebook.spec.evaluation_parts import RowTask
from rulebook.spec.evaluation_task import OWN_NAMES, templates_of
from rulebook.spec.provider_files import config_files, read_providers


def function_task(task: object, at_once: int | None = None) -> TaskAtWork:
    """A function as a task, in as many threads as rows that it takes at once; None: as it says itself.

    Raises UnfitKind for what is no function of `@rulebook.function`.
    """
    work = row_task(task)
    at_once = at_once or (task.concurrency if isinstance(task, Function) else 1)
    return TaskAtWork(work, None if at_once == 1 else lambda: RowThreads(partial(_paid, work), at_once))


def command_task(spec: RowTask, folder: str, ports: Ports, params: Mapping[str, object]) -> TaskAtWork:
    """A command as a task, with the parameters of a run. Raises UsageError where they do not fit its words."""
    argv = [_filled(word, params) for word in spec.argv or ()]
    command = RowCommand(argv, folder, spec.timeout_s, ports.processes, spec.pass_env)
    at_once = spec.concurrency or cores()

    def crew() -> Crew:
        sign = EndSign()
        return RowThreads(partial(output_of, command.until(sign.descriptor)), at_once, sign)

    return TaskAtWork(command, None if at_once == 1 else crew)


def model_task(spec: RowTask, ports: Ports, params: Mapping[str, object]) -> TaskAtWork:
    """A model as a task, with the parameters of a run."""
    if spec.model is None:
        raise TypeError("the task asks no model")
    question = RowQuestion(spec.model, params, spec.timeout_s)
    return TaskAtWork(None, lambda: RowAsking(question, ports.models.asking(spec.concurrency)))


def who_answers(spec: RowTask, params: Mapping[str, object], folder: str, files: Files) -> list[str]:
    """The endpoint and the model that a model task asks, by the configuration that holds in `folder`; none for others.

    Raises UsageError where nothing says who that is.
    """
    if spec.model is None:
        return []
    model = spec.model.model
    providers = read_providers(config_files(folder, files), files)
    chosen = providers.chosen(
        None if model is None else _filled(model, params), spec.model.base_url, spec.model.api_key_env
    )
    return [chosen.provider.name, chosen.provider.base_url, chosen.model]


def columns_asked(spec: RowTask) -> tuple[str, ...]:
    """The columns that a model task's templates read by their name; none for other tasks."""
    found = [name for _, template, reads_rows in templates_of(spec) if reads_rows for name in sorted(template.names())]
    return tuple(name for name in dict.fromkeys(found) if name not in OWN_NAMES)


def _paid(task: Task, row: Mapping[str, object]) -> object:
    """What a function gives for a row, with what it asked of models: a meter hears nothing of other threads."""
    with metered() as meter:
        output = output_of(task, row)
        spent = meter.taken()
    return output if spent is None else Paid(output, spent)


def _filled(word: Template, params: Mapping[str, object]) -> str:
    try:
        return word.render(lambda _: params)
    except TemplateError as error:
        raise UsageError(f"`{word.text}` in the task cannot be filled in: {error}.") from error
