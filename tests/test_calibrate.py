"""`rulebook calibrate` over models that are played or answer on loopback: figures, labels, kills, cards and lint."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from model_server import endpoint, says

import rulebook
from rulebook.api.linting import lint_file
from rulebook.cli.main import main
from rulebook.spec import judge_identity

ROOT = Path(rulebook.__file__).parent.parent
HEAD = "schema: rulebook.evaluation\nversion: 1\nname: support\ndataset: rows.jsonl\nscorers:\n"
LLM = HEAD + "  - llm_judge: {name: quality, model: play/small, instructions: Grade it., answer: {score: {type: number}}}\n"
JEV = """\
  - jev:
      name: intent
      labels: {right: 1.0, half: 0.5, wrong: 0.0}
      rubric: 'right: as asked. half: close. wrong: anything else.'
      model: play/small
      fallback_model: play/large
      escalate_below: 0.8
"""
TOML = '[[providers]]\nname = "play"\nkind = "scripted"\nanswers = "answers.toml"\nmodels = {small = "small-1", large = "large-1"}\n'


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def write(place: Path, rules: str, rows: Sequence[Mapping[str, object]], replies: Mapping[str, Sequence[object]]) -> None:
    """A rule file, its rows, and what the played model says, in this order, to questions that hold a text."""
    (place / "e.yaml").write_text(rules, encoding="utf-8")
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (place / "rulebook.toml").write_text(TOML, encoding="utf-8")
    entries = []
    for text, said in replies.items():
        for number, reply in enumerate(said, start=1):
            times = "times = 1\n" if number < len(said) else ""
            words = f"reply = '{json.dumps(reply)}'" if not isinstance(reply, str) else f"error = '{reply}'"
            entries.append(f"[[answers]]\ncontains = '{text}'\n{times}{words}\n")
    (place / "answers.toml").write_text("".join(entries), encoding="utf-8")


def calibrate(capsys: pytest.CaptureFixture[str], *options: str) -> dict:
    assert main(["calibrate", "e.yaml", "--labels", "human", "--format", "json", *options]) == 0, capsys.readouterr()
    found: dict = json.loads(capsys.readouterr().out)
    return found


def graded(place: Path, *rows: tuple[object, object]) -> None:
    """Rows with these labels, and a judge that gives them these scores; a text is a failure in words."""
    texts = [f"item-{number:02d}." for number in range(len(rows))]
    replies = {text: [{"score": said} if not isinstance(said, str) else said] for text, (_, said) in zip(texts, rows, strict=True)}
    write(place, LLM, [{"output": text, "human": label} for text, (label, _) in zip(texts, rows, strict=True)], replies)


def test_a_judge_against_labels(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, *[("yes", 0.7)] * 4, ("yes", 0.2), *[("no", 0.3)] * 3, ("no", 0.8), (None, 0.1))
    card = calibrate(capsys)
    assert card["rows"] == {
        "count": 10, "compared": 9, "passing": 5, "unlabelled": 1, "unreadable": 0, "unmeasured": 0, "damaged": 0,
        "sha256": card["rows"]["sha256"],
    }  # fmt: skip
    assert (card["threshold"], card["present"]["threshold"], card["present"]["written"]) == (0.7, 1.0, False)
    best = card["best"]
    assert [best[f"pass_by_{who}"] for who in ("both", "label_alone", "judge_alone", "neither")] == [4, 1, 1, 3]
    # scikit-learn 1.9.1: cohen_kappa_score, precision_score, recall_score
    assert (best["kappa"]["value"], best["precision"]["value"], best["recall"]["value"]) == pytest.approx((0.55, 0.8, 0.8))
    assert best["agreement"]["count"] == 7
    assert card["judge"]["models"] == ["small-1"]
    assert json.loads((place / "e.quality.card.json").read_text(encoding="utf-8")) == card
    assert main(["calibrate", "e.yaml", "--labels", "human"]) == 0
    assert "To let `quality` pass from 0.7 on, write `threshold: 0.7` beside its `llm_judge:`." in capsys.readouterr().out


def test_the_same_judge_and_rows_give_the_same_card_without_a_path_of_this_machine(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    assert calibrate(capsys) == calibrate(capsys)
    assert str(place) not in (place / "e.quality.card.json").read_text(encoding="utf-8")


def test_what_is_not_measured_neither_agrees_nor_disagrees(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3), ("yes", "it is down"), ("no", "it is down"), ("no", 7))
    card = calibrate(capsys)
    assert (card["rows"]["compared"], card["rows"]["unmeasured"]) == (2, 3)
    assert card["best"]["agreement"]["of"] == 2
    assert any("measured nothing in 3 of 5 labelled rows" in note for note in card["notes"])


def test_a_judge_that_fails_everywhere_has_no_card(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", "it is down"), ("no", "it is down"))
    assert main(["calibrate", "e.yaml", "--labels", "human"]) == 3
    said = capsys.readouterr()
    assert "NOT MEASURED  0 rows" in said.out
    assert "it is down" in said.out
    assert "Nothing was measured, so no card was written." in said.err
    assert not (place / "e.quality.card.json").exists()


def test_a_label_that_is_a_number_passes_from_the_mark_on(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, (0.5, 0.9), (0.4, 0.8), (1, 1.0), (0, 0.0))
    assert calibrate(capsys)["rows"]["passing"] == 2
    card = calibrate(capsys, "--mark", "0.4")
    assert (card["rows"]["passing"], card["threshold"], card["labels"]["reading"]) == (3, 0.8, "grades")


def test_grades_that_the_judge_gives_too_are_classes(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, (1, 1.0), (0.5, 0.5), (0.5, 1.0), (0, 0.0), (0, 0.5))
    classes = calibrate(capsys)["classes"]
    assert (classes["names"], classes["table"]) == (["1", "0.5", "0"], [[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    # scikit-learn 1.9.1: cohen_kappa_score, and with weights="quadratic"
    assert (classes["kappa"]["value"], classes["weighted_kappa"]["value"]) == pytest.approx((0.4117647058823529, 0.6875))


def test_labels_of_yes_or_no_make_no_classes_of_what_a_judge_scores(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.9), ("yes", 0.6), ("no", 0.2), ("no", 0.0))
    card = calibrate(capsys)
    assert (card["labels"]["reading"], card["best"]["agreement"]["value"], card["classes"]) == ("yes or no", 1.0, None)


def labelled(choice: str, sure: float) -> dict[str, object]:
    others = [name for name in ("right", "half", "wrong") if name != choice]
    weights = {choice: sure, **dict.fromkeys(others, (1 - sure) / 2)}
    return {"choice": choice, "rationale": "-", "probabilities": [{"label": key, "probability": value} for key, value in weights.items()]}


def test_the_labels_of_jev_are_compared_one_by_one(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"output": f"item-{number}.", "human": label} for number, label in enumerate(["Right", "half", "WRONG.", "right", "maybe"])]
    replies = {
        "item-0.": [labelled("right", 0.9)],
        "item-1.": [labelled("right", 0.7), labelled("half", 0.9)],
        "item-2.": [labelled("wrong", 0.6), labelled("half", 0.5)],
        "item-3.": [labelled("right", 0.8)],
    }
    write(place, HEAD + JEV, rows, replies)
    card = calibrate(capsys)
    assert (card["rows"]["compared"], card["rows"]["unreadable"], card["labels"]["reading"]) == (4, 1, "names")
    assert (card["classes"]["names"], card["classes"]["table"]) == (["right", "half", "wrong"], [[2, 0, 0], [0, 1, 0], [0, 1, 0]])
    told = {each["below"]: (each["escalated"]["count"], each["agreement"] and each["agreement"]["count"]) for each in card["escalations"]}
    # below 0.6 nobody goes on and the first model was right in three; from 0.7 on both of the unsure rows do
    assert told == {0.5: (0, 3), 0.6: (0, 3), 0.7: (1, 2), 0.8: (2, 3), 0.9: (3, None), 0.95: (4, None), 0.99: (4, None)}
    assert card["judge"]["models"] == ["small-1", "large-1"]
    assert main(["calibrate", "e.yaml", "--labels", "human"]) == 0
    shown = capsys.readouterr().out
    assert "0.8 (as it stands)" in shown
    assert "`threshold`" not in shown, "it passes from 1 on as it stands, which serves best here"


def test_votes_that_are_averaged_are_compared_by_what_passes(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = HEAD + JEV.replace("model: play/small", "model: play/small\n      votes: 2\n      vote: mean", 1)
    rows = [{"output": "item-0.", "human": "right"}, {"output": "item-1.", "human": "wrong"}]
    replies = {"item-0.": [labelled("right", 0.9), labelled("half", 0.9)], "item-1.": [labelled("wrong", 0.9)]}
    write(place, rules, rows, replies)
    card = calibrate(capsys)
    assert (card["classes"], card["escalations"], card["threshold"]) == (None, [], 0.75)
    assert any("not compared one by one" in note for note in card["notes"])


def test_neither_task_nor_judge_sees_the_label(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = "import json, sys\nrow = json.load(sys.stdin)\nprint('seen' if 'human' in row else 'not seen', row['n'])\n"
    (place / "task.py").write_text(task, encoding="utf-8")
    scorer = "  - sql: {name: seen, expression: 'CASE WHEN contains(\"output\", ''not'') THEN 0.0 ELSE 1.0 END'}\n"
    rules = HEAD.replace("scorers:", f"task: {{argv: ['{sys.executable}', task.py]}}\nscorers:") + scorer
    write(place, rules, [{"n": 1, "human": "yes"}, {"n": 2, "human": "no"}], {})
    assert calibrate(capsys)["present"]["pass_by_neither"] == 1
    own = "def answer(n, human):\n    return human\n\ndef spy(output, human='-'):\n    return 1.0 if human != '-' else 0.0\n"
    (place / "own_leak.py").write_text(own, encoding="utf-8")
    leaky = HEAD.replace("scorers:", "task: {python: 'own_leak:answer'}\nscorers:") + scorer
    (place / "e.yaml").write_text(leaky, encoding="utf-8")
    assert main(["calibrate", "e.yaml", "--labels", "human", "--allow-python"]) == 1
    assert "The task reads `human`" in capsys.readouterr().err
    (place / "e.yaml").write_text(HEAD + "  - python: {name: spy, function: 'own_leak:spy'}\n", encoding="utf-8")
    write_rows = "".join(json.dumps({"output": "-", "human": each}) + "\n" for each in ("yes", "no"))
    (place / "rows.jsonl").write_text(write_rows, encoding="utf-8")
    assert calibrate(capsys, "--allow-python")["present"]["pass_by_neither"] == 1


def test_a_task_of_a_model_that_reads_the_labels_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    task = "task: {model: {model: play/small, prompt: 'Say {{ human }}.'}}\n"
    (place / "e.yaml").write_text(LLM.replace("scorers:", task + "scorers:"), encoding="utf-8")
    assert main(["calibrate", "e.yaml", "--labels", "human"]) == 1
    assert "The task reads `human`" in capsys.readouterr().err


def test_a_task_with_parameters(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = f"params: {{add: {{type: integer}}}}\ntask: {{argv: ['{sys.executable}', task.py, '{{{{ params.add }}}}']}}\n"
    (place / "task.py").write_text("import json, sys\nprint(json.load(sys.stdin)['n'] + int(sys.argv[1]))\n", encoding="utf-8")
    scorer = "  - sql: {name: n, expression: 'CAST(\"output\" AS DOUBLE) / 10'}\n"
    rows = [{"n": n, "human": n > 2} for n in range(5)]
    write(place, HEAD.replace("scorers:", task + "scorers:") + scorer, rows, {})
    assert main(["calibrate", "e.yaml", "--labels", "human"]) == 1
    assert "add" in capsys.readouterr().err
    assert calibrate(capsys, "--param", "add=1")["threshold"] == 0.4
    assert calibrate(capsys, "--param", "add=2", "--resume")["threshold"] == 0.5


def test_a_judge_that_is_shown_the_labels_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    (place / "e.yaml").write_text(LLM.replace("answer:", "inputs: [output, human], answer:"), encoding="utf-8")
    assert main(["calibrate", "e.yaml", "--labels", "human"]) == 1
    assert "The scorer `quality` reads `human` itself" in capsys.readouterr().err


def test_a_row_without_a_label_is_not_judged(place: Path) -> None:
    reply = says('{"score": 1.0}')
    with endpoint(reply) as server:
        rules = LLM.replace("model: play/small", f"model: m, base_url: '{server.url}'")
        write(place, rules, [{"output": "a", "human": "yes"}, {"output": "b"}, {"output": "c", "human": "no"}], {})
        assert main(["calibrate", "e.yaml", "--labels", "human"]) == 0
        assert len(server.bodies) == 2
        assert "human" not in json.dumps(server.bodies)
        assert main(["calibrate", "e.yaml", "--labels", "human"]) == 0
        assert len(server.bodies) == 2, "an answer that is kept is not asked for again"


def test_answers_may_be_kept_elsewhere(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(says('{"score": 1.0}')) as server:
        rules = LLM.replace("model: play/small", f"model: m, base_url: '{server.url}'")
        write(place, rules, [{"output": "a", "human": "yes"}], {})
        for _ in range(2):
            calibrate(capsys, "--cache", "kept")
        assert len(server.bodies) == 1
    assert len(list((place / "kept").rglob("*.json"))) == 1
    assert not (place / "home" / "cache").exists()
    assert main(["calibrate", "e.yaml", "--labels", "human", "--cache", "e.yaml"]) == 1
    assert "`e.yaml` is no folder" in capsys.readouterr().err


def test_only_so_many_rows_are_taken(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3), ("perhaps", 0.5))
    assert calibrate(capsys, "--limit", "2")["rows"]["count"] == 2
    assert calibrate(capsys)["rows"]["unreadable"] == 1


def test_a_run_goes_on_only_where_that_is_asked_for(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))

    def runs() -> int:
        return len(list((place / "home" / "calibrations").rglob("journal.jsonl")))

    calibrate(capsys)
    calibrate(capsys, "--resume")
    assert runs() == 1
    calibrate(capsys)
    assert runs() == 2
    calibrate(capsys, "--resume", "--limit", "1")
    assert runs() == 3


def test_a_row_with_several_scores_or_none_is_not_measured(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = "import rulebook\n\n\n@rulebook.function\ndef per(n: int) -> list[rulebook.EvaluationScorerResult]:\n"
    own += "    return [rulebook.EvaluationScorerResult(score=0.5)] * n\n"
    (place / "own_several.py").write_text(own, encoding="utf-8")
    rows = [{"n": n, "human": "yes"} for n in (0, 1, 2)]
    write(place, HEAD + "  - python: {name: per, function: 'own_several:per'}\n", rows, {})
    assert main(["calibrate", "e.yaml", "--labels", "human", "--allow-python"]) == 0
    shown = capsys.readouterr().out
    assert "3 rows: 1 is compared, 2 were not measured." in shown
    assert "row 1  it gave no scores, and a label is one" in shown
    assert "row 3  it gave 2 scores, and a label is one" in shown


SLOW = """\
import os, signal
def score(n):
    with open("asked.txt", "a") as file:
        file.write(f"{n}\\n")
    if n == int(os.environ.get("DIE_AT", "-1")):
        os.kill(os.getpid(), signal.SIGKILL)
    return n / 300
