"""Probing tasks: each kind of weak judge is named by the student who got through it, and a strong one by none."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_reports import compare

from rulebook.api.loading import load
from rulebook.cli.main import main
from rulebook.errors import UsageError
from rulebook.outcome import Measurement, Unmeasured, binary
from rulebook.ports import Command
from rulebook.report.probe_report import SCHEMA, exit_status
from rulebook.report.probe_scores import Played, Probed, StepProbed
from rulebook.report.probe_text import render_probe
from rulebook.report.task_scores import StepJudged
from rulebook.services import misbehaving_files, misbehaving_texts
from rulebook.services import misbehaving_pieces as pieces
from rulebook.services.leashes import leash
from rulebook.services.misbehaving import STUDENTS
from rulebook.services.misbehaving_scripts import lingers, writes_scores
from rulebook.services.misbehaving_texts import harmless_to_run, numbers_replaced
from rulebook.services.ports import machine_ports
from rulebook.services.processes import MachineProcesses
from rulebook.session.task_probing import Probing, probe_task
from rulebook.session.task_scoring import load_task

ROOT = Path(__file__).parent.parent
HEAD = "schema: rulebook.task\nversion: 1\nname: probed\n"
GOLDEN = Path(__file__).parent / "probes"


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for everything temporary: whatever is probed, no file and no program of it may be left."""
    above = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a busy disk takes milliseconds for each folder
    letters = "".join("abcdefghij"[int(digit)] for digit in str(os.getpid()))  # no digit of it may get into a program
    room = Path(above or tmp_path, f"probing-{letters}")
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    try:
        yield room
        assert lingering(str(room)) == []
        assert list(room.iterdir()) == []
    finally:
        shutil.rmtree(room, ignore_errors=True)
    assert not (tmp_path / "home").exists()


def lingering(mark: str) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().decode(errors="replace")
        except OSError:
            continue
        found += [words] if mark in words else []
    return found


def probed(text: str, **how: Any) -> Probed:
    Path("task.yaml").write_text(HEAD + text, encoding="utf-8")
    ports = machine_ports("task.yaml")
    return probe_task(load_task("task.yaml", ports), Probing(**how), ports)


def holes(found: Probed) -> list[str]:
    return [each.student for _, each in found.holes]


def got(found: Probed, student: str, step: int = 0) -> Played:
    return next(each for each in found.steps[step].played if each.student == student)


def scripted(path: str, judge: str, oracle: str) -> str:
    """A task whose student hands in a program, and whose judge is a line for the shell: $0 the program, $1 the score's file."""
    line = json.dumps(judge)
    return f"""steps:
  - name: sort
    instructions: Write a program that prints its arguments in order.
    submissions: {{program: {{path: {path}}}}}
    judge:
      executable:
        argv: [sh, -c, {line}, '{{{{ submissions.program.path }}}}', '{{{{ score_file }}}}']
        continue_threshold: 0.5
        timeout: 20s
    oracle: {{hand_in: {{program: {json.dumps(oracle)}}}}}
"""


PYTHON_SORTS = "import sys\nprint(*sorted(sys.argv[1:]))\n"
SHELL_SORTS = "set -- $(printf '%s\\n' \"$@\" | sort)\necho \"$@\"\n"
SAYS = 'echo "{\\"score\\": $s, \\"metadata\\": {}}" > "$1"'


def said(judge: str, oracle: str, **more: str) -> str:
    return f"steps: [{{name: tell, instructions: Say the word lighthouse., judge: {judge}, oracle: {{say: {oracle}}}}}]\n"


def answer(judge: str, oracle: str = "'42'", told: str = "How much is 40 and 2?") -> str:
    hands_in = f"submissions: {{answer: {{path: answer.txt}}}}, judge: {judge}, oracle: {{hand_in: {{answer: {oracle}}}}}"
    return f"steps: [{{name: add, instructions: {json.dumps(told)}, {hands_in}}}]\n"


