"""Scorers that ask a model, as Python authors hold them, against a real server on loopback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import Handler, endpoint, gives

import rulebook
from rulebook import EvaluationScorerResult, UnmeasuredError, scorers
from rulebook.api.own_machine import own_ports


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    own_ports.cache_clear()
    yield
    own_ports.cache_clear()


def by_length(handler: Handler) -> None:
    data = [{"embedding": [float(len(text)), 1.0]} for text in handler.body["input"]]
    gives(200, {"data": data})(handler)


def test_rows_are_embedded_together() -> None:
    rows: list[dict[str, Any]] = [{"output": "a", "expected": "b"}, {"output": "a"}, {"output": "cc", "expected": "a"}]
    with endpoint(by_length) as server:
        scorer = scorers.embedding_similarity(base_url=server.url)
        first, gap, last = scorer.score_rows(rows)
        assert [body["input"] for body in server.bodies] == [["a", "b", "cc"]]
    assert isinstance(first, EvaluationScorerResult)
    assert isinstance(last, EvaluationScorerResult)
    assert [first.score, last.score] == pytest.approx([1.0, 3 / 10**0.5])
    assert gap == scorers.RowFailure("UnfitKind", "the row has no column `expected`, which the scorer `embedding-similarity` reads")


def test_a_row_without_an_answer_fails_and_is_no_score() -> None:
    with endpoint(gives(400, {"error": {"message": "no"}})) as server:
        scorer = scorers.embedding_similarity(base_url=server.url)
        with pytest.raises(UnmeasuredError, match="status 400: no"):
            scorer(output="a", expected="b")
        failed, equal = scorer.score_rows([{"output": "a", "expected": "b"}, {"output": "a", "expected": "a"}])
    assert isinstance(failed, scorers.RowFailure)
    assert failed.type == "UnmeasuredError"
    assert equal == EvaluationScorerResult(1.0, {"cosine": 1.0})


def test_retries_ask_about_the_failed_rows_again() -> None:
    with endpoint(gives(400, {}), by_length) as server:
        found = scorers.embedding_similarity(base_url=server.url, retries=1)(output="a", expected="b")
        assert found.score == pytest.approx(1.0)
        assert len(server.bodies) == 2


def test_without_an_endpoint_there_is_a_clear_error() -> None:
    with pytest.raises(UnmeasuredError, match="which provider has the model `text-embedding-3-small`"):
        scorers.embedding_similarity()(output="a", expected="b")


def test_the_default_provider_is_asked_where_no_other_is_named(tmp_path: Path) -> None:
    with endpoint(by_length) as server:
        (tmp_path / "rulebook.toml").write_text(f'[[providers]]\nname = "here"\nbase_url = "{server.url}"\n')
        assert scorers.embedding_similarity(model="m")(output="a", expected="b").score == pytest.approx(1.0)
        assert server.bodies[0]["model"] == "m"


def test_a_key_is_read_when_a_row_is_scored_and_sent_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    with endpoint(by_length) as server:
        named = scorers.embedding_similarity(base_url=server.url, api_key=rulebook.Secret("LOCAL_KEY"))
        with pytest.raises(UnmeasuredError, match="`LOCAL_KEY` is not set"):
            named(output="a", expected="b")
        monkeypatch.setenv("LOCAL_KEY", "local")
        named(output="a", expected="b")
        scorers.embedding_similarity(base_url=server.url)(output="a", expected="c")
        assert [headers["authorization"] for headers in server.headers] == ["Bearer local", "Bearer none"]


def test_a_key_alone_is_openais() -> None:
    with pytest.raises(UnmeasuredError, match=r"`https://api\.openai\.com/v1` is missing: the variable `NO_SUCH_KEY`"):
        scorers.embedding_similarity(api_key=rulebook.Secret("NO_SUCH_KEY"))(output="a", expected="b")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"api_key": "sk-123"}, TypeError, "rulebook.Secret"),
        ({"base_url": 5}, TypeError, "must be text"),
        ({"base_url": "here"}, ValueError, "is no address"),
        ({"model": None}, TypeError, "`model` must be text"),
        ({"modle": "m"}, TypeError, "Did you mean `model`"),
    ],
)
def test_wrong_options_are_refused_when_declared(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        scorers.embedding_similarity(**options)


@pytest.mark.parametrize(("name", "error"), [(5, TypeError), ("", ValueError), ("sk-0123456789abcdefABC", ValueError)])
def test_a_secret_is_the_name_of_a_variable(name: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="Secret"):
        rulebook.Secret(name)