"""


def test_a_calibration_that_is_killed_goes_on(place: Path) -> None:
    (place / "slow_scorer.py").write_text(SLOW, encoding="utf-8")
    rows = [{"n": n, "human": n % 3 != 0 if n % 5 else None} for n in range(300)]
    write(place, HEAD + "  - python: {name: slow, function: 'slow_scorer:score'}\n", rows, {})

    def run(*options: str, die_at: int = -1) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "rulebook", "calibrate", "e.yaml", "--labels", "human", "--allow-python"]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "DIE_AT": str(die_at)}
        return subprocess.run([*argv, *options], cwd=place, env=env, capture_output=True, text=True, check=False)

    assert run(die_at=251).returncode == -signal.SIGKILL
    (journal,) = (place / "home" / "calibrations").rglob("journal.jsonl")
    done = journal.read_bytes().count(b"\n") - 1
    assert done > 0
    (place / "asked.txt").unlink()
    resumed = run("--resume")
    assert resumed.returncode == 0, resumed.stderr
    asked = [int(line) for line in (place / "asked.txt").read_text(encoding="utf-8").split()]
    assert asked == [n for n in range(done, 300) if n % 5]
    assert run().stdout == resumed.stdout
    assert not (place / "home" / "evaluations").exists()


def test_one_that_is_interrupted_says_how_to_go_on(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = "def score(n):\n    if n == 99:\n        raise KeyboardInterrupt\n    return n / 100\n"
    (place / "own_stop.py").write_text(own, encoding="utf-8")
    rows = [{"n": n, "human": n > 40} for n in range(120)]
    write(place, HEAD + "  - python: {name: stop, function: 'own_stop:score'}\n", rows, {})
    words = ["calibrate", "e.yaml", "--labels", "human", "--mark", "0.3", "--limit", "110", "--cache", "kept"]
    words += ["--allow-python"]
    assert main(words) == 130
    again = "rulebook calibrate e.yaml --labels human --resume --cache kept --limit 110 --mark 0.3 --allow-python"
    assert f"64 rows are done. Go on with: {again}" in capsys.readouterr().err


def test_a_card_in_a_folder_that_is_not_there_is_refused_before_anything_is_asked(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    assert main(["calibrate", "e.yaml", "--labels", "human", "--output", "cards/q.json"]) == 1
    assert capsys.readouterr().err == "rulebook: there is no folder `cards` for the card. Make it first.\n"
    assert not (place / "home").exists()


def test_a_card_stays_in_the_folder_of_its_rule_file(place: Path) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    (place / "e.yaml").write_text(LLM.replace("{name", "{card: ../q.json, name"), encoding="utf-8")
    assert codes(place) == ["RB308 A path must stay inside this file's folder; `../q.json` climbs out with `..`."]


def codes(place: Path) -> list[str]:
    return [f"{each.code} {each.message.partition(' Run ')[0]}" for each in lint_file(str(place / "e.yaml")).diagnostics]


CHANGED = "RB815 `quality` is not the judge that was calibrated: its {} changed since."


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("Grade it.", "Grade it well.", "prompt"),
        ("answer:", "inputs: [human], answer:", "prompt"),
        ("{type: number}", "{type: number, description: How good.}", "schema"),
        ("answer:", "score: score * 0.5, answer:", "schema"),
        ("play/small", "play/large", "model"),
        ("play/small", "play/small, temperature: 1", "model"),
        ("play/small", "play/small, votes: 3", "model"),
        ("play/small, instructions: Grade it.", "play/large, instructions: Grade.", "model and prompt"),
    ],
)
def test_lint_says_what_of_a_judge_changed_since_its_card(
    old: str, new: str, what: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    calibrate(capsys)
    assert codes(place) == []
    (place / "e.yaml").write_text(LLM.replace(old, new), encoding="utf-8")
    assert codes(place) == [CHANGED.format(what)]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("play/large", "play/small", "model"),
        ("escalate_below: 0.8", "escalate_below: 0.7", "model"),
        ("escalate_below: 0.8", "threshold: 0.8", ""),
        ("half: close", "half: very close", "prompt"),
        ("half: 0.5", "half: 0.4", "schema"),
    ],
)
def test_lint_says_what_of_jev_changed_since_its_card(
    old: str, new: str, what: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"output": "item-0.", "human": "right"}]
    write(place, HEAD + JEV, rows, {"item-0.": [labelled("right", 0.9)]})
    calibrate(capsys)
    assert codes(place) == []
    (place / "e.yaml").write_text(HEAD + JEV.replace(old, new), encoding="utf-8")
    assert codes(place) == ([CHANGED.format(what).replace("quality", "intent")] if what else [])


@pytest.mark.parametrize(("words", "scorer"), [("fenced", LLM), ("answer_in_json", LLM), ("question_of_labels", HEAD + JEV)])
def test_words_of_our_own_around_the_authors_are_part_of_the_prompt(
    words: str, scorer: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of Rulebook may ask in other words, and a judge that is asked otherwise is another one."""
    reply = labelled("right", 0.9) if "jev" in scorer else {"score": 1.0}
    write(place, scorer, [{"output": "item-0.", "human": "yes"}], {"item-0.": [reply]})
    calibrate(capsys)
    assert codes(place) == []
    monkeypatch.setattr(judge_identity, words, lambda *_: "other words")
    assert codes(place) == [CHANGED.format("prompt").replace("quality", "intent" if "jev" in scorer else "quality")]


