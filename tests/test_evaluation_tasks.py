"""Models as tasks, parameters, and evaluation files from Python: `rulebook.load("triage.yaml").run()`."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from model_server import Act, Endpoint, Handler, endpoint, gives, says

import rulebook
from rulebook import RuleFileError, UsageError, scorers
from rulebook.api.linting import lint_text
from rulebook.cli.main import main
from rulebook.errors import UnfitKind, UnfitOption

ROOT = Path(rulebook.__file__).parent.parent

CONFIG = """\
[models]
model = "local/small"
concurrency = {concurrency}
{more}
[[providers]]
name = "local"
base_url = "{url}"
currency = "EUR"
[providers.prices.small]
input = 1000.0
output = 10000.0
"""
FILE = """\
schema: rulebook.evaluation
version: 1
name: triage
params: {tone: {type: string, default: kind}}
dataset: rows.jsonl
task:
  model:
    system_prompt: 'Be {{ params.tone }}.'
    prompt: 'What is this about? {{ message }}'
scorers:
  - exact_match: {name: same}
gates: {same: {mean: {min: 0.5}, unmeasured: {max: 99999}}}
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "triage.yaml").write_text(FILE, encoding="utf-8")
    return tmp_path


def write_rows(place: Path, *rows: Any) -> None:
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def configure(place: Path, server: Endpoint, concurrency: int = 4, more: str = "") -> None:
    text = CONFIG.format(url=server.url, concurrency=concurrency, more=more)
    (place / "rulebook.toml").write_text(text, encoding="utf-8")


def asked_in(handler: Handler) -> str:
    return str(handler.body["messages"][-1]["content"]).removeprefix("What is this about? ")


def echoes(handler: Handler) -> None:
    """Answer with what was asked about."""
    says(asked_in(handler))(handler)


def change(place: Path, *pairs: tuple[str, str]) -> None:
    text = (place / "triage.yaml").read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (place / "triage.yaml").write_text(text, encoding="utf-8")


