"""Scoring facts 3.1: tasks made from data by `create_task` and `StepConfig`, and judges that several runs share."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import rulebook
from rulebook import EvaluationRunConfig, StepConfig, StudentMisbehaviorError, Task, create_task
from rulebook.judges import AlwaysPassJudge, ExecutableJudge, Judge
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import Transcript

RUN = Transcript(run_id="r")
STEP = StepConfig(instructions="Write.", judge=AlwaysPassJudge())


def test_a_task_has_its_steps_in_order() -> None:
    second = StepConfig(instructions="Tell.", judge=AlwaysPassJudge(), submission_paths=(Path("/a"), Path("/b")))
    made = create_task(id="two-steps", tools=["bash"], steps=[STEP, second], system_prompt="Be brief.", required_hardware="gpu")
    task: Any = made()
    assert issubclass(made, Task)
    assert (made.__name__, task.id, task.tools, task.required_hardware) == ("two_steps", "two-steps", ["bash"], "gpu")
    assert task.system_prompt == "Be brief."
    assert [step.instructions for step in task.steps] == ["Write.", "Tell."]
    assert [step.submission_paths for step in task.steps] == [None, (Path("/a"), Path("/b"))]
    assert task.submission_paths == (Path("/a"), Path("/b"))
    assert task.pre_hook() == {}
    assert task.steps[0].score(RUN) == Scoring(1.0, {}, True)


def test_what_is_a_function_is_asked_with_the_runs_configuration() -> None:
    order: list[str] = []

    class Hinted(Judge):
        def __init__(self, hints: bool):
            self.hints = hints

        def evaluate(self, transcript: Transcript) -> Scoring:
            order.append("judge")
            return Scoring(float(self.hints), {}, True)

    step = StepConfig(
        instructions=lambda config: "Write." + " Look." * config.use_hints,
        judge=lambda config: Hinted(config.use_hints),
        pre_scoring_hook=lambda config: order.append(f"before {config.run_id}"),
        post_hook=lambda config: order.append(f"after {config.run_id}"),
    )
    made = create_task(
        id="t",
        steps=[step],
        system_prompt=lambda config: config.model,
        pre_hook=lambda config: {"run": config.run_id},
        configure_tools=lambda: order.append("tools"),
    )
    for hints in (True, False):
        task: Any = made(EvaluationRunConfig(run_id=f"r{hints}", model="m", use_hints=hints))
        task.configure_tools()
        (made_step,) = task.steps
        assert (task.system_prompt, task.pre_hook()) == ("m", {"run": f"r{hints}"})
        assert made_step.instructions == "Write." + " Look." * hints
        assert made_step.score(RUN).score == float(hints)
        made_step.post_hook()
        assert order == ["tools", f"before r{hints}", "judge", f"after r{hints}"]
        order.clear()


def test_misbehaviour_in_a_hook_scores_0() -> None:
    def hook(config: EvaluationRunConfig) -> None:
        raise StudentMisbehaviorError("a link")

    made = create_task(id="t", steps=[StepConfig(instructions="", judge=AlwaysPassJudge(), pre_scoring_hook=hook)])
    (step,) = made().steps
    assert step.score(RUN) == Scoring(0.0, {"misbehavior": "a link"}, False)


def test_a_judge_that_many_runs_share_judges_each_of_them() -> None:
    """karotte rewrites the last word of the command that was given: of two runs at once, one scores 0."""
    words = ["sh", "-c", """printf '{"score": 1, "metadata": {"file": "%s"}}' "$0" > "$0" """, "score.json"]
    made = create_task(id="t", steps=[StepConfig(instructions="", judge=ExecutableJudge(words))])
    gate, found = threading.Barrier(8), list[Scoring]()

    def play() -> None:
        (step,) = made().steps
        gate.wait(20)
        found.append(step.score(RUN))

    runs = [threading.Thread(target=play) for _ in range(8)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert [scoring.score for scoring in found] == [1.0] * 8
    assert len({json.dumps(scoring.metadata["file"]) for scoring in found}) == 8
    assert words[-1] == "score.json"


@pytest.mark.parametrize(
    ("wrong", "error", "told"),
    [
        ({"instructions": 5}, TypeError, "`instructions` is text"),
        ({"judge": 5}, TypeError, "`judge` is a judge"),
        ({"pre_scoring_hook": "now"}, TypeError, "`pre_scoring_hook` is a function"),
        ({"post_hook": {}}, TypeError, "`post_hook` is a function"),
        ({"submission_paths": [Path("/a")]}, TypeError, "must be a tuple of paths"),
        ({"submission_paths": (Path("a"),)}, ValueError, "no absolute `Path`"),
    ],
)
def test_a_step_that_could_not_be_played_is_refused_when_it_is_made(wrong: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        StepConfig(**{"instructions": "", "judge": AlwaysPassJudge(), **wrong})


@pytest.mark.parametrize(
    ("wrong", "error", "told"),
    [
        ({"id": ""}, ValueError, "1 to 255 characters"),
        ({"id": "t" * 256}, ValueError, "this has 256"),
        ({"steps": []}, ValueError, "without steps"),
        ({"steps": [AlwaysPassJudge()]}, TypeError, "A step is a `StepConfig`"),
        ({"submission_paths": ()}, TypeError, "`submission_paths` can't be given"),
        ({"_made": None}, TypeError, "`_made` can't be given"),
    ],
)
def test_a_task_that_could_not_be_played_is_refused_when_it_is_made(wrong: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        create_task(**{"id": "t", "steps": [STEP], **wrong})


def test_an_id_has_at_most_255_characters() -> None:
    assert create_task(id="t" * 255, steps=[STEP]).id == "t" * 255


def test_the_face_has_the_judge_too() -> None:
    assert rulebook.Judge is Judge
