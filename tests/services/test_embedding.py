"""Vectors of texts by the configuration, against a real server on loopback: parcels, kept ones, and what goes wrong."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import Act, Handler, endpoint, gives

from rulebook.model_port import EmbeddingRequest, ModelFailure
from rulebook.outcome import Spent
from rulebook.services.files import MachineFiles
from rulebook.services.model_cache import vector_in, vector_text
from rulebook.services.model_embedding import MOST_CHARACTERS, MOST_TEXTS
from rulebook.services.models import MachineModels


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))


def models(tmp_path: Path, url: str, more: str = "", provider: str = "") -> MachineModels:
    (tmp_path / "rulebook.toml").write_text(
        f'[models]\n{more}\n[[providers]]\nname = "here"\nbase_url = "{url}"\nmodels = {{vectors = "embed-1"}}\n{provider}\n'
    )
    return MachineModels(str(tmp_path), MachineFiles())


def vectors(wanted: Callable[[str], Any] = lambda text: [float(len(text)), 1.0], turned: bool = False) -> Act:
    """Answer each text with its length; `turned`: the last one first, each with its index."""

    def act(handler: Handler) -> None:
        data = [{"index": index, "embedding": wanted(text)} for index, text in enumerate(handler.body["input"])]
        body = {"data": data[::-1] if turned else data, "usage": {"prompt_tokens": 10, "total_tokens": 10}}
        gives(200, body)(handler)

    return act


def wanting(*texts: str) -> EmbeddingRequest:
    return EmbeddingRequest(texts, "vectors")


def test_texts_go_together_and_a_text_twice_goes_once(tmp_path: Path) -> None:
    price = 'prices = {embed-1 = {input = 2.0, output = 0.0}}'
    with endpoint(vectors()) as server:
        found = models(tmp_path, server.url, provider=price).embed(wanting("a", "bb", "a"))
        assert found.vectors == [(1.0, 1.0), (2.0, 1.0), (1.0, 1.0)]
        assert found.spent == Spent(1, 0, 10, 0, costs={"USD": 0.00002})
        assert server.bodies == [{"model": "embed-1", "input": ["a", "bb"], "encoding_format": "float"}]
        assert server.paths == ["/embeddings"]


def test_vectors_come_in_any_order(tmp_path: Path) -> None:
    with endpoint(vectors(turned=True)) as server:
        assert models(tmp_path, server.url).embed(wanting("a", "bb", "ccc")).vectors == [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]


def test_a_vector_is_kept_for_the_next_run(tmp_path: Path) -> None:
    with endpoint(vectors(lambda text: [0.1, -1e-300])) as server:
        models(tmp_path, server.url).embed(wanting("a"))
        found = models(tmp_path, server.url).embed(wanting("a", "b"))
        assert found.vectors == [(0.1, -1e-300), (0.1, -1e-300)]
        assert (found.spent.calls, found.spent.cached) == (1, 1)
        assert [body["input"] for body in server.bodies] == [["a"], ["b"]]


def test_many_texts_go_in_parcels(tmp_path: Path) -> None:
    texts = [f"{number}" for number in range(MOST_TEXTS + 1)]
    with endpoint(vectors()) as server:
        found = models(tmp_path, server.url, "cache = false").embed(wanting(*texts, "x" * MOST_CHARACTERS))
        assert [vector[0] for vector in found.vectors if isinstance(vector, tuple)] == [*map(len, texts), MOST_CHARACTERS]
        assert sorted(len(body["input"]) for body in server.bodies) == [1, 1, MOST_TEXTS]


def test_a_text_that_is_too_long_fails_alone(tmp_path: Path) -> None:
    def act(handler: Handler) -> None:
        if any(len(text) > 5 for text in handler.body["input"]):
            gives(400, {"error": {"message": "maximum context length is 5 tokens"}})(handler)
        else:
            vectors()(handler)

    with endpoint(act) as server:
        found = models(tmp_path, server.url).embed(wanting("a", "bb", "too long", "cccc"))
        assert [isinstance(vector, ModelFailure) for vector in found.vectors] == [False, False, True, False]


@pytest.mark.parametrize(
    ("embedding", "why"),
    [
        (lambda text: [], "no list of finite numbers"),
        (lambda text: None, "no list of finite numbers"),
        (lambda text: ["1"], "no list of finite numbers"),
        (lambda text: [True], "no list of finite numbers"),
        (lambda text: [float("nan")], "no list of finite numbers"),
        (lambda text: [10**400], "no list of finite numbers"),
        (lambda text: [1.0] * len(text), "different lengths"),
    ],
    ids=range(7),
)
def test_what_is_no_vector_is_no_answer_and_not_kept(tmp_path: Path, embedding: Callable[[str], Any], why: str) -> None:
    with endpoint(vectors(embedding)) as server:
        for _ in range(2):
            found = models(tmp_path, server.url).embed(wanting("a", "bb"))
            assert all(isinstance(vector, ModelFailure) and why in vector.reason for vector in found.vectors)
        assert len(server.bodies) == 2


@pytest.mark.parametrize("body", [b"{", {"data": []}, {"data": [{"embedding": [1.0]}]}, {}, []], ids=range(5))
def test_an_answer_without_a_vector_for_each_text(tmp_path: Path, body: Any) -> None:
    with endpoint(gives(200, body)) as server:
        found = models(tmp_path, server.url).embed(wanting("a", "bb"))
        assert all(isinstance(vector, ModelFailure) for vector in found.vectors)


def test_the_budget_holds_for_vectors_too(tmp_path: Path) -> None:
    with endpoint(vectors()) as server:
        asked = models(tmp_path, server.url, "max_calls = 1")
        asked.embed(wanting("a"))
        (failure,) = asked.embed(wanting("b")).vectors
        assert isinstance(failure, ModelFailure)
        assert failure.category == "budget"
        assert len(server.bodies) == 1


def test_without_a_provider_there_is_a_reason(tmp_path: Path) -> None:
    (failure,) = MachineModels(str(tmp_path), MachineFiles()).embed(wanting("a")).vectors
    assert isinstance(failure, ModelFailure)
    assert "which provider has the model `vectors`" in failure.reason


def test_a_kept_vector_is_the_same_to_the_last_digit() -> None:
    vector = (0.1, -5e-324, 1.7976931348623157e308)
    assert vector_in(vector_text(vector)) == vector
    assert [vector_in(text) for text in ("", "???", "AAAA", vector_text((float("nan"),)))] == [None] * 4


def test_vectors_are_kept_before_the_next_texts_go_out(tmp_path: Path) -> None:
    kept: list[int] = []

    def counts(handler: Handler) -> None:
        kept.append(len(list((tmp_path / "home").rglob("*.json"))))
        vectors()(handler)

    with endpoint(counts) as server:
        models(tmp_path, server.url, "concurrency = 1").embed(wanting(*(f"text {n}" for n in range(MOST_TEXTS + 1))))
    assert kept == [0, MOST_TEXTS]
