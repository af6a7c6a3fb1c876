"""Scoring reference: "How a step gets scored", AlwaysPassJudge, "Combining judges", own judges, misbehaviour."""

import json
import os
from pathlib import Path

import pytest
from reference_text import example

from rulebook import Step, StudentMisbehaviorError, Task, UnfitScoring, UnmeasuredError
from rulebook.judges import AlwaysPassJudge, AndJudge, Judge, OrJudge, RegexJudge, judge_text
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import Message, MessageAddedEvent, StepStartedEvent, Transcript


def run(*texts: str, role: str = "assistant") -> Transcript:
    return Transcript(
        run_id="r", events=[MessageAddedEvent(message=Message(role=role, content=text)) for text in texts]
    )


class Gives(Judge):
    """Gives one result, and remembers that it was asked."""

    def __init__(self, score: float, goes_on: object, asked: list[str] | None = None, name: str = "", **metadata: object):
        self.result = Scoring(score, metadata, goes_on)
        self.asked, self.name = [] if asked is None else asked, name

    def evaluate(self, transcript: Transcript) -> Scoring:
        self.asked.append(self.name)
        return self.result


class Raises(Judge):
    def __init__(self, error: BaseException):
        self.error = error

    def evaluate(self, transcript: Transcript) -> Scoring:
        raise self.error


class Cannot(Judge):
    def __init__(self, result: object):
        self.result = result

    def evaluate(self, transcript: Transcript) -> Scoring:
        return self.result  # type: ignore[return-value]


YES, NO = Gives(1.0, True), Gives(0.0, False)


class OneStep(Step):
    """A step that writes down in which order its parts are used."""

    def __init__(self, judge: Judge, hook: BaseException | None = None):
        super().__init__()
        self.given, self.error, self.order = judge, hook, []

    @property
    def instructions(self) -> str:
        return "Go."

    def pre_scoring_hook(self) -> None:
        self.order.append("hook")
        if self.error:
            raise self.error

    @property
    def judge(self) -> Judge:
        self.order.append("judge")
        return self.given


# How a step gets scored


def test_every_step_ends_with_a_judge() -> None:
    class Half(Step):
        @property
        def instructions(self) -> str:
            return "Go."

    with pytest.raises(TypeError, match="judge"):
        Half()  # type: ignore[abstract]


def test_the_hook_is_called_then_the_judge_is_read_and_evaluated_on_the_transcript() -> None:
    seen = []

    class Looks(Judge):
        def evaluate(self, transcript: Transcript) -> Scoring:
            seen.append(transcript)
            return Scoring(0.5, {}, True)

    step, transcript = OneStep(Looks()), run("a")
    assert step.score(transcript).score == 0.5
    assert step.order == ["hook", "judge"]
    assert seen == [transcript]


def test_the_transcript_holds_every_event_of_the_run_so_far() -> None:
    events = [StepStartedEvent(step=0), MessageAddedEvent(message=Message(content="a")), StepStartedEvent(step=1)]
    assert Transcript(run_id="r", events=events).events == events


def test_a_scoring_is_made_as_in_the_reference() -> None:
    names: dict[str, object] = {}
    exec(
        example("from chalk.schemas.scoring import Scoring", 'Scoring(score=1.0, metadata={"answer": "42"}, continue_task=True)'),
        names,
    )
    made = names["Scoring"](1.0, {"answer": "42"}, True)  # type: ignore[operator]
    assert (made.score, made.metadata, made.continue_task) == (1.0, {"answer": "42"}, True)


def test_a_scoring_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Scoring(1.0, {}, True).score = 2.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("score", "kept"), [(1, 1.0), (-5, -5.0), (7.5, 7.5), (True, 1.0), (0, 0.0)]
)
def test_a_score_is_any_finite_number(score: float, kept: float) -> None:
    assert Scoring(score, {}, True).score == kept


@pytest.mark.parametrize("score", [float("nan"), float("inf"), "1", None, [1], {}, 10**400, 1j])
def test_a_score_that_is_no_finite_number_is_refused(score: object) -> None:
    with pytest.raises(UnfitScoring, match="`score` must be a finite number"):
        Scoring(score, {}, True)  # type: ignore[arg-type]