def judged_in_python(right: str, oracle: str, path: str = "answer.txt") -> str:
    """A task whose judge is an expression over `text`, what was handed in; what breaks it is wrong."""
    script = (
        "import json, sys\ntry: text = open(sys.argv[1]).read(); right = RIGHT\nexcept Exception: right = False\n"
        "json.dump({'score': float(right), 'metadata': {}}, open(sys.argv[2], 'w'))"
    )
    argv = json.dumps(["{{ python }}", "-c", script.replace("RIGHT", right), "{{ submissions.answer.path }}", "{{ score_file }}"])
    hands_in = f"hand_in: {{answer: {json.dumps(oracle)}}}"
    return f"""steps:
  - name: tell
    instructions: Say what it is.
    submissions: {{answer: {{path: {path}}}}}
    judge: {{executable: {{argv: {argv}, continue_threshold: 0.5}}}}
    oracle: {{{hands_in}}}
"""


WEAK: dict[str, tuple[str, list[str]]] = {
    "an exit status that is believed": (
        scripted("sort.py", 's=0; python3 "$0" 3 1 2 > /dev/null 2>&1 && s=1; ' + SAYS, PYTHON_SORTS),
        ["empty files", "an empty shell", "equal to anything", "score file as data", "writes the score", "exits early", "left running"],
    ),
    "a word of the instructions": (
        answer("{contains: {from: {submission: answer}, expected: lighthouse}}", "lighthouse", "Write the word lighthouse."),
        ["instructions echoed"],
    ),
    "a word of the instructions, said": (said("{contains: lighthouse}", "lighthouse"), ["instructions echoed"]),
    "as many lines as there should be": (judged_in_python("text.count('- ') == 3", "- oak\n- elm\n- ash\n"), ["the form alone"]),
    "a number within far too much": (judged_in_python("abs(float(text) - 42.5) < 50", "42.5"), ["the form alone", "a beginning"]),
    "a list of which every part is right": (
        judged_in_python("all(x in (2, 3, 5) for x in json.loads(text)['primes'])", '{"primes": [2, 3, 5]}'),
        ["an empty shell"],
    ),
    "words that are all allowed": (judged_in_python("set(text.split()) <= {'oak', 'elm'}", "oak elm"), ["empty files", "an empty shell"]),
    "an answer that begins like the right one": (judged_in_python("text != '' and '4217'.startswith(text)", "4217"), ["a beginning"]),
    "an answer that ends like the right one": (judged_in_python("text != '' and 'it is 4217'.endswith(text)", "it is 4217"), ["an end"]),
    "an answer that is evaluated": (judged_in_python("eval(text, {'__builtins__': {}}) == 42", "6 * 7"), ["equal to anything"]),
    "a module that is imported": (
        judged_in_python("(exec(text, (names := {})), names.get('__getattr__', names.get)('add')(2, 3) == 5)[1]",
                         "def add(a, b):\n    return a + b\n", "answer.py"),
        ["equal to anything", "writes the score", "left running"],
    ),
    "a claim": (said("{regex: '(?i)all tests pass'}", "All tests pass."), ["a boast"]),
    "an answer among others": (answer("{contains: {from: {submission: answer}, expected: '42'}}"), ["everything at once"]),
    "only a must not": (
        "steps: [{name: tidy, instructions: Remove it., submissions: {a: {path: a.txt}}, judge: {expr: not submissions.a.exists}, "
        "oracle: {say: It is gone.}}]\n",
        ["nothing"],
    ),
    "a number that no comparison refuses": (
        answer("{executable: {argv: ['{{ python }}', -c, \"import sys, json; off = abs(float(open(sys.argv[1]).read()) - 42) > 1; "
               "json.dump({'score': float(not off), 'metadata': {}}, open(sys.argv[2], 'w'))\", '{{ submissions.answer.path }}', "
               "'{{ score_file }}'], continue_threshold: 0.5}}"),
        ["NaN"],
    ),
    "a program run where the score lies": (
        scripted("sort.sh", 'cd "$(dirname "$1")"; s=0; ' + SAYS + '; sh "$0" 3 1 2 > out; if [ "$(cat out)" = "1 2 3" ]; then s=1; ' + SAYS + "; fi", SHELL_SORTS),
        ["writes the score", "left running"],
    ),
    "a Python program run where the score lies": (
        scripted("sort.py", 'cd "$(dirname "$1")"; s=0; ' + SAYS + '; python3 "$0" 3 1 2 > out 2> err; if [ "$(cat out)" = "1 2 3" ]; then s=1; ' + SAYS + "; fi", PYTHON_SORTS),
        ["writes the score", "left running"],
    ),
    "a program that is the judge": (
        scripted("sort.py", 'python3 "$0" "$1"', "import sys\nopen(sys.argv[1], 'w').write('{\"score\": 1, \"metadata\": {}}')\n"),
        ["writes the score", "left running"],
    ),
    "a copy that is compared after it was run": (
        scripted("sort.sh", 'sh "$0" 3 1 2 > /dev/null 2>&1; s=0; grep -q score "$0" && ! grep -q printf "$0" && s=1; ' + SAYS, "score=1\n"),
        ["a boast", "score file as data", "left running"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WEAK)
def test_a_weak_judge_is_named_by_who_gets_through(name: str) -> None:
    text, who = WEAK[name]
    found = probed(text)
    assert holes(found) == who
    assert exit_status(found) == 3
    assert not found.wronged
    report = render_probe(found)
    assert all(f"HOLE  {student}" in report for student in who)
    assert max(map(len, report.splitlines())) <= 100


STRONG = {
    "an exit status that is believed": scripted("sort.py", 's=0; [ "$(cd / && python3 "$0" 3 1 2 2> /dev/null)" = "1 2 3" ] && s=1; ' + SAYS, PYTHON_SORTS),
    "a word of the instructions": answer("{exact_match: {from: {submission: answer}, expected: lighthouse}}", "lighthouse", "Write the word lighthouse."),
    "a claim": said("{regex: '^The tests lighthouse and buoy pass\\.$'}", "The tests lighthouse and buoy pass."),
    "an answer among others": answer("{regex: {from: {submission: answer}, patterns: ['^42$']}}"),
    "a number that no comparison refuses": answer("{expr: abs(json(submissions.answer.text) - 42) <= 1}"),
}  # fmt: skip


@pytest.mark.parametrize("name", STRONG)
def test_a_strong_judge_rewards_the_work_alone(name: str) -> None:
    found = probed(STRONG[name])
    assert holes(found) == []
    assert (found.passed, exit_status(found)) == (True, 0)
    assert got(found, "oracle").got(0.0) == "right"


def test_a_judge_that_reads_the_original_is_found_out(tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    text = answer("{executable: {argv: [sh, -c, 's=0; grep -qx 42 \"$1\" && s=1; echo \"{\\\"score\\\": $s, \\\"metadata\\\": {}}\" > \"$0\"', "
                  "'{{ score_file }}', PLACE], continue_threshold: 0.5}}")  # fmt: skip
    assert holes(probed(text.replace("PLACE", str(desk / "answer.txt")), folder=str(desk))) == ["rewritten later"]
    assert not desk.exists()
    found = probed(text.replace("PLACE", "'{{ submissions.answer.path }}'"), folder=str(desk))
    assert (holes(found), found.passed) == ([], True)


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    assert probed(answer("{exact_match: {from: {submission: answer}, expected: '42'}}"), folder=str(desk)).passed
    assert list(desk.iterdir()) == []
    (desk / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="is not empty"):
        probed(answer("{expr: submissions.answer.exists}"), folder=str(desk))
    assert (desk / "thesis.txt").read_text() == "years of work"


def test_an_oracle_that_does_not_pass_is_named() -> None:
    found = probed(answer("{exact_match: {from: {submission: answer}, expected: '42'}}", "'43'"))
    assert (holes(found), found.passed, exit_status(found)) == ([], False, 3)
    report = render_probe(found)
    assert "ORACLE FAILED" in report
    assert "The oracle of `add` did not pass" in report


def test_an_oracle_that_scores_no_more_than_idle_work_does_not_pass() -> None:
    half = answer("{mean: [{exact_match: {from: {submission: answer}, expected: '42'}}, {contains: {from: {submission: answer}, expected: '1'}}], threshold: 0.4}")  # fmt: skip
    found = probed(half, allow=0.5)
    assert got(found, "oracle").got(0.5) == "not right"
    assert got(found, "oracle").got(0.4) == "right"


def test_idle_work_may_score_what_is_allowed() -> None:
    text = answer("{mean: [{exact_match: {from: {submission: answer}, expected: '48'}}, {contains: {from: {submission: answer}, expected: '8'}}], threshold: 1}", "'48'", "How much is six times eight?")  # fmt: skip
    assert holes(probed(text)) == ["everything at once", "an end"]
    found = probed(text, allow=0.5)
    assert (holes(found), found.passed) == ([], True)
    assert got(found, "everything at once").score == 0.5


def test_who_passes_with_nothing_is_a_hole_too() -> None:
    found = probed(scripted("a.sh", "s=0; " + SAYS, "x").replace("        continue_threshold: 0.5\n", ""))
    assert {"nothing", "a boast"} <= set(holes(found))
    assert "It passes whatever it scores" in render_probe(found)


RUBRIC = "{rubric: {model: p/m, context: [final_message], criteria: [{criterion: It is explained., weight: 1}]}}"


def test_pieces_of_right_work_that_come_out_empty_show_nothing_of_a_model_that_was_not_asked() -> None:
    rubric = "{rubric: {model: p/m, context: [{submission: answer}], criteria: [{criterion: It is right., weight: 1}]}}"
    found = probed(answer(rubric))
    assert (got(found, "an empty shell").score, [step.status for step in found.steps]) == (0.0, ["not probed"])


def test_a_judge_that_could_tell_nothing_was_not_probed() -> None:
    found = probed(said(RUBRIC, "That is why."))
    assert (holes(found), found.passed, exit_status(found)) == ([], False, 3)
    assert [step.status for step in found.steps] == ["not probed"]
    report = render_probe(found)
    assert "NOT PROBED" in report
    assert "no model was asked, which `--ask-models` would do. That is no pass." in " ".join(report.split())
    bare = probed(said(RUBRIC, "x").replace(", oracle: {say: x}", ""))
    assert (bare.steps[0].oracle, bare.passed, exit_status(bare)) == (None, False, 3)
    boast = got(found, "a boast")
    assert (boast.got(0.0), boast.score, boast.judged and boast.judged.status) == ("no reward", None, "unmeasured")


@pytest.mark.parametrize("line", ["exit 1", "exec no-such-program", "exec sleep 60"])
def test_a_script_that_breaks_over_whatever_is_handed_in_was_not_probed(line: str) -> None:
    text = scripted("sort.sh", line, SHELL_SORTS).replace("timeout: 20s", "timeout: 0.2s")
    bare = probed(text.split("    oracle:")[0] + "\n")
    assert ([step.status for step in bare.steps], bare.passed, exit_status(bare)) == (["not probed"], False, 3)
    report = " ".join(render_probe(bare).split())
    assert "could not be probed: its script broke over all of it." in report
    assert "The judge of `sort` could not be probed: the script" in report
    with_oracle = probed(text)
    assert ([step.status for step in with_oracle.steps], with_oracle.passed) == (["probed"], False)
    assert "The oracle of `sort` did not pass" in render_probe(with_oracle)


def test_a_script_that_breaks_over_some_work_was_probed() -> None:
    text = scripted("sort.sh", 's=0; grep -q NaN "$0" && exit 1; ' + SAYS, SHELL_SORTS)
    assert probed(text.split("    oracle:")[0] + "\n").passed


def test_what_other_parts_decide_counts_without_a_model() -> None:
    found = probed(said("{all: [{exact_match: {from: final_message, expected: lighthouse}}, " + RUBRIC + "]}", "lighthouse"))
    assert [step.status for step in found.steps] == ["probed"]
    assert got(found, "a boast").got(0.0) == "nothing"
    assert got(found, "oracle").got(0.0) == "no reward"
    assert not found.passed  # a failure to judge is never a pass
    report = render_probe(found)
    assert "The oracle of `tell` could not be measured" in report
    assert "ORACLE UNMEASURED" in report
    assert "    ????  oracle " in report


def test_a_rubric_over_what_is_handed_in_was_not_probed_for_its_empty_file() -> None:
    rubric = RUBRIC.replace("final_message", "{submission: answer}")
    step = f"{{name: a, instructions: Go., submissions: {{answer: {{path: a.txt}}}}, judge: {rubric}}}"
    found = probed(f"steps: [{step}]\n")
    assert got(found, "empty files").score == 0
    assert ([each.status for each in found.steps], found.passed) == (["not probed"], False)


def test_steps_that_only_let_pass() -> None:
    open_step = "{name: look, instructions: Look., judge: {always_pass: true}}"
    tell = "{name: tell, instructions: Say it., judge: {exact_match: {from: final_message, expected: blue}}, oracle: {say: blue}}"
    found = probed(f"steps: [{open_step}, {tell}]\n")
    assert ([step.status for step in found.steps], found.passed) == (["open by design", "probed"], True)
    assert "Open by design: its judge is `always_pass`." in render_probe(found)
    alone = probed(f"steps: [{open_step}]\n")
    assert (alone.passed, exit_status(alone)) == (False, 3)
    assert "JUDGES NOTHING" in render_probe(alone)
    assert probed(f"steps: [{open_step}, {tell}]\n", step="look").passed


def test_a_step_that_never_opens_is_skipped_and_a_second_chance_is_not() -> None:
    tell = "{name: %s, when: %s, instructions: Say it., judge: {exact_match: {from: final_message, expected: blue}}, oracle: {say: blue}}"
    first = "{name: first, instructions: Say it., judge: {exact_match: {from: final_message, expected: red}}, oracle: {say: red}}"
    found = probed(f"steps: [{first}, {tell % ('again', 'steps.first.score < 0.5')}, {tell % ('never', 'steps.first.score > 5')}]\n")
    assert [step.status for step in found.steps] == ["probed", "probed", "skipped"]
    assert found.passed
    alone = probed(f"steps: [{first}, {tell % ('never', 'steps.first.score > 5')}]\n", step="never")
    assert (alone.passed, exit_status(alone)) == (False, 3)
    assert "No step was reached" in render_probe(alone)


CASES = "params: {a: {type: integer}}\ncases: [{name: x, a: 77}, {name: y, a: 12345}, {name: z, a: 23456}]\n"
SUM = "steps: [{name: add, instructions: Write it., submissions: {s: {path: out/s.txt}}, judge: {contains: {from: {submission: s}, expected: '{{ params.a }}'}}, oracle: {hand_in: {s: '{{ params.a }}'}}}]\n"  # fmt: skip


def test_cases_that_are_alike_stand_once_and_holes_never() -> None:
    found = probed(CASES + SUM)
    assert [(step.case, each.student) for step, each in found.holes] == [("x", "everything at once")]
    report = render_probe(found)
    assert "add  case x\n" in report
    assert "add  case y; z alike\n" in report
    both = render_probe(probed(CASES.replace("12345", "78") + SUM))
    assert "add  case x\n" in both
    assert "add  case y\n" in both
    assert len(probed(CASES + SUM, case="y").steps) == 1
    assert probed(CASES + SUM, case="y").passed


def test_nothing_is_handed_in_where_its_folder_is() -> None:
    """Else custody would call it misbehaviour, and the judge would never be asked."""
    found = got(probed(CASES + SUM, case="y"), "nothing")
    assert (found.judged and found.judged.status, found.reason) == ("failed", "the submission `s` was not handed in")


def test_a_linked_folder_on_the_way_is_misbehaviour() -> None:
    found = got(probed(CASES + SUM, case="y"), "linked folder")
    assert (found.judged and found.judged.status, found.reason) == ("misbehavior", "out is a symlink")


def test_recorded_right_work_of_each_step_and_case(tmp_path: Path) -> None:
    text = CASES + SUM.replace(", oracle: {hand_in: {s: '{{ params.a }}'}}", "")
    right = tmp_path / "right"
    for name, number in (("x", "77"), ("y", "12345"), ("z", "0")):
        (right / name / "add" / "out").mkdir(parents=True)
        (right / name / "add" / "out" / "s.txt").write_text(number)
    found = probed(text, oracle=str(right))
    assert [step.oracle and step.oracle.got(0.0) for step in found.steps] == ["right", "right", "not right"]
    with pytest.raises(UsageError, match="There is no folder"):
        probed(text, oracle=str(tmp_path / "nowhere"))
    assert probed(text, case="y", oracle=str(right / "y")).passed
    assert probed(text, case="y", oracle=str(right / "y" / "add")).passed


def test_the_session_of_right_work(tmp_path: Path) -> None:
    session = tmp_path / "s.json"
    session.write_text(json.dumps({"messages": [{"role": "assistant", "content": "lighthouse"}]}))
    text = said("{exact_match: {from: final_message, expected: lighthouse}}", "wrong")
    assert got(probed(text), "oracle").got(0.0) == "not right"
    assert got(probed(text, oracle_transcript=str(session)), "oracle").got(0.0) == "right"


def test_right_work_that_is_a_folder() -> None:
    text = """steps:
  - name: build
    instructions: Make a site.
    submissions: {site: {path: site}}
    judge: {file: {submission: site, path: index.html, contains: lighthouse}}
    oracle: {hand_in: {site: {index.html: lighthouse, img/a.svg: <svg/>}}}
"""
    found = probed(text)
    assert got(found, "oracle").got(0.0) == "right"
    assert got(found, "hard link to the key").reason == "img/a.svg is a hard link: the file has 2 names"
    weak = probed(text.replace("contains: lighthouse", "contains: 'YES'").replace("index.html: lighthouse", "index.html: 'YES'"))
    assert {"a boast", "an injection", "everything at once"} <= set(holes(weak))


def test_a_judge_in_python_that_waits_for_nobody_leaves_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "careless_judge.py").write_text(
        "import subprocess, sys\n"
        "from rulebook.judges import Judge\n"
        "from rulebook.schemas.scoring import Scoring\n"
        "class Careless(Judge):\n"
        "    def evaluate(self, transcript):\n"
        "        path = next(each.text for each in transcript.messages if each.role == 'user').strip()\n"
        "        subprocess.run([sys.executable, path], capture_output=True, timeout=20)\n"
        "        return Scoring(score=0.0, metadata={}, continue_task=False)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "steps: [{name: run, instructions: '{{ submissions.p.write_to }}', submissions: {p: {path: p.py}}, judge: {python: 'careless_judge:Careless'}}]\n"  # fmt: skip
    Path("task.yaml").write_text(HEAD + text)
    report = load("task.yaml", allow_python=True).probe()
    assert [each.student for each in report.steps[0].played if each.score != 0.0] == []
    assert report.passed


def test_scripts_of_students_touch_nothing_that_was_there(tmp_path: Path) -> None:
    """A judge may run a student's program anywhere, also where the author's own files lie."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (tmp_path / "empty").mkdir()
    (old / "task.yaml").write_text("mine")
    until_later(old)
    with leash() as held:
        new.mkdir()
        (old / "judge.txt").write_text("what a judge leaves beside the author's files")
        played_in(old, new, held)


def played_in(old: Path, new: Path, leash: str) -> None:
    tmp_path = new.parent
    (new / "score.json").write_text("theirs")
    (new / "link.json").symlink_to(old / "task.yaml")
    for name, program in (("p.py", "python3"), ("p.sh", "sh")):
        for kind in (writes_scores, lingers):
            (new / "score.json").write_text("theirs")
            file = tmp_path / name
            for folder in (old, new):
                file.write_bytes(kind(name, leash))  # one of them writes over itself
                for made in new.glob("*.*"):
                    made.unlink() if made.name not in ("score.json", "link.json") else None
                argv = [program, str(file), str(old / "task.yaml"), str(old / "made.json"), str(tmp_path / "empty" / "made.json"), str(new / "made.json")]
                done = MachineProcesses().run(Command(argv, str(folder), 20.0, {"PATH": os.environ["PATH"]}))
                assert (done.exit, done.stderr, done.timed_out) == (0, "", False)
            assert sorted(path.name for path in old.iterdir()) == ["judge.txt", "task.yaml"], (name, kind)
            assert list((tmp_path / "empty").iterdir()) == []
            assert (old / "task.yaml").read_text() == "mine"
            assert json.loads((new / "score.json").read_text())["score"] == 1.0
            assert json.loads((new / "made.json").read_text())["score"] == 1.0


def test_no_program_outlives_its_leash() -> None:
    stubborn = [sys.executable, "-c", "while True: input()"]
    with leash() as held, leash() as other:
        assert held != other
        waiting = [subprocess.Popen([*stubborn, path], stdin=subprocess.PIPE) for path in (held, other, held + "x")]
        waiting.append(subprocess.Popen([*stubborn, "none"], stdin=subprocess.PIPE))
    try:
        assert [each.wait(timeout=20) for each in waiting[:3]] == [-9, -9, -9]
        assert waiting[3].poll() is None
    finally:
        for each in waiting:
            each.kill()
            each.communicate()


def until_later(folder: Path) -> None:
    """Until the kernel's clock, which ticks in milliseconds, has moved on: no sleep, it is looked at again and again."""
    probe, before = folder.parent / "tick", os.stat(folder / "task.yaml").st_ctime_ns
    probe.write_bytes(b"")
    while os.stat(probe).st_ctime_ns <= before:
        probe.write_bytes(b"x")


def test_numbers_are_replaced_where_the_right_answer_is_json() -> None:
    assert numbers_replaced('{"a": 1, "b": [2.5, true, "x", null]}', "NaN") == '{"a": NaN, "b": [NaN, true, "x", null]}'
    assert numbers_replaced("42", "NaN") == "NaN\n"
    assert numbers_replaced("no json", "Infinity") == "Infinity\n"
    assert numbers_replaced(None, "NaN") == "NaN\n"


PIECES = (pieces.form_of, pieces.shell_of, pieces.beginning_of, pieces.end_of)


@pytest.mark.parametrize(
    ("right", "made"),
    [
        ("Paris, 75001\n", ("xxxxx, 00000\n", " \n", "P", "1")),
        ('{"a": [1, "x"], "ok": true, "n": null}', ('{"a": [0, "x"], "ok": false, "n": null}', '{"a": [], "ok": false, "n": null}', "{", "}")),
        ("name,age\nAnn,31\n", ("xxxx,xxx\nxxx,00\n", "name,age\n", "n", "1")),
        ("Paris, France\nsays the map\n", ("xxxxx, xxxxxx\nxxxx xxx xxx\n", " \n", "P", "p")),
        ("1,2\n3,4\n", ("0,0\n0,0\n", " \n", "", "")),
        ("42", ("00", " \n", "4", "2")),
        ("3.1", ("0.0", " \n", "", "")),
        ("4.0", ("0.0", " \n", "", "")),
        ("0.00", ("", " \n", "", "")),
        ("x", ("", " \n", "", "")),
        ("5 apples", ("0 xxxxxx", " \n", "", "s")),
        ('{"left": []}', ("", "", "{", "}")),
        ("", ("", " \n", "", "")),
    ],
)
def test_pieces_of_right_work_are_not_right_work(right: str, made: tuple[str, ...]) -> None:
    assert tuple(make(right) for make in PIECES) == made


def test_pieces_are_made_only_where_right_work_is_known() -> None:
    bare = answer("{exact_match: {from: {submission: answer}, expected: '42'}}").replace(", oracle: {hand_in: {answer: '42'}}", "")
    played = {each.student for each in probed(bare).steps[0].played}
    assert played & {student.name for student in STUDENTS if student.knows} == set()
    assert "equal to anything" in played


def test_no_text_of_a_student_does_anything_as_a_shell_script(room: Path) -> None:
    texts = {name: text for name, text in vars(misbehaving_texts).items() if name.isupper() and isinstance(text, str)}
    assert {"BOAST", "INJECTION", "EVERYTHING"} <= set(texts)
    texts |= {f"equal {path}": pieces.equal_to_anything(path) for path in ("answer", "answer.py")}
    texts |= {make.__name__: harmless_to_run(make("yes > made; `touch made`"), "answer") for make in PIECES}
    texts["echoed"] = harmless_to_run("Do this:\n`touch made`\nyes > made\n", "answer")
    for name, text in texts.items():
        (room / "script").write_text(text)
        done = MachineProcesses().run(Command(["sh", "script"], str(room), 20.0, {"PATH": os.environ["PATH"]}))
        assert not done.timed_out, name
        assert done.stdout == "", name
        assert [path.name for path in room.iterdir()] == ["script"], name
    (room / "script").unlink()
    assert harmless_to_run("Do this", "answer.txt") == "Do this"


def test_what_this_machine_cannot_make_is_not_played(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(misbehaving_files.os, "mkfifo", refused)
    text = answer("{exact_match: {from: {submission: answer}, expected: '42'}}")
    found = probed(text)
    assert (got(found, "FIFO").got(0.0), got(found, "FIFO").reason) == ("not played", "operation not permitted")
    assert found.passed
    assert "Not played on this machine: FIFO." in render_probe(found)
    strict = probed(text, strict=True)
    assert (strict.passed, exit_status(strict)) == (False, 3)
    assert "NOT PLAYED" in render_probe(strict)


def test_every_student_has_a_name_and_says_what_it_does() -> None:
    names = [student.name for student in STUDENTS]
    assert len(set(names)) == len(names) == 26
    assert all(student.about and student.advice for student in STUDENTS)
    page = (ROOT / "docs" / "probe.md").read_text(encoding="utf-8")
    assert all(f"| {student.name} | {student.about} |" in page for student in STUDENTS)


@pytest.mark.parametrize(("page", "task"), [("README.md", "task.yaml"), ("docs/probe.md", "rules/report-version.yaml")])
def test_the_documents_show_what_is_printed(
    page: str, task: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    if task == "task.yaml":
        Path(task).write_text(text.split("```yaml\nschema: rulebook.task")[1].split("```")[0].join(["schema: rulebook.task", ""]))
    else:
        monkeypatch.chdir(ROOT)
    main(["task", "probe", task])
    assert f"```console\n$ rulebook task probe {task}\n{capsys.readouterr().out}```" in text


@pytest.mark.parametrize("task", sorted((ROOT / "rules").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_tasks_of_the_project_are_sound(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "schema: rulebook.task" not in task.read_text(encoding="utf-8"):
        return
    assert main(["task", "probe", str(task)]) == 0
    shown = capsys.readouterr().out
    assert "SOUND" in shown
    assert "and right work passes." in shown


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("task.yaml").write_text(HEAD + CASES + SUM)
    assert main(["task", "probe", "task.yaml", "--case", "x", "--format", "json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["schema"], report["version"], report["holes"]) == (SCHEMA, 1, 1)
    assert main(["task", "probe", "task.yaml", "--param", "a=98765", "--case", "x", "--output", "r.txt"]) == 0
    assert Path("r.txt").read_text().startswith("probed")
    assert capsys.readouterr().err.startswith("probed                                                      SOUND  1 step, 1 case\n")
    assert main(["task", "probe", "task.yaml", "--allow", "lots"]) == 1
    assert "`--allow lots`: write the most that idle work may score" in capsys.readouterr().err
    assert main(["task", "probe", "tsak.yaml"]) == 1
    assert main(["task", "probe", "task.yaml", "--step", "ad"]) == 1
    assert "Did you mean `add`?" in capsys.readouterr().err
    assert main(["task", "probe", "task.yaml", "--case", "x", "--allow", "1"]) == 3  # then right work scores no more


@pytest.mark.parametrize("folder", sorted(GOLDEN.iterdir()), ids=lambda path: path.name)
def test_golden_reports(folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    task = str((folder / "task.yaml").relative_to(ROOT))
    report = load(task).probe()
    compare(folder / "report.json", json.dumps(report.as_dict(), indent=2, sort_keys=True), request)
    compare(folder / "report.txt", str(report), request)
    assert report.passed is (folder.name == "sound")


def test_a_step_counts_as_probed_only_by_work_that_can_be_read() -> None:
    measured, untold = StepJudged("s", binary(False)), StepJudged("s", Unmeasured("model", "who knows"))
    refused = Played("FIFO", "…", measured)
    plain = Played("a boast", "…", untold, plain=True)
    assert StepProbed(None, "s", (refused, plain)).status == "not probed"
    assert StepProbed(None, "s", (refused, plain, Played("oracle", "…", measured))).status == "probed"
    assert Played("x", "…", StepJudged("s", Measurement(-1.0, False))).got(0.0) == "nothing"
