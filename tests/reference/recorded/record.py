"""Records what karotte 3.0.100 gives for the cases beside this file: the `karotte` of each is written anew, no more.

    KAROTTE tests/reference/recorded/record.py

KAROTTE is the Python of an environment with karotte, which needs Python 3.12: `python3.12 -m venv K; K/bin/pip install
karotte==3.0.100`. Run it as root, by hand, when a case was added; the tests replay the cases without karotte.
"""

import asyncio
import json
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import karotte
from karotte import EvaluationRunConfig, Step, StudentMisbehaviorError, Task, evaluation_runner, save_submission
from karotte.agents import FakeSource, MessageLoopAgent
from karotte.evaluation_runner import EvaluationRunner
from karotte.judges import ExecutableJudge, FileContext, Judge, RegexJudge, RubricJudge, TranscriptContext
from karotte.schemas import Message, Scoring
from karotte.schemas.transcript import ScoringEvent, TaskCompletedEvent, Transcript
from karotte.truncation import sanitize_metadata
from loguru import logger
from pydantic import ValidationError
from shared import Case, common, composed, contents, covers, joined, plain, prepare, steps_of, tree, with_mark

HERE = Path(__file__).parent
ARTIFACTS, RUBRIC = import_module("karotte.save_artifact"), import_module("karotte.judges.rubric_judge")
TEMPLATE = Path(karotte.__file__).parent / "templates/default/src/environment/submissions.py"


def scoring(case: Case) -> Case:
    """A value in memory, in the transcript's file, and read again."""
    made = {"score": 1.0, "metadata": {}, "continue_task": True} | {name: eval(text) for name, text in case.items()}
    event = ScoringEvent(scoring=Scoring(**made))
    try:
        written = Transcript(run_id="r", events=[event]).model_dump_json(warnings=False)
    except Exception as error:
        return {"made": True, "written": type(error).__name__}
    try:
        again = Transcript.model_validate_json(written).events[0].scoring
    except ValidationError as error:
        return {"made": True, "written": True, "read": type(error).__name__}
    return {"made": True, "written": True, "read": True, "score": again.score, "metadata": again.metadata}


def caps(case: Case) -> Case:
    """How much of long metadata is left: characters at its beginning and at its end."""
    values = {name: eval(text) for name, text in case.items()}
    kept = dict(values)
    sanitize_metadata(kept)
    return {name: common(values[name], kept[name]) for name in values}


def events(case: Case) -> Case:
    """An event as it is read and written again; what was set to null on the way is no loss."""
    try:
        transcript = Transcript.model_validate({"run_id": "r", "events": [case["event"]]})
    except ValidationError:
        return {"read": "ValidationError"}
    event = transcript.events[0]
    again = json.loads(transcript.model_dump_json())["events"][0]
    return {"read": type(event).__name__, "lossless": covers(again, case["event"])}


def run_of(case: Case) -> Transcript:
    added = [{"type": "message_added", "message": message} for message in case.get("messages", [])]
    return Transcript.model_validate({"run_id": "r", "events": added + case.get("events", [])})


def judged(judge: Callable[[], Judge], transcript: Transcript) -> Case:
    try:
        found = judge().evaluate(transcript)
    except Exception as error:
        return {"raises": type(error).__name__}
    return {"score": repr(found.score), "continue_task": bool(found.continue_task), "metadata": found.metadata}


def composites(case: Case) -> Case:
    """An expression over judges that give one result."""
    return composed(case, Judge, Scoring, run_of({}))


def trees(case: Case) -> Case:
    """What a composite tells of its children."""
    return judged(lambda: joined(case, Judge, Scoring, []), run_of({}))


def regex(case: Case) -> Case:
    """Patterns over messages."""
    patterns = [eval(text, {"re": re}) for text in case["patterns"]]
    return judged(lambda: RegexJudge(patterns), run_of(case))


def executable(case: Case) -> Case:
    """A script of the shell; of the texts about its failure only that they are there."""
    words, left = with_mark(case)
    kept = list(words)
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        found = judged(lambda: ExecutableJudge(words, **case.get("options", {})), run_of({}))
    if "metadata" in found:
        found["metadata"] = plain(found["metadata"])
    return found | {name: look() for name, look in (("left", left), ("argv_kept", lambda: words == kept)) if name in case}


