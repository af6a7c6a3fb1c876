"""Scorers reference: "LLM judges" and "Escalating judges", sentence by sentence, against a server on loopback."""

import json
from pathlib import Path
from typing import Any

import pytest
from alone import alone  # noqa: F401
from model_server import Act, Handler, endpoint, gives, says
from pydantic import BaseModel, Field
from pydantic import v1 as older

import rulebook
from rulebook import Evaluation, EvaluationScorerResult, UnmeasuredError, scorers
from rulebook.api.own_machine import own_ports
from rulebook.api.secrets import EndpointGiven, endpoint_given
from rulebook.errors import UnfitKind, UnfitOption
from rulebook.spec.providers import OPENAI, Providers

pytestmark = pytest.mark.usefixtures("alone")


class TraceQuality(BaseModel):
    score: float = Field(ge=0, le=1, description="Overall quality.")
    directness: int = Field(ge=0, le=2)
    reason: str


class OlderQuality(older.BaseModel):
    score: float = older.Field(ge=0, le=1, description="Overall quality.")
    directness: int = older.Field(ge=0, le=2)
    reason: str


GOOD = json.dumps({"score": 0.5, "directness": 2, "reason": "so"})


@pytest.mark.parametrize(("answer", "name"), [(TraceQuality, "trace-quality"), (OlderQuality, "older-quality")])
def test_a_model_of_either_version_says_what_is_asked_for_and_what_is_taken(answer: Any, name: str) -> None:
    bad = json.dumps({"score": 0.5, "directness": 3, "reason": "so"})
    with endpoint(says(GOOD), says(bad)) as server:
        judge = scorers.llm_judge(answer, model="m", base_url=server.url)
        assert (judge.name, judge(output="a")) == (name, EvaluationScorerResult(0.5, {"directness": 2, "reason": "so"}))
        with pytest.raises(UnmeasuredError, match=f"does not fit `{answer.__name__}`: `directness`"):
            judge(output="b")
        shape = server.bodies[0]["response_format"]["json_schema"]["schema"]
        assert (shape["required"], shape["properties"]["score"]["description"]) == (["score", "directness", "reason"], "Overall quality.")
        assert "Overall quality." in server.bodies[0]["messages"][-1]["content"]


def test_a_score_alone_leaves_no_metadata() -> None:
    class Bare(BaseModel):
        score: float

    with endpoint(says('{"score": 1}')) as server:
        assert scorers.llm_judge(Bare, model="m", base_url=server.url)(output="a") == EvaluationScorerResult(1.0, None)


def test_a_class_without_a_score_and_what_is_no_class_are_refused() -> None:
    class Rating(older.BaseModel):
        rating: float

    with pytest.raises(UnfitOption, match="`Rating` needs a field `score`"):
        scorers.llm_judge(Rating, model="m")
    for given in (TraceQuality(score=1, directness=1, reason=""), "TraceQuality", None):
        with pytest.raises(UnfitKind, match="a pydantic model, a class"):
            scorers.llm_judge(given, model="m")  # type: ignore[arg-type]


class HTTPQuality2(TraceQuality):
    """A name with capitals in a row."""


@pytest.mark.parametrize(("answer", "name"), [(TraceQuality, "trace-quality"), (HTTPQuality2, "httpquality2")])
def test_the_name_is_that_of_the_class_in_kebab_case_unless_another_is_chosen(answer: type[BaseModel], name: str) -> None:
    assert scorers.llm_judge(answer, model="m").name == name
    assert scorers.llm_judge(answer, model="m", name="other").name == "other"
    with pytest.raises(UnfitOption, match="Write `trace-quality`"):
        scorers.llm_judge(answer, model="m", name="Trace Quality")


def test_a_judge_reads_the_output_unless_other_columns_are_named() -> None:
    assert scorers.llm_judge(TraceQuality, model="m").inputs == ("output",)
    with endpoint(says(GOOD)) as server:
        judge = scorers.llm_judge(TraceQuality, model="m", inputs=("question", "output"), base_url=server.url)
        judge(question="why?", output="because")
        asked = server.bodies[0]["messages"][-1]["content"]
    assert asked.index("## question") < asked.index("why?") < asked.index("## output") < asked.index("because")


def test_instructions_are_a_message_of_their_own_where_there_are_any() -> None:
    with endpoint(says(GOOD)) as server:
        scorers.llm_judge(TraceQuality, model="m", base_url=server.url)(output="a")
        scorers.llm_judge(TraceQuality, model="m", instructions="Be strict.", base_url=server.url)(output="a")
        assert [[message["role"] for message in body["messages"]] for body in server.bodies] == [["user"], ["system", "user"]]