@pytest.mark.parametrize("goes_on", [None, "no", 2, [], "true", {}])
def test_continue_task_that_is_neither_true_nor_false_is_refused(goes_on: object) -> None:
    with pytest.raises(UnfitScoring, match="`continue_task` must be true or false"):
        Scoring(1.0, {}, goes_on)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("metadata", "kept"),
    [
        ({"a": (1, [2, {"b": None}])}, {"a": [1, [2, {"b": None}]]}),
        ({"path": Path("/a/b")}, {"path": "/a/b"}),
        ({"half": "\ud800"}, {"half": "\\ud800"}),
    ],
)
def test_metadata_is_data_that_can_be_written(metadata: dict[str, object], kept: dict[str, object]) -> None:
    scoring = Scoring(1.0, metadata, True)
    assert scoring.metadata == kept
    assert json.loads(json.dumps(scoring.as_data())) == {"score": 1.0, "metadata": kept, "continue_task": True}


def endless() -> dict[str, object]:
    circle: dict[str, object] = {}
    circle["a"] = circle
    return circle


@pytest.mark.parametrize(
    "metadata", [None, [], {1: "a"}, {"a": object()}, {"a": float("nan")}, {"a": {"b": b"x"}}, endless(), {"a": {2: 3}}]
)
def test_metadata_that_cannot_be_written_is_refused(metadata: object) -> None:
    with pytest.raises(UnfitScoring, match="metadata"):
        Scoring(1.0, metadata, True)  # type: ignore[arg-type]


def test_later_changes_of_the_callers_metadata_change_nothing() -> None:
    mine = {"a": [1]}
    scoring = Scoring(1.0, mine, True)
    mine["a"].append(2)
    assert scoring.metadata == {"a": [1]}


def test_metadata_that_is_too_long_is_cut_with_a_note() -> None:
    scoring = Scoring(1.0, {"long": "a" * 3_000_000 + "end", "short": "b", **{f"n{n}": "c" * 2**20 for n in range(4)}}, True)
    long = str(scoring.metadata["long"])
    assert len(long) < 2**20 + 100
    assert "characters left out" in long
    assert long.startswith("aaa")
    assert long.endswith("end")
    assert scoring.metadata["short"] == "b"
    assert sum(len(str(value)) for value in scoring.metadata.values()) < 2**22 + 1000


# AlwaysPassJudge


def test_always_pass_judge_scores_1_and_continues() -> None:
    assert AlwaysPassJudge().evaluate(run()) == Scoring(1.0, {}, True)


def test_a_step_that_only_sets_something_up_passes_and_the_next_one_begins() -> None:
    transcript, scored = run(), []
    for step in (OneStep(AlwaysPassJudge()), OneStep(NO), OneStep(YES)):
        scored.append(step.score(transcript))
        if not scored[-1].continue_task:
            break
    assert [scoring.score for scoring in scored] == [1.0, 0.0]


# Combining judges


def test_and_runs_the_judges_in_order_and_stops_at_the_first_that_fails() -> None:
    asked: list[str] = []
    a, b, c = Gives(1, True, asked, "a"), Gives(0.25, False, asked, "b"), Gives(1, True, asked, "c")
    scoring = (a & b & c).evaluate(run())
    assert asked == ["a", "b"]
    assert (scoring.score, scoring.continue_task) == (0.25, False)


def test_and_gives_the_last_scoring_if_all_pass() -> None:
    assert (Gives(1, True) & Gives(0.5, True) & Gives(0.2, True)).evaluate(run()).score == 0.2


def test_or_stops_at_the_first_that_passes() -> None:
    asked: list[str] = []
    a, b, c = Gives(0, False, asked, "a"), Gives(0.75, True, asked, "b"), Gives(1, True, asked, "c")
    scoring = (a | b | c).evaluate(run())
    assert asked == ["a", "b"]
    assert (scoring.score, scoring.continue_task) == (0.75, True)


def test_or_gives_the_last_scoring_if_all_fail() -> None:
    scoring = (Gives(0.1, False) | Gives(0.3, False) | Gives(0.2, False)).evaluate(run())
    assert (scoring.score, scoring.continue_task) == (0.2, False)


def test_pass_and_fail_are_continue_task_and_never_the_score() -> None:
    assert (Gives(0.0, True) & Gives(1.0, False)).evaluate(run()).continue_task is False
    assert (Gives(1.0, False) | Gives(0.0, True)).evaluate(run()).score == 0.0


