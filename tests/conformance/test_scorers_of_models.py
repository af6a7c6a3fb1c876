"""The scorers that ask a model against the vectors recorded from the reference, on a real server on loopback.

What is expected of us where we differ on purpose stands in `scorers_ours.json`. How often a busy endpoint is asked, and
what it is sent where a quirk is decided otherwise, is ours; scores, metadata and the side of a failure are compared.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pydantic
import pytest
from model_server import Act, Endpoint, endpoint, gives
from scorer_vectors import OURS, VECTORS, names_of, near, of_result, written_out

from rulebook import scorers
from rulebook.api.own_machine import own_ports

READY = ("embedding_similarity", "llm_judge", "jev")
GROUPS: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
for _vector in VECTORS:
    if _vector["scorer"] in READY:
        GROUPS[_vector["scorer"], _vector.get("quirk", "plain")].append(_vector)


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "rulebook.toml").write_text("[models]\ncache = false\n")
    monkeypatch.chdir(tmp_path)
    own_ports.cache_clear()
    yield
    own_ports.cache_clear()


@pytest.mark.parametrize(("scorer", "quirk"), sorted(GROUPS), ids="-".join)
def test_vectors(scorer: str, quirk: str) -> None:
    wrong = []
    with endpoint(gives(500, {})) as server:
        for vector in GROUPS[scorer, quirk]:
            server.acts = [act_of(reply) for reply in vector.get("replies", ())] or [gives(500, {}, Retry_After="0")]
            server.bodies.clear()
            server.paths.clear()
            want = OURS.get(vector["id"], vector)
            got = outcome_of(vector, server)
            if not agree(got, want) or ("quirk" not in vector and calls_of(server) != calls_in(vector)):
                wrong.append((vector["id"], str(got)[:300], str(want.get("error", want))[:300], calls_of(server)))
            if "quirk" not in vector and server.bodies and "messages" in server.bodies[-1]:
                asked = server.bodies[-1]["messages"][-1]["content"]
                wrong += [(vector["id"], text) for text in vector.get("prompt_contains", ()) if text not in asked]
    assert wrong == []


def outcome_of(vector: dict[str, Any], server: Endpoint) -> dict[str, Any]:
    try:
        options = {"base_url": server.url, **written_out(vector["options"])}
        if isinstance(options.get("response_model"), dict):
            options["response_model"] = model_of(options["response_model"], pydantic)
        scorer = getattr(scorers, vector["scorer"])(**options)
    except Exception as error:
        return {"error": {"type": names_of(error), "raised_at": "declare"}}
    if "row" not in vector:
        return {"declared": {"name": scorer.name, "inputs": list(scorer.inputs)}}
    row = {column: value for column, value in written_out(vector["row"]).items() if column in scorer.inputs}
    try:
        return of_result(scorer(**row))
    except Exception as error:
        return {"error": {"type": names_of(error), "raised_at": "row"}, "said": str(error)}


def model_of(written: dict[str, Any], version: Any) -> Any:
    """The pydantic model that the vectors' small field language writes down."""
    fields = {}
    for name, field in written["fields"].items():
        bounds = {key: field[key] for key in ("ge", "le", "description", "alias") if key in field}
        kind = kind_of(field, version)
        default = field.get("default", ...)
        fields[name] = (kind | None if field.get("nullable") else kind, version.Field(default, **bounds))
    return version.create_model(written["name"], **fields)


def kind_of(field: dict[str, Any], version: Any) -> Any:
    plain = {"number": float, "integer": int, "string": str, "boolean": bool}
    name, _, item = field["type"].partition(":")
    if name == "array":
        return list[plain[item]]  # type: ignore[misc]
    if name == "enum":
        return Literal[tuple(field["values"])]
    if name == "object":
        return model_of({"name": "Inner", **field}, version)
    return plain[name]


def agree(got: dict[str, Any], want: dict[str, Any]) -> bool:
    if "error" in got:
        at = got["error"]["raised_at"]
        return want.get("error", {}).get("raised_at") == at and (
            at == "row" or want["error"]["type"] in got["error"]["type"]
        )
    if "declared" in got:
        return got["declared"] == want.get("declared")
    return "score" in want and abs(got["score"] - want["score"]) <= 1e-9 and near(got["metadata"], want["metadata"])


def calls_of(server: Endpoint) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    for path, body in zip(server.paths, server.bodies, strict=True):
        call = {"path": path, "model": body["model"]}
        if "input" in body:
            calls.append({**call, "input": body["input"]})
        else:
            call |= {"roles": [message["role"] for message in body["messages"]]}
            calls.append({**call, "structured": "response_format" in body})
    return calls


def calls_in(vector: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls that are wanted; two equal texts are not asked about, whose score is known."""
    calls = [{key: value for key, value in call.items() if key != "params"} for call in vector.get("calls", ())]
    return [call for call in calls if len(set(call.get("input", ("", "other")))) > 1]


def act_of(reply: dict[str, Any]) -> Act:
    if "status" in reply:
        return gives(reply["status"], {"error": {"message": "no"}}, Retry_After="0")
    if "embeddings" in reply:
        data = [{"index": index, "embedding": vector} for index, vector in enumerate(written_out(reply["embeddings"]))]
        return gives(200, {"data": data, "usage": {"prompt_tokens": 3, "total_tokens": 3}})
    message = {"role": "assistant", "content": reply.get("content"), "refusal": reply.get("refusal")}
    choice = {"message": message, "finish_reason": reply.get("finish_reason") or "stop"}
    return gives(200, {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 2}})


def test_the_document_says_which_quirks_are_kept() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "scorers.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| `([\w-]+)` \| (kept|changed)", page, re.M))
    vectors = [vector for group in GROUPS.values() for vector in group if "quirk" in vector]
    assert {vector["quirk"] for vector in vectors} <= set(said)
    for vector in vectors:
        # what its line says of models, kept as it is of columns
        if vector["id"] in OURS and vector["quirk"] != "json-duplicate-keys":
            assert said[vector["quirk"]] == "changed", vector["id"]
