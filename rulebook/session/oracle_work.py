"""Right work of a step: as its author wrote it in the task file, or as it was recorded in a folder."""

import os
from collections.abc import Mapping

from rulebook.errors import UsageError
from rulebook.languages.template import Template
from rulebook.ports import Files
from rulebook.session.instructing import filled_in
from rulebook.spec.steps import StepSpec


def right_texts(step: StepSpec, params: Mapping[str, object]) -> Mapping[str, str]:
    """What the step's own oracle hands in, by path from the student's folder; nothing where it has none.

    Raises UsageError when a text of it cannot be filled in.
    """
    found: dict[str, str] = {}
    paths = {each.name: each.path for each in step.submissions}
    for name, content in ({} if step.oracle is None else step.oracle.hand_in).items():
        texts = {"": content} if isinstance(content, Template) else content
        for path, text in texts.items():
            found[os.path.join(paths[name], path) if path else paths[name]] = _filled(text, step, params)
    return found


def right_words(step: StepSpec, params: Mapping[str, object]) -> str | None:
    """What the step's own oracle says at the end; None where nothing is written. Raises UsageError as above."""
    said = None if step.oracle is None else step.oracle.say
    return None if said is None else _filled(said, step, params)


def recorded_right_work(root: str, case: str | None, step: StepSpec, files: Files) -> str:
    """The folder below `root` that has what is handed in right at a step: of the case and step, or the nearest to that.

    A folder that the step itself hands in is not taken for one of the case or step. Raises UsageError where there is no
    `root`.
    """
    if not files.stands(root, folder=True):
        raise UsageError(f"There is no folder `{root}` with right work.")
    own = {each.path.split("/")[0] for each in step.submissions}
    of_case = [] if case is None or case in own else [case]
    of_step = [] if step.name in own else [step.name]
    for names in ([*of_case, *of_step], of_case, of_step):
        place = os.path.join(root, *names)
        if names and files.stands(place, folder=True):
            return place
    return root


def _filled(text: Template, step: StepSpec, params: Mapping[str, object]) -> str:
    return filled_in(text, {"params": params}, step.name, "oracle")