def test_and_binds_more_tightly_than_or() -> None:
    a, b, c = Gives(1, True), Gives(1, True), Gives(1, True)
    joined = a & b | c
    assert isinstance(joined, OrJudge)
    assert [type(each) for each in joined.judges] == [AndJudge, Gives]
    joined = a | b & c
    assert isinstance(joined, OrJudge)
    assert [type(each) for each in joined.judges] == [Gives, AndJudge]


def test_a_chain_is_one_group_and_a_group_on_the_right_stays_one() -> None:
    a, b, c = Gives(1, True), Gives(1, True), Gives(1, True)
    left, right, mixed = (a & b) & c, a & (b & c), (a | b) & c
    assert left.judges == (a, b, c)
    assert [type(each) for each in right.judges] == [Gives, AndJudge]
    assert [type(each) for each in mixed.judges] == [OrJudge, Gives]
    assert ((a | b) | c).judges == (a, b, c)


def test_nested_groups_decide_like_python() -> None:
    for first in (YES, NO):
        for second in (YES, NO):
            for third in (YES, NO):
                one, two, three = (judge is YES for judge in (first, second, third))
                assert (first & (second | third)).evaluate(run()).continue_task == (one and (two or three))
                assert (first | (second & third)).evaluate(run()).continue_task == (one or (two and three))


class Truthy:
    """As the booleans of an array library are: equal to true, and not it."""

    def __init__(self, value: bool):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return self.value == other

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return self.value


@pytest.mark.parametrize("no", [0, 0.0, Truthy(False)])
def test_what_decides_is_truth_and_not_identity(no: object) -> None:
    assert (Gives(0.1, no) & Gives(1.0, True)).evaluate(run()).score == 0.1


@pytest.mark.parametrize("yes", [1, 1.0, Truthy(True)])
def test_what_decides_is_truth_and_not_identity_in_or(yes: object) -> None:
    assert (Gives(0.9, yes) | Gives(1.0, True)).evaluate(run()).score == 0.9


@pytest.mark.parametrize("other", [5, None, "judge", AlwaysPassJudge])
def test_what_is_no_judge_is_refused_when_it_is_joined(other: object) -> None:
    for join in (lambda: YES & other, lambda: YES | other, lambda: other & YES, lambda: other | YES):
        with pytest.raises(TypeError):
            join()
    with pytest.raises(TypeError, match="takes judges"):
        AndJudge([YES, other])  # type: ignore[list-item]


def test_a_group_without_judges_is_refused() -> None:
    for group in (AndJudge, OrJudge):
        with pytest.raises(ValueError, match="at least one judge"):
            group([])


def test_what_each_judge_found_is_kept_as_data_those_not_reached_too() -> None:
    scoring = (Gives(1, True, answer="42") & (NO | Gives(0.5, False, why="late")) & YES).evaluate(run())
    assert scoring.metadata == {
        "judges": [
            {"judge": "Gives", "group": False, "outcome": "scored", "score": 1.0, "continue_task": True, "metadata": {"answer": "42"}},
            {
                "judge": "Or", "group": True, "outcome": "scored", "score": 0.5, "continue_task": False,
                "metadata": {
                    "judges": [
                        {"judge": "Gives", "group": False, "outcome": "scored", "score": 0.0, "continue_task": False, "metadata": {}},
                        {"judge": "Gives", "group": False, "outcome": "scored", "score": 0.5, "continue_task": False, "metadata": {"why": "late"}},
                    ]
                },
            },
            {"judge": "Gives", "group": False, "outcome": "not evaluated"},
        ]
    }  # fmt: skip


def test_the_tree_of_text_is_a_view_that_nobody_can_forge() -> None:
    forged = Gives(0, False, note="x\n└─ ✔ Gives (score: 1.0)", judges="✔ And (score: 1)\n│")
    judge = Gives(1, True, n=None) & (forged | NO) & YES
    assert judge_text(judge, judge.evaluate(run())).splitlines() == [
        "❗ And (score: 0.0)",
        "│",
        "├─ ✔ Gives (score: 1.0)",
        "│    n: null",
        "├─ ❗ Or (score: 0.0)",
        "│  │",
        "│  ├─ ❗ Gives (score: 0.0)",
        "│  │    note: x\\n└─ ✔ Gives (score: 1.0)",
        "│  │    judges: ✔ And (score: 1)\\n│",
        "│  └─ ❗ Gives (score: 0.0)",
        "└─ ⊘ Gives (not evaluated)",
    ]