def test_an_alias_that_means_another_model_is_another_judge(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    calibrate(capsys)
    (place / "rulebook.toml").write_text(TOML.replace("small-1", "small-2"), encoding="utf-8")
    assert codes(place) == [CHANGED.format("model")]
    (place / "rulebook.toml").unlink()
    assert codes(place) == [], "which model it is cannot be told here"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: quality", "name: quality, threshold: 0.7"),
        ("name: support", "name: other"),
        ("play/small", "small-1, base_url: 'http://127.0.0.1:9/v1'"),
        ("scorers:\n", "scorers:\n  - json_valid: {}\n"),
    ],
)
def test_what_is_no_part_of_a_judge_makes_no_card_stale(
    old: str, new: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    calibrate(capsys)
    (place / "e.yaml").write_text(LLM.replace(old, new), encoding="utf-8")
    assert codes(place) == []


@pytest.mark.parametrize(("beside", "inside"), [("\n    card: cards/q.json", ""), ("", "card: cards/q.json, ")])
def test_a_card_that_the_file_names(beside: str, inside: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    rules = LLM.replace("{name", f"{{{inside}name").rstrip("\n") + beside + "\n"
    (place / "e.yaml").write_text(rules, encoding="utf-8")
    assert codes(place) == ["RB816 The card `cards/q.json` doesn't exist."]
    (place / "cards").mkdir()
    calibrate(capsys)
    assert codes(place) == []
    card = place / "cards" / "q.json"
    card.write_text(card.read_text(encoding="utf-8").replace('"scorer": "quality"', '"scorer": "other"'), encoding="utf-8")
    assert codes(place) == ["RB816 The card `cards/q.json` is that of `other`."]
    for text, why in [("{", "is no card of `rulebook calibrate`"), ('{"schema": "rulebook.judge-card", "version": 2}', "is of another version of Rulebook"), ('{"schema": "rulebook.judge-card", "version": 1}', "is damaged")]:  # fmt: skip
        card.write_text(text, encoding="utf-8")
        assert codes(place) == [f"RB816 The card `cards/q.json` {why}."]


def test_a_card_that_is_named_twice_is_refused(place: Path) -> None:
    write(place, HEAD + JEV.replace("name: intent", "name: intent\n      card: a.json") + "    card: b.json\n", [], {})
    assert "RB215 `card` has no effect here: it stands inside `jev` already. Keep one." in codes(place)


def test_a_card_of_ours_is_replaced(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded(place, ("yes", 0.7), ("no", 0.3))
    calibrate(capsys)
    (place / "e.yaml").write_text(LLM.replace("Grade it.", "Grade."), encoding="utf-8")
    assert codes(place) == [CHANGED.format("prompt")]
    calibrate(capsys)
    assert codes(place) == []