def replies(case: Case) -> Case:
    """What a judge model's reply decides."""
    met, reason = RubricJudge.parse_reply(case["reply"])
    return {"met": met, "reason": reason}


class Scripted(RubricJudge):
    def _evaluate_criterion(self, context: str, criterion: str) -> tuple[bool, str]:
        return criterion.startswith("met"), "so"


def sums(case: Case) -> Case:
    """Criteria whose text says whether they are met."""
    shown = TranscriptContext() if case.get("context", True) else TranscriptContext(tool="none")
    said = run_of({"messages": [{"role": "assistant", "content": "work"}]})
    found = judged(lambda: Scripted(case["rubric"], "openai/m", "k", [shown], **case.get("options", {})), said)
    found.pop("metadata", None)
    return found


def contexts(case: Case) -> Case:
    """What a provider renders; files lie in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in case.get("files", {}).items():
            Path(folder, name).write_bytes(text.encode("latin-1"))
        prepare(folder, case.get("prepared", []))
        paths = [f"{folder}/{name}" for name in case.get("paths", [])]
        provider = FileContext(paths) if "paths" in case else TranscriptContext(**case["options"])
        return {"text": provider.render(run_of(case)).replace(folder, "{folder}")}


def question(case: Case) -> Case:
    """Facts about how a model is asked."""
    text = RubricJudge.criterion_prompt(case["context"], case["criterion"])
    return {
        "context_as_it_is": case["context"] in text,
        "criterion_as_it_is": case["criterion"] in text,
        "context_first": text.find(case["context"]) < text.find(case["criterion"]),
        "times_the_context": text.count(case["context"]),
        "asks_yes_or_no": "YES" in text and "NO" in text,
    }


def asked(case: Case) -> Case:
    """How a model is asked about criteria, for which it has a reply each by their text."""
    calls: list[Case] = []

    def complete(params: Case) -> Any:
        calls.append(params)
        text = next(reply for name, reply in case["replies"].items() if name in params["messages"][0]["content"])
        choice = SimpleNamespace(message=SimpleNamespace(content=text), finish_reason="stop")
        return SimpleNamespace(choices=[choice])

    RUBRIC._completion_with_retries = complete
    rubric = [{"criterion": name, "weight": 1} for name in case["replies"]]
    said = run_of({"messages": [{"role": "assistant", "content": "work"}]})
    found = judged(lambda: RubricJudge(rubric, "openai/m", "k", [TranscriptContext()]), said)
    metadata = found.get("metadata", {})
    roles = sorted({message["role"] for call in calls for message in call["messages"]})
    told = {name: text for name, text in metadata.items() if name.startswith("criterion_")}
    return {
        "calls": len(calls), "roles": roles, "temperature": calls[0].get("temperature"), "score": found.get("score"),
        "raises": found.get("raises"), "told": told, "beside": [name for name in metadata if name not in told],
    }  # fmt: skip


def collected(case: Case) -> Case:
    """The order in which its template's `collect_submission` calls what is stubbed here."""
    called: list[list[Any]] = []

    def noting(name: str, gives: Any = None) -> Callable[..., Any]:
        def note(*words: Any, **options: Any) -> Any:
            called.append([name, *(str(word) for word in words if isinstance(word, Path)), *options])
            return gives

        return note

    names = "kill_processes", "delete_files", "save_artifact"
    with patched({name: noting(name) for name in names} | {"save_submission": noting("save_submission", Path("/copy"))}):
        paths = tuple(map(Path, case["paths"]))
        copies = runpy.run_path(str(TEMPLATE))["collect_submission"](None, paths, case.get("options"))
    return {"called": called, "copies": list(map(str, copies))}