def test_misbehaviour_wins_over_all_beside_it_and_what_was_found_before_is_kept() -> None:
    cheat = Raises(StudentMisbehaviorError("a link to the key"))
    for judge in (YES & cheat, NO | cheat, cheat | YES, (NO | cheat) | YES):
        with pytest.raises(StudentMisbehaviorError, match="a link to the key") as raised:
            judge.evaluate(run())
        entries = raised.value.metadata["judges"]
        assert any(entry["outcome"] == "misbehavior" for entry in entries)
    assert (NO & cheat).evaluate(run()).score == 0.0


@pytest.mark.parametrize(
    ("lost", "category", "reason"),
    [
        (Raises(UnmeasuredError("network", "the model is down")), "network", "the model is down"),
        (Raises(KeyError("x")), "harness", "`Raises` broke: KeyError: 'x'"),
        (Cannot(None), "harness", "`Cannot` gave None in place of a `Scoring`"),
        (Cannot(1.0), "harness", "`Cannot` gave 1.0 in place of a `Scoring`"),
    ],
)
def test_a_judge_that_could_not_judge_is_never_a_low_score_and_never_a_pass(
    lost: Judge, category: str, reason: str
) -> None:
    for judge in (lost & YES, YES & lost, lost | NO, NO | lost):
        with pytest.raises(UnmeasuredError) as raised:
            judge.evaluate(run())
        assert (raised.value.category, raised.value.reason) == (category, reason)
        assert [entry["outcome"] for entry in raised.value.metadata["judges"]].count("scored") == 1
    assert (lost & NO).evaluate(run()).continue_task is False
    assert (lost | YES).evaluate(run()).continue_task is True


def test_what_a_group_within_a_group_found_before_it_could_not_judge_is_kept() -> None:
    inner = Gives(0.5, True, answer="42") & Raises(UnmeasuredError("network", "down", metadata={"asked": 3}))
    for judge in (YES & inner, NO | inner):
        for ask in (judge.evaluate, OneStep(judge).score):
            with pytest.raises(UnmeasuredError, match="down") as raised:
                ask(run())
            parts = raised.value.metadata["judges"][1]["metadata"]["judges"]
            assert [part["outcome"] for part in parts] == ["scored", "unmeasured"]
            assert [part["metadata"] for part in parts] == [{"answer": "42"}, {"asked": 3}]


def test_an_unmeasured_error_names_a_category_that_there_is() -> None:
    with pytest.raises(Exception, match="`infra` isn't a category"):
        UnmeasuredError("infra", "x")  # type: ignore[arg-type]


# Writing your own judge


def test_the_example_of_an_own_judge_runs_and_composes() -> None:
    names: dict[str, object] = {}
    last = "        return Scoring(score=float(passed), metadata={\"last_message\": last}, continue_task=passed)"
    exec(example("from typing import override", last), names)
    judge = names["FinalMessageJudge"]("42")  # type: ignore[operator]
    assert judge.evaluate(run("one", "it is 42")) == Scoring(1.0, {"last_message": "it is 42"}, True)
    assert judge.evaluate(run("42", "two")) == Scoring(0.0, {"last_message": "two"}, False)
    assert judge.evaluate(run()) == Scoring(0.0, {"last_message": ""}, False)
    assert (AlwaysPassJudge() & judge).evaluate(run("42")).score == 1.0
    assert (judge | AlwaysPassJudge()).evaluate(run("43")).continue_task is True


def test_everything_that_the_page_covers_is_imported_from_the_package() -> None:
    import rulebook.judges

    shipped = ("ExecutableJudge", "RubricJudge", "RegexJudge", "AlwaysPassJudge")
    for name in shipped:
        assert issubclass(getattr(rulebook.judges, name), rulebook.judges.Judge)
        assert name in rulebook.judges.__all__
    for name in ("FileContext", "TranscriptContext"):
        assert issubclass(getattr(rulebook.judges, name), rulebook.judges.RubricContext)


def test_a_judge_without_evaluate_cannot_be_made() -> None:
    class Half(Judge):
        pass

    with pytest.raises(TypeError):
        Half()  # type: ignore[abstract]


