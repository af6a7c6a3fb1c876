"""Models as the configuration names them: which one is asked, what is kept, what is played from a file."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import Handler, cuts, endpoint, gives, says

from rulebook.model_port import ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent
from rulebook.services.files import MachineFiles
from rulebook.services.model_cache import ModelCache, request_digest
from rulebook.services.models import MachineModels
from rulebook.spec.providers import Chosen, Provider


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def models(tmp_path: Path, url: str, more: str = "") -> MachineModels:
    folder = tmp_path / "project" / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "rulebook.toml").write_text(
        f'[models]\nmodel = "judge"\n{more}\n[[providers]]\nname = "here"\nbase_url = "{url}"\nmodels = {{judge = "judge-1"}}\n'
    )
    return MachineModels(str(folder), MachineFiles())


def request(user: str = "a FENCE b", fence: str = "FENCE", **wanted: Any) -> ModelRequest:
    return ModelRequest("Judge.", user, fence, **wanted)


def test_the_configuration_above_the_rules_names_the_model(tmp_path: Path) -> None:
    with endpoint(says("x")) as server:
        (reply,) = models(tmp_path, server.url).ask([request()])
        assert isinstance(reply, ModelReply)
        assert (reply.text, reply.model) == ("x", "judge-1")
        assert server.bodies[0]["model"] == "judge-1"


def test_a_rule_may_name_its_own_endpoint(tmp_path: Path) -> None:
    with endpoint(says("mine")) as server:
        (reply,) = models(tmp_path, "http://127.0.0.1:1/v1").ask([request(model="own", base_url=server.url)])
        assert isinstance(reply, ModelReply)
        assert (reply.text, server.bodies[0]["model"]) == ("mine", "own")


def test_an_answer_is_kept_for_the_next_run_whatever_its_fence(tmp_path: Path) -> None:
    with endpoint(says("x")) as server:
        models(tmp_path, server.url).ask([request()])
        (reply,) = models(tmp_path, server.url).ask([request("a OTHER b", "OTHER")])
        assert reply == ModelReply("x", "judge-1", "stop", Spent(cached=1))
        assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "other",
    [
        request("a FENCE c"),
        request(sample=1),
        request(temperature=0.5),
        request(max_tokens=7),
        request(model="here/other"),
        request(schema={"type": "object"}),
        request(more={"seed": 7}),
        ModelRequest("Be kind.", "a FENCE b", "FENCE"),
    ],
    ids=["text", "sample", "temperature", "max_tokens", "model", "schema", "more", "system"],
)
def test_another_question_is_asked(tmp_path: Path, other: ModelRequest) -> None:
    with endpoint(says("x")) as server:
        asked = models(tmp_path, server.url)
        asked.ask([request()])
        asked.ask([other])
        assert len(server.bodies) == 2


def test_attack_no_text_looks_like_another_with_the_fence_in_it() -> None:
    chosen = Chosen(Provider("here"), "judge")
    honest, forged = request("a FENCE b FENCE c"), request('a FENCE b ", " c')
    assert request_digest(honest, chosen) != request_digest(forged, chosen)


@pytest.mark.parametrize("act", [says("x", "length"), says("", "stop"), says("x", "content_filter"), cuts], ids=range(4))
def test_only_a_whole_answer_is_kept(tmp_path: Path, act: Any) -> None:
    with endpoint(act) as server:
        asked = models(tmp_path, server.url)
        asked.ask([request(timeout_s=0.5)])
        before = len(server.bodies)
        asked.ask([request(timeout_s=0.5)])
        assert len(server.bodies) == 2 * before


def test_keeping_can_be_turned_off(tmp_path: Path, home: Path) -> None:
    with endpoint(says("x")) as server:
        asked = models(tmp_path, server.url, "cache = false")
        asked.ask([request()])
        asked.ask([request()])
        assert len(server.bodies) == 2
    assert not home.exists()


DAMAGE = {
    "empty": b"",
    "half": b'{"digest": "',
    "not UTF-8": b"\xff",
    "a list": b"[]",
    "nested": b"[" * 100_000,
    "other types": b'{"text": 5}',
    "huge": b" " * (5 * 1024 * 1024),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_answer_is_asked_for_again_and_mended(tmp_path: Path, home: Path, damage: str) -> None:
    with endpoint(says("x")) as server:
        asked = models(tmp_path, server.url)
        asked.ask([request()])
        (kept,) = home.rglob("*.json")
        kept.write_bytes(DAMAGE[damage])
        asked.ask([request()])
        asked.ask([request()])
        assert len(server.bodies) == 2


def test_attack_an_answer_that_was_changed_on_disk_is_not_believed(tmp_path: Path, home: Path) -> None:
    with endpoint(says("VERDICT: NO")) as server:
        models(tmp_path, server.url).ask([request()])
        (kept,) = home.rglob("*.json")
        kept.write_text(json.dumps({**json.loads(kept.read_text()), "text": "VERDICT: YES"}))
        (reply,) = models(tmp_path, server.url).ask([request()])
        assert isinstance(reply, ModelReply)
        assert reply.text == "VERDICT: NO"


def others_may_write(kept: Path) -> None:
    kept.chmod(0o666)


def is_anothers(kept: Path) -> None:
    os.chown(kept, 65_534, 65_534)


def is_a_fifo(kept: Path) -> None:
    kept.unlink()
    os.mkfifo(kept)


def is_a_link(kept: Path) -> None:
    kept.rename(kept.with_suffix(".real"))
    kept.symlink_to(kept.with_suffix(".real"))


@pytest.mark.parametrize("becomes", [others_may_write, is_anothers, is_a_fifo, is_a_link])
def test_attack_an_answer_that_others_may_have_put_there_is_not_read(
    tmp_path: Path, home: Path, becomes: Callable[[Path], None]
) -> None:
    if becomes is is_anothers and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    with endpoint(says("x")) as server:
        models(tmp_path, server.url).ask([request()])
        (kept,) = home.rglob("*.json")
        becomes(kept)
        asked = models(tmp_path, server.url)
        asked.ask([request()])
        asked.ask([request()])
        assert len(server.bodies) == 2  # and what was there is replaced


def test_a_cache_that_cannot_be_written_costs_no_answer(tmp_path: Path, home: Path) -> None:
    home.write_text("a file where the folder would be")
    with endpoint(says("x")) as server:
        (reply,) = models(tmp_path, server.url).ask([request()])
        assert isinstance(reply, ModelReply)


def test_what_was_used_longest_ago_makes_room(tmp_path: Path) -> None:
    reply = ModelReply("x" * 1000, "judge", "stop", Spent())
    cache = ModelCache(str(tmp_path / "kept"), max_total_bytes=3000)
    digests = [f"{number:064x}" for number in range(3)]
    for age, digest in enumerate(digests[:2]):
        cache.keep(digest, reply)
        (path,) = tmp_path.rglob(f"{digest}.json")
        os.utime(path, (age, age))
    cache.find(digests[0])
    cache.keep(digests[2], reply)
    assert [cache.find(digest) is not None for digest in digests] == [True, False, True]


def test_an_answer_is_kept_before_the_next_question_goes_out(tmp_path: Path, home: Path) -> None:
    """However the program ends then, what it has been told is not asked again."""
    kept: list[int] = []

    def counts(handler: Handler) -> None:
        kept.append(len(list(home.rglob("*.json"))))
        says("x")(handler)

    with endpoint(counts) as server:
        models(tmp_path, server.url, "concurrency = 1").ask([request(f"question {number}") for number in range(4)])
    assert kept == [0, 1, 2, 3]


def test_the_same_question_asked_at_once_is_sent_once(tmp_path: Path) -> None:
    with endpoint(says("x")) as server:
        asked = [request("a FENCE b"), request("c"), request("a OTHER b", "OTHER"), request("a FENCE b", sample=1)]
        found = models(tmp_path, server.url).ask(asked)
        assert [(reply.spent.calls, reply.spent.cached) for reply in found] == [(1, 0), (1, 0), (0, 1), (1, 0)]
        assert len(server.bodies) == 3
        models(tmp_path, server.url, "cache = false").ask([request("d"), request("d")])
        assert len(server.bodies) == 5
    with endpoint(gives(400, {})) as server:
        first, second = models(tmp_path, server.url).ask([request("e"), request("e")])
        assert (first.spent, second.spent, len(server.bodies)) == (Spent(calls=1), Spent(), 1)


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    cache = ModelCache(str(tmp_path / "kept"))
    cache.keep("ab" * 32, ModelReply("x", "judge", "stop", Spent()))
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["ab" * 32 + ".json"]
    assert (tmp_path / "kept" / "ab").stat().st_mode & 0o077 == 0


def test_without_a_model_there_is_a_reason(tmp_path: Path) -> None:
    (failure,) = MachineModels(str(tmp_path), MachineFiles()).ask([request()])
    assert isinstance(failure, ModelFailure)
    assert failure.reason.startswith("no model is named. Write `model:` in the rule")


def test_a_configuration_with_a_mistake_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "rulebook.toml").write_text('[models]\nmodle = "x"\n')
    (failure,) = MachineModels(str(tmp_path), MachineFiles()).ask([request()])
    assert isinstance(failure, ModelFailure)
    assert "rulebook.toml` line 2: I don't know `modle`" in failure.reason


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_attack_a_configuration_of_another_users_is_not_read(tmp_path: Path) -> None:
    with endpoint(says("VERDICT: YES")) as server:
        asked = models(tmp_path, server.url)
        os.chown(tmp_path / "project" / "rulebook.toml", 12345, -1)
        (failure,) = asked.ask([request()])
        assert isinstance(failure, ModelFailure)
        assert "belongs to another user" in failure.reason
        assert server.bodies == []


def scripted(tmp_path: Path, answers: str) -> MachineModels:
    (tmp_path / "rulebook.toml").write_text(
        '[models]\nmodel = "any"\nmax_calls = 3\n[[providers]]\nname = "played"\nkind = "scripted"\nanswers = "answers.toml"\n'
    )
    (tmp_path / "answers.toml").write_text(answers)
    return MachineModels(str(tmp_path), MachineFiles())


def test_answers_are_played_from_a_file(tmp_path: Path, home: Path) -> None:
    played = scripted(
        tmp_path,
        '[[answers]]\ncontains = "cause"\nreply = "YES"\ntimes = 1\n'
        '[[answers]]\ncontains = "cause"\nreply = "cut"\nfinish = "length"\n'
        '[[answers]]\nerror = "it is down"\n',
    )
    found = played.ask([request("cause"), request("cause"), request("fix")])
    assert found == [
        ModelReply("YES", "any", "stop", Spent(calls=1)),
        ModelReply("cut", "any", "length", Spent(calls=1)),
        ModelFailure("harness", "it is down", Spent(calls=1)),
    ]
    (beyond,) = played.ask([request("cause")])
    assert isinstance(beyond, ModelFailure)
    assert beyond.category == "budget"
    assert not home.exists()


def test_a_question_that_no_answer_fits(tmp_path: Path) -> None:
    (failure,) = scripted(tmp_path, '[[answers]]\ncontains = "cause"\nreply = "YES"\n').ask([request("fix")])
    assert isinstance(failure, ModelFailure)
    assert "no answer to this question in `answers.toml`" in failure.reason


@pytest.mark.parametrize(
    "answers",
    ["", "answers = 1", "[[answers]]", '[[answers]]\nreply = "x"\nerror = "y"', '[[answers]]\nreply = 5', '[[answers]]\nreply = "x"\nfinish = "soon"', '[[answers]]\nreply = "x"\ntims = 1', "[[answers", "x = 1\n[[answers]]\nreply = 'x'"],
    ids=range(9),
)
def test_answers_with_a_mistake_are_refused_in_words(tmp_path: Path, answers: str) -> None:
    (failure,) = scripted(tmp_path, answers).ask([request()])
    assert isinstance(failure, ModelFailure)
    assert failure.reason.startswith(f"the answers `{tmp_path}/answers.toml`")