def report_of(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    status = main(["evaluation", "run", "triage.yaml", "--format", "json", *options])
    captured = capsys.readouterr()
    return status, json.loads(captured.out) if captured.out else {"error": captured.err}


def test_a_model_makes_the_outputs_and_what_it_cost_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(place, {"message": "a", "expected": "a"}, {"message": "b", "expected": "x"})
    with endpoint(echoes) as server:
        configure(place, server)
        status, report = report_of(capsys)
        bodies = sorted(server.bodies, key=lambda body: str(body["messages"]))
    assert [each["messages"] for each in bodies] == [
        [{"role": "system", "content": "Be kind."}, {"role": "user", "content": f"What is this about? {text}"}]
        for text in "ab"
    ]
    assert [(each["model"], "temperature" in each) for each in bodies] == [("small", False)] * 2
    assert (status, report["scorers"][0]["mean"]) == (0, 0.5)
    assert report["models"] == {
        "calls": 2,
        "cached": 0,
        "input_tokens": 200,
        "output_tokens": 40,
        "cost": pytest.approx(0.6),
        "currency": "EUR",
    }


def answer(handler: Handler) -> None:
    """What the row's message says: a whole answer, or one of the ways in which there is none."""
    act: dict[str, Act] = {
        "cut": says("half of", finish="length"),
        "refused": says("no", finish="content_filter"),
        "empty": says("  "),
        "wrong": gives(400, {"error": {"message": "no such thing"}}),
    }
    act.get(asked_in(handler), says("fine"))(handler)


def test_an_answer_that_is_none_is_the_rows_own_and_never_an_empty_output(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = ["cut", "refused", "empty", "wrong", "whole"]
    rows = [{"message": each, "expected": ""} for each in messages]
    write_rows(place, *rows, {"message": None, "expected": ""}, {"expected": ""})
    with endpoint(answer) as server:
        configure(place, server)
        _, report = report_of(capsys)
    assert report["rows"] == {"count": 7, "damaged": 0, "task_failed": 6}
    assert [report["scorers"][0][key] for key in ("mean", "scores", "failed")] == [0.0, 1, 6]
    told = [(each["row"], each["stage"], each["type"], each["message"]) for each in report["failures"]]
    assert told[:3] == [
        (1, "task", "ModelError", "the model's reply was cut short"),
        (2, "task", "ModelError", "the model's reply is a refusal"),
        (3, "task", "ModelError", "the model's reply is empty"),
    ]
    assert told[3][:3] == (4, "task", "ModelError")
    assert "no such thing" in told[3][3]
    assert told[4] == (6, "task", "PromptError", "the question cannot be made: `message` has no value")


def meets(count: int) -> Callable[[Handler], None]:
    """Answer once so many requests are there at the same time."""
    barrier = threading.Barrier(count, timeout=60)

    def act(handler: Handler) -> None:
        barrier.wait()
        echoes(handler)

    return act


def test_as_many_questions_are_under_way_as_the_configuration_lets(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(place, *({"message": f"{n}", "expected": f"{n}"} for n in range(12)))
    with endpoint(meets(3)) as server:
        configure(place, server, concurrency=3)
        _, report = report_of(capsys)
    assert (report["scorers"][0]["mean"], report["scorers"][0]["scores"]) == (1.0, 12)


def test_answers_are_kept_and_asked_for_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(place, {"message": "a", "expected": "a"})
    with endpoint(echoes) as server:
        configure(place, server)
        first, again = report_of(capsys)[1], report_of(capsys)[1]
        assert len(server.bodies) == 1
        report_of(capsys, "--param", "tone=gruff")
        assert [body["messages"][0]["content"] for body in server.bodies] == ["Be kind.", "Be gruff."]
    assert first["run"] != again["run"]
    assert (again["models"]["calls"], again["models"]["cached"], again["models"]["cost"]) == (0, 1, None)


def test_answers_may_be_kept_elsewhere(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(place, {"message": "a", "expected": "a"})
    with endpoint(echoes) as server:
        configure(place, server, more="cache = false")
        for _ in range(2):
            assert report_of(capsys, "--cache", "kept")[0] == 0
        assert len(server.bodies) == 1
        report_of(capsys)
        assert len(server.bodies) == 2
    assert len(list((place / "kept").rglob("*.json"))) == 1
    assert not (place / "home" / "cache").exists()
    status, found = report_of(capsys, "--cache", "triage.yaml")
    assert (status, "`triage.yaml` is no folder" in found["error"]) == (1, True)


def test_another_model_is_another_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(place, {"message": "a", "expected": "a"})
    with endpoint(echoes) as server:
        configure(place, server)
        first = report_of(capsys)[1]["run"]
        assert report_of(capsys, "--resume")[1]["run"] == first
        text = (place / "rulebook.toml").read_text(encoding="utf-8")
        (place / "rulebook.toml").write_text(text.replace("local/small", "local/large"), encoding="utf-8")
        assert report_of(capsys, "--resume")[1]["run"] != first
        assert [body["model"] for body in server.bodies] == ["small", "large"]


def test_a_run_that_has_no_calls_left_is_unmeasured_from_there(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(place, *({"message": f"{n}", "expected": f"{n}"} for n in range(5)))
    change(place, ("task:\n", "task:\n  concurrency: 1\n"))
    with endpoint(echoes) as server:
        configure(place, server, more="max_calls = 2")
        _, report = report_of(capsys)
        assert len(server.bodies) == 2
    assert [report["scorers"][0][key] for key in ("mean", "scores", "failed")] == [1.0, 2, 3]
    assert "used up" in report["failures"][0]["message"]


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("", "no model is named"),
        ('[models]\nmodel = "nobody/m"\n', "nothing says which provider has the model"),
        ('[models]\nmodel = "openai/m"\n', "The key of `openai` is missing: the variable `OPENAI_API_KEY` is not set."),
        ('[models]\nmodle = "m"\n', "I don't know `modle`"),
    ],
)
def test_where_nobody_can_be_asked_the_run_ends_at_once_and_no_row_has_failed(
    toml: str, said: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(place, {"message": "a", "expected": "a"})
    (place / "rulebook.toml").write_text(toml, encoding="utf-8")
    status, found = report_of(capsys)
    assert (status, said in found["error"]) == (1, True)
    assert [journal.read_bytes().count(b"\n") for journal in (place / "home").rglob("journal.jsonl")] in ([], [1])


def test_a_run_that_was_killed_asks_no_question_twice(place: Path) -> None:
    """Kill -9 while questions are under way, and go on: each row's answer was asked for once, but for those."""
    rows, at_once = 40, 4
    write_rows(place, *({"message": f"{n}", "expected": f"{n}"} for n in range(rows)))
    asked: list[str] = []
    victim: list[subprocess.Popen[str]] = []
    under_way: list[str] = []

    def act(handler: Handler) -> None:
        about = asked_in(handler)
        asked.append(about)
        if victim and int(about) >= 20:
            under_way.append(about)
            victim[0].kill()
            return
        echoes(handler)

    argv = [sys.executable, "-m", "rulebook", "evaluation", "run", "triage.yaml", "--format", "json", "--resume"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with endpoint(act) as server:
        configure(place, server, concurrency=at_once)
        with subprocess.Popen(argv, cwd=place, env=env, stdout=subprocess.PIPE, text=True) as process:
            victim.append(process)
            process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        victim.clear()
        before = list(asked)
        resumed = subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, check=True)
    report = json.loads(resumed.stdout)
    assert (report["scorers"][0]["mean"], report["rows"]["count"]) == (1.0, rows)
    assert sorted(set(asked), key=int) == [str(n) for n in range(rows)]
    again = [each for each in before if asked.count(each) > 1]
    assert len(again) <= 2 * at_once
    assert set(under_way) <= set(again)


def test_ctrl_c_gives_up_what_is_under_way(place: Path) -> None:
    write_rows(place, *({"message": f"{n}", "expected": f"{n}"} for n in range(8)))
    over = threading.Event()
    begun: list[subprocess.Popen[str]] = []
    ready = threading.Event()

    def act(handler: Handler) -> None:
        assert ready.wait(60)
        # one signal, however many questions are under way: another would end the program while it ends
        with contextlib.suppress(IndexError):
            begun.pop().send_signal(signal.SIGINT)
        over.wait(60)

    argv = [sys.executable, "-m", "rulebook", "evaluation", "run", "triage.yaml"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with endpoint(act) as server:
        configure(place, server)
        with subprocess.Popen(argv, cwd=place, env=env, stderr=subprocess.PIPE, text=True) as process:
            begun.append(process)
            ready.set()
            try:
                _, err = process.communicate(timeout=60)
            finally:
                over.set()
                process.kill()  # of no effect on one that has ended
    assert (process.returncode, "interrupted" in err) == (130, True)


# what a file may say


def lint(body: str) -> list[str]:
    text = "schema: rulebook.evaluation\nversion: 1\nname: s\ndataset: {rows: [{q: a}]}\nscorers: [{json_valid: {}}]\n"
    return [f"{d.code} {d.message}" for d in lint_text(text + body, "rules.yaml", "yaml").diagnostics]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("task: {model: {}}\n", "RB202 `model` needs `prompt`: what the model is asked"),
        ("task: {model: {prompt: '{{ q', model: m}}\n", "RB417"),
        ("task: {model: {prompt: '{{ q }}', model: m, max_tokens: 0}}\n", "RB205 `max_tokens` must be 1 or more"),
        ("task: {model: {prompt: '{{ q }}', model: m, temperature: 3}}\n", "RB205 `temperature` must be 2 or less"),
        ("task: {model: {prompt: '{{ q }}', model: m, base_url: x}}\n", "RB214 I can't read `x` as an endpoint's address"),
        ("task: {model: {prompt: '{{ q }}', model: m, api_key_env: 'a b'}}\n", "RB214"),
        ("task: {model: {prompt: '{{ q }}', model: m, promt: x}}\n", "RB201 I don't know `promt` in `model`. Did you mean `prompt`?"),
        ("task: {model: {prompt: '{{ q }}', model: m}, argv: [cat]}\n", "RB202 `task` needs `argv`: a task is one of"),
        ("task: {model: {prompt: '{{ q }}', model: m}, pass_env: [A]}\n", "RB215 `pass_env` has no effect here: it is for a command (`argv`)."),
        ("task: {python: 'a:b', timeout: 3s}\n", "RB215 `timeout` has no effect here: it is for a command (`argv`) or a model."),
        ("task: {model: {prompt: '{{ q }}', model: '{{ q }}'}}\n", "RB418 The template uses `q`, which isn't available here."),
        ("task: {argv: [cat, '{{ q }}']}\n", "RB418 The template uses `q`, which isn't available here."),
        ("task: {argv: [cat, '{{ params.q }}']}\n", "RB418 The template uses `params.q`"),
        ("task: {argv: [cat], concurrency: 0}\n", "RB205 `concurrency` must be 1 or more; this is 0."),
        ("task: {argv: [cat], concurrency: 1001}\n", "RB205 `concurrency` must be 1000 or less; this is 1001."),
        ("task: {argv: cat file}\n", "RB501"),
        ("task: cat\n", "RB203 `task` must be a mapping with `python`, `argv` or `model`"),
        ("params: {a: {type: integer, default: x}}\ntask: {argv: [cat, '{{ params.a }}']}\n", "RB203 `default` must be a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_task_is_said_once_in_words(body: str, said: str) -> None:
    found = lint(body)
    assert len(found) == 1, found
    assert found[0].startswith(said)


def test_everything_that_a_task_may_say_lints_clean() -> None:
    model = "{model: '{{ params.model }}', prompt: '{{ q }} {{ row[\"q\"] }} {{ params.n }}', system_prompt: a, temperature: 1,"
    model += " max_tokens: 5, base_url: 'http://127.0.0.1:1/v1', api_key_env: KEY}"
    params = "params: {model: {type: string, default: m}, n: {type: integer, default: 3}}\n"
    assert lint(params + f"task: {{model: {model}, timeout: 3s, concurrency: 3}}\n") == []
    assert lint(params + "task: {argv: [cat, '{{ params.n }}'], concurrency: 1000, pass_env: [A], timeout: 2m}\n") == []
    assert lint("task: {python: 'a:b', concurrency: 2}\n") == []


# parameters

ARGV = """\
schema: rulebook.evaluation
version: 1
name: argv
params:
  word: {{type: string}}
  loud: {{type: boolean, default: false}}
dataset: {{rows: [{{n: 1, expected: 'a b; c 1 false'}}]}}
task: {{argv: ['{python}', task.py, '{{{{ params.word }}}}', '{{{{ params.loud }}}}']}}
scorers: [exact_match: {{name: same}}]
"""


def test_parameters_reach_a_command_as_whole_words_and_tell_runs_apart(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "triage.yaml").write_text(ARGV.format(python=sys.executable), encoding="utf-8")
    task = "import json, sys\nprint(sys.argv[1], json.load(sys.stdin)['n'], sys.argv[2])\n"
    (place / "task.py").write_text(task, encoding="utf-8")
    given = ("--param", "word=a b; c")
    _, first = report_of(capsys, *given)
    assert first["scorers"][0]["mean"] == 1.0
    assert report_of(capsys, *given, "--resume")[1]["run"] == first["run"]
    _, other = report_of(capsys, *given, "--param", "loud=true", "--resume")
    assert (other["run"] != first["run"], other["scorers"][0]["mean"]) == (True, 0.0)
    for options, said in (
        ((), "The parameter `word` needs a value: `--param word=…`."),
        (("--param", "wrd=x"), "There is no parameter `wrd` in this file. Did you mean `word`?"),
        ((*given, "--param", "loud=x"), "The parameter `loud` must be `true` or `false`; this is `x`."),
        (("--param", "word"), "`--param word` needs a name and a value"),
    ):
        status, found = report_of(capsys, *options)
        assert (status, said in found["error"]) == (1, True), found


# from Python


def test_a_file_runs_from_python_as_it_does_from_the_command_line(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(place, *({"message": f"{n}", "expected": f"{n % 2}"} for n in range(4)))
    with endpoint(echoes) as server:
        configure(place, server)
        _, report = report_of(capsys)
        heard: list[int] = []
        rules = rulebook.load("triage.yaml")
        assert isinstance(rules, rulebook.EvaluationRules)
        run = rules.run(heard=heard.append, metadata={"why": "a test", "n": 10**30}).wait()
        again = rules.run(resume=True)
        two = rules.run(limit=2, params={"tone": "gruff"})
        assert len(server.bodies) == 6
    assert run.means() == {"same": 0.5}
    assert heard == [0, 4]
    assert (run.status, rules.name) == ("succeeded", "triage")
    kept = json.loads((Path(again.folder) / "report.json").read_text(encoding="utf-8"))["metadata"]
    assert run.metadata == again.metadata == kept == {"why": "a test", "n": 10**30}
    with pytest.raises(UnfitKind, match="cannot be written"):
        rules.run(metadata={"why": object()})
    assert str(run.table()).splitlines()[1].split()[:3] == ["same", "0.5", "4"]
    assert [each.output for each in run.rows()] == ["0", "1", "2", "3"]
    theirs, ours, same = dict(report), run.report(), again.report()
    assert ours.pop("metadata") == same.pop("metadata")
    assert (again.id, same.pop("run")) == (run.id, ours.pop("run"))
    for each in (theirs, ours, same):
        del each["models"]
    assert theirs.pop("run") != run.id
    assert ours == theirs == same
    assert (two.id != run.id, two.table()["same"].scores) == (True, 2)
    assert pyarrow.parquet.read_table(run.to_parquet()).column("output").to_pylist() == ["0", "1", "2", "3"]
    assert pyarrow.parquet.read_table(run.to_parquet(place / "x.parquet")).num_rows == 4


def test_a_run_of_a_file_is_scored_again_without_its_task(place: Path) -> None:
    write_rows(place, *({"message": f"{n}", "expected": f"{n % 2}"} for n in range(4)))
    with endpoint(echoes) as server:
        configure(place, server)
        run = rulebook.load("triage.yaml").run()
        change(place, ("exact_match: {name: same}", "numeric_close: {name: same, tolerance: 2, threshold: 0.25}"))
        other = rulebook.load("triage.yaml")
        asked = len(server.bodies)
        plain = run.rescore(scorers=[scorers.json_valid()])
        by_file = run.rescore(evaluation=other)
        assert len(server.bodies) == asked
    assert (plain.means(), plain.report()["name"], plain.report()["gates"]) == (
        {"json-valid": 1.0},
        "triage (rescored)",
        [],
    )
    assert (by_file.means(), by_file.report()["name"]) == ({"same": 1.0}, "triage")
    assert [each.threshold for each in by_file.table()] == [0.25]
    assert len(by_file.report()["gates"]) == 2
    assert by_file.rescore().means() == {"same": 1.0}
    with pytest.raises(UnfitOption, match="needs scorers"):
        run.rescore(scorers=[])
    with pytest.raises(UnfitOption, match="is over outputs that are there"):
        by_file.evaluation.run()


def test_what_cannot_be_loaded_or_run_is_said_in_words(place: Path) -> None:
    write_rows(place, {"message": "a", "expected": "a"})
    change(place, ("{{ message }}", "{{ mesage }}"))
    with pytest.raises(UnfitOption, match="The task `model` reads the column `mesage`, and no row has it. Did you mean"):
        rulebook.load("triage.yaml")
    assert [d.code for d in rulebook.lint("triage.yaml").diagnostics] == ["RB511", "RB810"]
    change(place, ("{{ mesage }}", "{{ params.tne }}"))
    with pytest.raises(RuleFileError, match="tne"):
        rulebook.load("triage.yaml")
    change(place, ("{{ params.tne }}", "{{ message }}"))
    rules = rulebook.load("triage.yaml")
    with pytest.raises(UsageError, match="There is no parameter `tne`"):
        rules.run(params={"tne": 1})
    for limit in (0, -1, True, "3"):
        with pytest.raises(UsageError, match="`limit` is how many rows to take"):
            rules.run(limit=limit)
    change(place, ("exact_match: {name: same}", "python: {name: same, function: 'own:same'}"))
    with pytest.raises(UsageError, match="`allow_python=True`"):
        rulebook.load("triage.yaml")