def test_the_example_of_combining_is_joined_as_it_reads() -> None:
    source = example("RegexJudge([re.compile(r\"answer: 42\")]) & ExecutableJudge([...])", "RegexJudge([re.compile(r\"answer: 42\")]) & ExecutableJudge([...])")
    import re

    from rulebook.judges import ExecutableJudge

    command = ["sh", "-c", 'printf \'{"score": 0.5, "metadata": {}}\' > "$0"', "s.json"]
    joined = eval(
        source.replace("[...]", "command"),
        {"re": re, "RegexJudge": RegexJudge, "ExecutableJudge": ExecutableJudge, "command": command},
    )
    assert joined.evaluate(run("the answer: 42")).score == 0.5
    assert joined.evaluate(run("the answer: 41")).score == 0.0


# Student misbehavior


def test_misbehaviour_scores_0_and_does_not_fail_the_run() -> None:
    names: dict[str, object] = {"path": "/x"}
    with pytest.raises(StudentMisbehaviorError, match="/x is a symlink") as raised:
        exec(example("from chalk import StudentMisbehaviorError", 'raise StudentMisbehaviorError(f"{path} is a symlink")'), names)
    for step in (OneStep(Raises(raised.value)), OneStep(YES, raised.value)):
        assert step.score(run()) == Scoring(0.0, {"misbehavior": "/x is a symlink"}, False)


def test_misbehaviour_while_the_judge_is_read_scores_0_too() -> None:
    class Reads(OneStep):
        @property
        def judge(self) -> Judge:
            raise StudentMisbehaviorError("odd")

    assert Reads(YES).score(run()).metadata == {"misbehavior": "odd"}


def test_misbehaviour_in_a_group_keeps_what_was_found_before() -> None:
    scoring = OneStep(Gives(1, True, a="b") & Raises(StudentMisbehaviorError("a FIFO"))).score(run())
    assert (scoring.score, scoring.continue_task, scoring.metadata["misbehavior"]) == (0.0, False, "a FIFO")
    assert scoring.metadata["judges"][0]["metadata"] == {"a": "b"}  # type: ignore[index]


def test_half_a_character_in_the_message_can_be_written() -> None:
    scoring = OneStep(Raises(StudentMisbehaviorError(os.fsdecode(b"\xff is odd")))).score(run())
    assert scoring.metadata == {"misbehavior": "\\udcff is odd"}


def test_what_could_not_be_judged_is_no_score() -> None:
    with pytest.raises(UnmeasuredError, match="down"):
        OneStep(Raises(UnmeasuredError("network", "down"))).score(run())
    with pytest.raises(UnmeasuredError, match="broke: KeyError"):
        OneStep(Raises(KeyError("x"))).score(run())


def test_a_fault_of_the_hook_is_an_error_and_no_score() -> None:
    with pytest.raises(ZeroDivisionError):
        OneStep(YES, ZeroDivisionError()).score(run())


# Steps and tasks


def test_submission_paths_are_a_tuple_of_absolute_paths() -> None:
    def step(paths: object) -> Step:
        return type("S", (OneStep,), {"submission_paths": property(lambda _: paths)})(YES)

    assert step((Path("/a"),)).score(run()).score == 1.0
    assert OneStep(YES).submission_paths is None
    for paths in ([Path("/a")], Path("/a")):
        with pytest.raises(TypeError, match="must be a tuple of paths"):
            step(paths).score(run())
    for paths in ((Path("a"),), ("/a",)):
        with pytest.raises(ValueError, match="no absolute `Path`"):
            step(paths).score(run())


@pytest.mark.parametrize(("base", "name"), [(Step, "judge"), (Step, "instructions"), (Task, "steps"), (Step, "submission_paths")])
def test_a_plain_method_in_place_of_a_property_is_refused_when_the_class_is_made(base: type, name: str) -> None:
    with pytest.raises(TypeError, match=f"`Own.{name}` must be a property"):
        type("Own", (base,), {name: lambda _: None})


def test_a_tasks_paths_are_those_of_its_steps_each_once() -> None:
    def step(*paths: str) -> Step:
        given = tuple(map(Path, paths))
        return type("S", (OneStep,), {"submission_paths": property(lambda _: given)})(YES)

    steps = [step("/a", "/b"), OneStep(YES), step("/b", "/c")]
    task = type("T", (Task,), {"steps": property(lambda _: steps)})()
    assert task.submission_paths == (Path("/a"), Path("/b"), Path("/c"))
    assert task.system_prompt is None
    assert task.pre_hook() == {}
