"""A model as the task of an evaluation: it is asked about each row, and what it answers is the row's output."""

from collections.abc import Mapping
from concurrent.futures import Future

from msgspec import Struct

from rulebook.evidence.judge_answers import Unreadable, whole_text
from rulebook.evidence.row_columns import plain_data
from rulebook.languages.run_errors import TemplateError
from rulebook.languages.template import Template
from rulebook.languages.types import MISSING
from rulebook.measures.row_scores import RowFailure
from rulebook.model_port import Asking, ModelFailure, ModelReply, ModelRequest
from rulebook.services.later import made_later
from rulebook.session.evaluating_together import Paid
from rulebook.spec.evaluation_parts import ModelTask


class RowQuestion(Struct, frozen=True):
    """What is asked about a row. `params` are the run's; `timeout_s` is for all attempts of one row together."""

    task: ModelTask
    params: Mapping[str, object]
    timeout_s: float

    def about(self, row: Mapping[str, object]) -> ModelRequest:
        """The question about one row. Raises TemplateError where it cannot be made."""
        columns = {str(name): MISSING if value is None else plain_data(value) for name, value in row.items()}
        names = {**columns, "row": columns, "params": self.params}
        task = self.task

        def lookup(name: str) -> object:
            return names.get(name, MISSING)

        return ModelRequest(
            "" if task.system_prompt is None else task.system_prompt.render(lookup),
            task.prompt.render(lookup),
            model=None if task.model is None else _filled(task.model, self.params),
            base_url=task.base_url,
            api_key_env=task.api_key_env,
            temperature=task.temperature,
            max_tokens=task.max_tokens,
            timeout_s=self.timeout_s,
        )


class RowAsking:
    """Asks about several rows at once; implements `evaluating_together.Crew`."""

    def __init__(self, question: RowQuestion, asking: Asking) -> None:
        self.at_once = asking.at_once
        self._question, self._asking = question, asking

    def begin(self, row: Mapping[str, object]) -> Future[object]:
        """What will be the answer about a row, or why there is none: it was not given, not whole, or is empty."""
        try:
            request = self._question.about(row)
        except TemplateError as error:
            failed: Future[object] = Future()
            failed.set_result(RowFailure("PromptError", f"the question cannot be made: {error}"))
            return failed
        return made_later(self._asking.begin(request), _output)

    def end(self) -> None:
        """Give up what is under way."""
        self._asking.end()


def _output(reply: ModelReply | ModelFailure) -> object:
    if isinstance(reply, ModelFailure):
        return Paid(RowFailure("ModelError", reply.reason), reply.spent)
    try:
        return Paid(whole_text(reply), reply.spent)
    except Unreadable as unread:
        return Paid(RowFailure("ModelError", f"the model's reply {unread}"), reply.spent)


def _filled(template: Template, params: Mapping[str, object]) -> str:
    return template.render(lambda _: params)