def test_prompt_fn_replaces_the_prompt_and_parse_fn_the_structured_output() -> None:
    def ask(answer: type[BaseModel], output: str, expected: str) -> str:
        return f"{', '.join(answer.model_fields)}: {output} or {expected}?"

    def read(text: str) -> dict[str, object]:
        score, reason = text.split(" ", 1)
        return {"score": score, "directness": 1, "reason": reason}

    with endpoint(says("0.25 since it is short"), says(GOOD)) as server:
        options: dict[str, Any] = {"model": "m", "inputs": ("output", "expected"), "prompt_fn": ask, "base_url": server.url}
        own = scorers.llm_judge(TraceQuality, parse_fn=read, **options)
        assert own(output="a", expected="b") == EvaluationScorerResult(0.25, {"directness": 1, "reason": "since it is short"})
        scorers.llm_judge(TraceQuality, **options)(output="a", expected="b")
        assert ["response_format" in body for body in server.bodies] == [False, True]
        assert {body["messages"][-1]["content"] for body in server.bodies} == {"score, directness, reason: a or b?"}


@pytest.mark.parametrize("answer", [TraceQuality, OlderQuality])
def test_parse_fn_may_give_an_instance(answer: Any) -> None:
    with endpoint(says("0.75"), says("7")) as server:
        given: dict[str, Any] = {"model": "m", "base_url": server.url}
        judge = scorers.llm_judge(answer, parse_fn=lambda text: answer(score=text, directness=0, reason="own"), **given)
        assert judge(output="a").score == 0.75
        with pytest.raises(ValueError, match="less than or equal to 1"):
            judge(output="b")


def test_completion_kwargs_go_with_every_request_of_either_judge() -> None:
    given = {"temperature": 0, "max_tokens": 400}
    with endpoint(unsure) as server:
        scorers.llm_judge(TraceQuality, model="m", completion_kwargs=given, base_url=server.url)
        label_judge(server.url, completion_kwargs=given)(output="a")
        assert len(server.bodies) == 2
        assert all(given.items() <= body.items() for body in server.bodies)


def test_with_neither_key_nor_address_the_default_provider_is_asked(tmp_path: Path) -> None:
    with endpoint(unsure) as server:
        text = f'[[providers]]\nname = "gateway"\nbase_url = "{server.url}"\napi_key_env = "GATEWAY"\n'
        (tmp_path / "rulebook.toml").write_text(text, encoding="utf-8")
        judge = label_judge(None)
        with pytest.raises(UnmeasuredError, match="`GATEWAY` is not set"):
            judge(output="a")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GATEWAY", "of the gateway")
            own_ports.cache_clear()
            assert judge(output="a").score == 0.0
        assert [(body["model"], head["authorization"]) for body, head in zip(server.bodies, server.headers, strict=True)] == [
            ("small", "Bearer of the gateway"), ("large", "Bearer of the gateway")
        ]  # fmt: skip


def test_with_no_provider_there_is_a_clear_error_and_no_score() -> None:
    judge = scorers.llm_judge(TraceQuality, model="gpt-5")
    with pytest.raises(UnmeasuredError, match="nothing says which provider has the model `gpt-5`. Write it like `openai/gpt-5`"):
        judge(output="a")
    run = Evaluation.create("none", dataset=[{"output": "a"}], scorers=[judge]).run()
    assert (run.means(), run.table()["trace-quality"].failed) == ({"trace-quality": None}, 1)


def test_a_gateway_is_asked_for_models_by_their_makers_where_it_has_them(tmp_path: Path) -> None:
    with endpoint(says(GOOD)) as server:
        text = f'[[providers]]\nname = "gateway"\nbase_url = "{server.url}"\nmodels = {{"openai/gpt-5" = "openai/gpt-5"}}\n'
        (tmp_path / "rulebook.toml").write_text(text, encoding="utf-8")
        assert scorers.llm_judge(TraceQuality, model="openai/gpt-5")(output="a").score == 0.5
        assert server.bodies[0]["model"] == "openai/gpt-5"
    assert Providers().chosen("openai/gpt-5", None, None).provider is OPENAI


def test_an_address_is_asked_with_the_key_that_is_named_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    with endpoint(says(GOOD)) as server, endpoint(gives(500, {})) as gateway:
        (tmp_path / "rulebook.toml").write_text(f'[[providers]]\nname = "g"\nbase_url = "{gateway.url}"\n', encoding="utf-8")
        scorers.llm_judge(TraceQuality, model="m", base_url=server.url)(output="a")
        judge = scorers.llm_judge(TraceQuality, model="m", base_url=server.url, api_key=rulebook.Secret("JUDGE_KEY"))
        with pytest.raises(UnmeasuredError, match="`JUDGE_KEY` is not set"):
            judge(output="b")
        monkeypatch.setenv("JUDGE_KEY", "named")
        judge(output="c")
        assert [head["authorization"] for head in server.headers] == ["Bearer none", "Bearer named"]
        assert gateway.bodies == []


