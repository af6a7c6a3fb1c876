"""What a student is told: the templates of a task, filled in."""

import os
from collections.abc import Mapping

from rulebook.errors import UsageError
from rulebook.languages.template import Template, TemplateError
from rulebook.languages.types import MissingValue
from rulebook.spec.steps import HINTS_PARAM, StepSpec, TaskSpec


def instructions_of(step: StepSpec, params: Mapping[str, object], folder: str) -> str:
    """A step's instructions, with its hints below them when the parameter `use_hints` is true.

    `folder` is where the student works: what it hands in is named by paths in it. Raises UsageError when a text cannot
    be filled in.
    """
    handed_in = {each.name: {"write_to": os.path.join(folder, each.path)} for each in step.submissions}
    names: dict[str, object] = {"params": params, "submissions": handed_in}
    texts = [] if step.instructions is None else [filled_in(step.instructions, names, step.name)]
    if params.get(HINTS_PARAM) is True:
        texts += [filled_in(hint, names, step.name) for hint in step.hints]
    return "\n\n".join(text.rstrip("\n") for text in texts) + "\n"


def system_prompt_of(task: TaskSpec, params: Mapping[str, object]) -> str | None:
    """What the student is told before any step; None when the task says nothing. Raises UsageError as above."""
    return None if task.system_prompt is None else filled_in(task.system_prompt, {"params": params}, task.name)


def filled_in(text: Template, names: Mapping[str, object], where: str, what: str = "instructions") -> str:
    """A text of a task that reads `names`; the error says `what` it is, and `where`.

    Raises UsageError when it cannot be filled in.
    """
    try:
        return text.render(lambda name: names.get(name, MissingValue(name)))
    except TemplateError as error:
        raise UsageError(f"The {what} of `{where}` cannot be filled in: {error}.") from error