@contextmanager
def patched(functions: dict[str, Any]) -> Iterator[None]:
    """karotte with other functions, and the package that its template expects to stand in."""
    sys.modules["environment"] = ModuleType("environment")
    sys.modules["environment"].STUDENT_UID = 1000
    real = {name: getattr(karotte, name) for name in functions}
    try:
        for name, function in functions.items():
            setattr(karotte, name, function)
        yield
    finally:
        for name, function in real.items():
            setattr(karotte, name, function)


class Runner(EvaluationRunner):
    @asynccontextmanager
    async def _prepared_mcp_client(self):
        yield None

    async def _load_tools(self, client: Any) -> list[Any]:
        return []


def runs(case: Case) -> Case:
    """A whole run with a student that says one word a step: the end of its events, its status and its score."""
    config = EvaluationRunConfig(run_id="r", task_id="t", model="openai/m", use_fake_model=True)
    made_of = steps_of(Step, Judge, Scoring, StudentMisbehaviorError)
    played = [made_of(config, does) for does in case["steps"]]
    made = {"id": "t", "system_prompt": None, "tools": [], "steps": played}
    task = type("Told", (Task,), {name: property(lambda _, value=value: value) for name, value in made.items()})(config)
    runner = Runner(config, task)
    runner._agent = MessageLoopAgent(FakeSource([Message(content="done") for _ in played]))

    async def play() -> list[str]:
        return [told(event) async for event in runner.run()]

    evaluation_runner.apply_default_limits = lambda *_: {}
    tail = [name for name in asyncio.run(play()) if not name.startswith(("task_started", "task_pre", "message", "turn"))]
    state, found = runner.run_state, [event.scoring for event in runner.transcript.events if isinstance(event, ScoringEvent)]
    return {"events": tail, "status": state.status, "score": state.score, "metadata": [each.metadata for each in found]}


def told(event: Any) -> str:
    match event:
        case ScoringEvent():
            return f"scoring:{event.scoring.score}"
        case TaskCompletedEvent():
            return f"task_completed:{event.status}"
    return str(event.type)


def submissions(case: Case) -> Case:
    """A place as it is prepared, saved: the tree that comes of it, or what is said."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        place = os.path.join(folder, "out")
        os.mkdir(place)
        prepare(place, case["prepared"])
        options = dict(case.get("options", {}))
        dest = os.path.join(folder, "copy") if case.get("dest") else None
        try:
            found = save_submission(Path(place, case.get("source", "")), dest and Path(dest), **options)
        except StudentMisbehaviorError as error:
            return {"misbehavior": str(error).replace(place, "{out}")}
        except Exception as error:
            return {"raises": type(error).__name__}
        return {"saved": tree(str(found))}


def artifacts(case: Case) -> Case:
    """Artifacts of one run, saved one after the other: what there is in the end, and what it holds."""
    with tempfile.TemporaryDirectory() as folder:
        for name in case.get("earlier", []):
            os.makedirs(os.path.join(folder, "run", name))
        ARTIFACTS._created_target_dir = None
        config = EvaluationRunConfig(run_id="r", task_id="t", model="m", transcript_file=f"{folder}/run/transcript.json")
        config.save_artifacts = case.get("save_artifacts", True)
        for number, (name, text) in enumerate(case["saved"]):
            path = Path(folder, str(number), name)
            if text is not None:
                path.parent.mkdir(parents=True)
                path.write_text(text)
            ARTIFACTS.save_artifact(config, path)
        return {"kept": contents(Path(folder, "run"))}


RECORDERS = {each.__name__: each for each in (
    scoring, caps, events, composites, trees, regex, executable, replies, sums, contexts, question, asked, collected, runs, submissions, artifacts,
)}  # fmt: skip


def main() -> None:
    """Record every file, or those that are named."""
    logger.remove()
    os.environ["SOME_API_KEY"] = "secret"
    for path in sorted(HERE.glob("*.jsonl")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for case in cases:
            case["karotte"] = RECORDERS[path.stem](case["given"])
        path.write_text("".join(json.dumps(in_order(case)) + "\n" for case in cases), encoding="utf-8")
        print(path.name, len(cases))


def in_order(case: Case) -> Case:
    return {name: case[name] for name in ("name", "given", "karotte", "ours", "why") if name in case}


main()