def test_a_key_alone_means_openai() -> None:
    assert endpoint_given(None, rulebook.Secret("MY_KEY")) == EndpointGiven("https://api.openai.com/v1", "MY_KEY")
    found = Providers().chosen("gpt-5", *endpoint_given(None, rulebook.Secret("MY_KEY")))
    assert (found.provider.base_url, found.provider.api_key_env, found.model) == ("https://api.openai.com/v1", "MY_KEY", "gpt-5")
    for judge in (scorers.llm_judge(TraceQuality, model="gpt-5", api_key=rulebook.Secret("MY_KEY")), label_judge(None, api_key=rulebook.Secret("MY_KEY"))):
        with pytest.raises(UnmeasuredError, match=r"`https://api\.openai\.com/v1` is missing: the variable `MY_KEY`"):
            judge(output="a")


def test_a_key_itself_is_never_an_option() -> None:
    for declare in (lambda **given: scorers.llm_judge(TraceQuality, model="m", **given), lambda **given: label_judge(None, **given)):
        with pytest.raises(UnfitKind, match=r"rulebook\.Secret") as caught:
            declare(api_key="sk-0123456789")
        assert "0123456789" not in str(caught.value)


def test_other_keywords_are_those_of_a_function(tmp_path: Path) -> None:  # noqa: ARG001
    resources = {"image": "python:3.12", "cpu": "1", "memory": "2Gi"}
    with endpoint(says("?"), says("?"), says(GOOD)) as server:
        judge = scorers.llm_judge(TraceQuality, model="m", base_url=server.url, retries=2, **resources)
        assert (judge.retries, judge.without_effect) == (2, ("image", "cpu", "memory"))
        assert (judge(output="a").score, len(server.bodies)) == (0.5, 3)
    with endpoint(says("?"), says("?"), says(GOOD)) as server:
        judge = scorers.llm_judge(TraceQuality, model="m", base_url=server.url, retries=1, **resources)
        with pytest.raises(UnmeasuredError):
            judge(output="b")
        assert len(server.bodies) == 2
    with pytest.raises(UnfitKind, match="`llm_judge` does not know `temprature`"):
        scorers.llm_judge(TraceQuality, model="m", temprature=0)
    with pytest.raises(UnfitKind, match="`jev` does not know `treshold`. Did you mean `threshold`"):
        label_judge(None, treshold=0.5)


MALFORMED: list[Act] = [
    says("{"), says("0.5"), says("[]"), says('{"score": "high", "directness": 1, "reason": ""}'), says('{"score": 0.5, "directness": 1}'),
    says('{"score": 1.01, "directness": 1, "reason": ""}'), says('{"score": NaN, "directness": 1, "reason": ""}'), says(""),
    says(None), says(GOOD, refusal="no"), says(GOOD, "length"), says(GOOD, "content_filter"), gives(400, {}),
]  # fmt: skip


@pytest.mark.parametrize("reply", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_grade_fails_the_row_and_is_no_score(reply: Act) -> None:
    with endpoint(reply) as server:
        judge = scorers.llm_judge(TraceQuality, model="m", base_url=server.url)
        run = Evaluation.create("bad", dataset=[{"output": "a"}], scorers=[judge]).run()
    assert run.means() == {"trace-quality": None}
    assert (run.table()["trace-quality"].failed, run.table()["trace-quality"].rows) == (1, 0)


LABELS = {"good": 1.0, "so so": 0.5, "bad": 0.0}


def grade(choice: str, *shares: object) -> str:
    weights = [{"label": label, "probability": share} for label, share in zip(LABELS, shares, strict=False)]
    return json.dumps({"choice": choice, "rationale": "because", "probabilities": weights})


def unsure(handler: Handler) -> None:
    small = handler.body["model"] == "small"
    says(grade("so so", 0.2, 0.7, 0.1) if small else grade("bad", 0.3, 0.3, 0.4))(handler)


def label_judge(url: str | None, **options: Any) -> Any:
    given = {"labels": LABELS, "rubric": "good: as asked. so so: nearly. bad: else.", "model": "small", "fallback_model": "large"}
    return scorers.jev(**{**given, "base_url": url, **options})


def test_the_first_model_gives_a_label_and_a_probability_of_each() -> None:
    with endpoint(says(grade("good", 0.95, 0.03, 0.02))) as server:
        found = label_judge(server.url)(output="a")
        asked = server.bodies[0]["messages"][-1]["content"]
        shape = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert found.score == 1.0
    assert found.metadata == {
        "choice": "good", "rationale": "because", "confidence": 0.95, "escalated": False, "judge_model": "small",
        "probabilities": {"GOOD": 0.95, "SO SO": 0.03, "BAD": 0.02}, "primary_confidence": 0.95,
    }  # fmt: skip
    assert "good: as asked. so so: nearly. bad: else." in asked
    assert all(label in asked for label in LABELS)
    assert set(shape["properties"]) == {"choice", "rationale", "probabilities"}


@pytest.mark.parametrize(("threshold", "escalated"), [({}, True), ({"threshold": 0.7}, False), ({"threshold": 0.71}, True), ({"threshold": 1}, True)])
def test_below_the_threshold_the_second_model_grades_again_and_its_grade_stands(threshold: dict[str, float], escalated: bool) -> None:
    with endpoint(unsure) as server:
        found = label_judge(server.url, **threshold)(output="a")
        assert [body["model"] for body in server.bodies] == ["small", "large"][: 1 + escalated]
    assert (found.score, found.metadata["escalated"]) == ((0.0, True) if escalated else (0.5, False))
    assert found.metadata["primary_confidence"] == pytest.approx(0.7)
    assert found.metadata["judge_model"] == ("large" if escalated else "small")


def test_the_threshold_is_0_9_where_none_is_given() -> None:
    for share, asked in ((0.9, 1), (0.89, 2)):
        with endpoint(says(grade("good", share, 0, 1 - share))) as server:
            label_judge(server.url)(output="a")
            assert len(server.bodies) == asked


@pytest.mark.parametrize(
    "labels", [{"good": 1.0}, {}, ["good", "bad"], {"good": 1.0, "bad": -0.1}, {"good": 1.0, "bad": True}, {"good": 1, "GOOD.": 0}, {"good": 1, " ": 0}]
)
def test_labels_are_two_or_more_with_scores_between_0_and_1(labels: Any) -> None:
    with pytest.raises(UnfitOption, match="label"):
        label_judge(None, labels=labels)


@pytest.mark.parametrize(("rubric", "error"), [("", UnfitOption), ("  ", UnfitOption), (None, UnfitKind)])
def test_a_rubric_says_what_the_labels_mean(rubric: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="`rubric`"):
        label_judge(None, rubric=rubric)


@pytest.mark.parametrize("choice", ["good", "GOOD", " Good. "])
def test_labels_match_whatever_their_case(choice: str) -> None:
    with endpoint(says(grade(choice, 1, 0, 0))) as server:
        found = label_judge(server.url)(output="a")
        assert (found.score, found.metadata["choice"], len(server.bodies)) == (1.0, choice, 1)


def test_a_label_outside_goes_on_to_the_second_model_and_from_there_fails_the_row() -> None:
    with endpoint(says(grade("great", 1, 0, 0)), says(grade("good", 1, 0, 0))) as server:
        found = label_judge(server.url, both_grades=True)(output="a")
        assert (found.score, found.metadata["escalated"], found.metadata["primary_confidence"]) == (1.0, True, 0.0)
        assert (found.metadata["primary_choice"], found.metadata["primary_score"]) == ("great", None)
    with endpoint(says(grade("great", 1, 0, 0))) as server:
        with pytest.raises(UnmeasuredError, match="great"):
            label_judge(server.url)(output="a")
        assert len(server.bodies) == 2


@pytest.mark.parametrize("shares", [(50, 30, 20), (5, 3, 2), (0.05, 0.03, 0.02)])
def test_probabilities_are_shares_of_their_sum(shares: tuple[float, ...]) -> None:
    with endpoint(says(grade("good", *shares))) as server:
        found = label_judge(server.url, threshold=0.5)(output="a")
    assert found.metadata["probabilities"] == {"GOOD": pytest.approx(0.5), "SO SO": pytest.approx(0.3), "BAD": pytest.approx(0.2)}
    assert found.metadata["confidence"] == pytest.approx(0.5)


def test_it_is_called_jev_and_reads_the_output_unless_told_otherwise() -> None:
    judge = label_judge(None)
    assert (judge.name, judge.inputs, judge.options["threshold"]) == ("jev", ("output",), 0.9)
    assert label_judge(None, name="other", inputs=("a", "b")).inputs == ("a", "b")


def test_its_instructions_and_resources_are_as_for_the_other_judge() -> None:
    with endpoint(unsure) as server:
        judge = label_judge(server.url, instructions="Be strict.", image="x", retries=1)
        judge(output="a")
        assert [body["messages"][0] for body in server.bodies] == [{"role": "system", "content": "Be strict."}] * 2
    assert (judge.retries, judge.without_effect) == (1, ("image",))


def test_the_documents_say_that_the_probabilities_are_not_calibrated() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scorers.md").read_text(encoding="utf-8")
    assert "The probabilities are what a model says of itself, and are not calibrated" in page
