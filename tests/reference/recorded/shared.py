"""What the recorder and the tests do alike with a case: both sides get the same place, and the same judges and steps.

It imports neither karotte nor Rulebook; the classes are made of the one's or the other's bases.
"""

import os
import signal
import socket
import stat
import subprocess
from pathlib import Path
from typing import Any

Case = dict[str, Any]
LOUD = ("CalledProcessError", "FileNotFoundError", "json_read_error", "PermissionError", "tempdir_error")


def judges_of(base: type, scoring: type) -> type:
    """A judge that writes down its name when it is asked, and gives one result."""

    class Leaf(base):  # type: ignore[misc]
        def __init__(self, asked: list[str], name: str, score: float, goes_on: Any, metadata: Any = None):
            self.asked, self.name, self.score, self.goes_on, self.metadata = asked, name, score, goes_on, metadata

        def evaluate(self, transcript: Any) -> Any:
            self.asked.append(self.name)
            if self.metadata == "bug":
                raise KeyError(self.name)
            return scoring(self.score, self.metadata or {}, self.goes_on)

    return Leaf


def joined(case: Case, base: type, scoring: type, asked: list[str]) -> Any:
    """An expression over such judges; `asked` will have the names of those that were asked."""
    made = judges_of(base, scoring)
    return eval(case["expression"], {}, {name: made(asked, name, *gives) for name, gives in case["leaves"].items()})


def composed(case: Case, base: type, scoring: type, transcript: Any) -> Case:
    """Who was asked, and whose score it is."""
    asked: list[str] = []
    try:
        found = joined(case, base, scoring, asked).evaluate(transcript)
    except Exception as error:
        return {"raises": type(error).__name__}
    return {"asked": "".join(asked), "score": found.score, "continue_task": bool(found.continue_task)}


def with_mark(case: Case) -> tuple[list[str], Any]:
    """The words of a scoring script, and a way to count, and end, what it leaves running."""
    mark = f"9{os.getpid()}.25"
    words = list(case.get("argv", ["sh", "-c", case.get("script", "").replace("MARK", mark), "score.json"]))

    def left() -> int:
        found = subprocess.run(["pgrep", "-f", f"^sleep {mark}$"], capture_output=True, text=True, check=False).stdout.split()
        for pid in found:
            os.kill(int(pid), signal.SIGKILL)
        return len(found)

    return words, left


def steps_of(base: type, judge: type, scoring: type, misbehavior: type[Exception]) -> type:
    """A step that scores what it is told to, or raises where it is told to."""

    class Played(base):  # type: ignore[misc]
        def __init__(self, config: Any, does: Case):
            super().__init__(config)
            self.does = does

        @property
        def instructions(self) -> str:
            return "Go."

        def fail(self, place: str) -> None:
            if self.does.get("at") == place:
                raised = {"misbehavior": misbehavior, "bug": KeyError}[self.does["raises"]]
                raise raised(self.does.get("says", "x"))

        def pre_scoring_hook(self) -> None:
            self.fail("hook")

        @property
        def judge(self) -> Any:
            self.fail("judge")
            return Asked(self)

        def post_hook(self) -> None:
            self.fail("post_hook")

    class Asked(judge):  # type: ignore[misc]
        def __init__(self, step: Played):
            self.step = step

        def evaluate(self, transcript: Any) -> Any:
            self.step.fail("evaluate")
            return scoring(self.step.does.get("score", 1.0), {}, self.step.does.get("goes_on", True))

    return Played


def common(before: str, after: str) -> list[int]:
    """How many characters at the beginning and at the end of a text are left."""
    head = len(os.path.commonprefix([before, after]))
    return [head, 0 if head == len(before) else len(os.path.commonprefix([before[::-1], after[::-1]]))]


def covers(whole: Any, part: Any) -> bool:
    """Whether all of `part` stands in `whole`."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and covers(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(whole) == len(part) and all(map(covers, whole, part))
    return bool(whole == part)


def plain(metadata: Any) -> Case:
    """Metadata of which every text about a failure is a sign only."""
    return {name: "…" if name in LOUD else value for name, value in metadata.items()}


def prepare(place: str, steps: list[list[Any]]) -> None:
    """Make files, folders and worse in a place."""
    for deed, name, *rest in steps:
        path = os.path.join(place, name)
        match deed:
            case "file":
                Path(path).write_text(rest[0])
            case "sparse":
                Path(path).touch()
                os.truncate(path, rest[0])
            case "folder":
                os.makedirs(path)
            case "link":
                os.symlink(rest[0], path)
            case "hard":
                os.link(os.path.join(place, rest[0]), path)
            case "fifo":
                os.mkfifo(path)
            case "device":
                os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
            case "socket":
                here = os.getcwd()
                os.chdir(os.path.dirname(path))
                with socket.socket(socket.AF_UNIX) as bound:
                    bound.bind(os.path.basename(path))
                os.chdir(here)
            case "many":
                for number in range(rest[0]):
                    Path(path, str(number)).touch()


def tree(top: str) -> dict[str, str]:
    """Every path below a place with its kind, mode and size."""
    found = {}
    for folder, folders, files in os.walk(top):
        for name in sorted(folders + files):
            facts = os.lstat(os.path.join(folder, name))
            size = facts.st_size if stat.S_ISREG(facts.st_mode) else 0
            kind = "link" if stat.S_ISLNK(facts.st_mode) else oct(stat.S_IMODE(facts.st_mode))
            found[os.path.relpath(os.path.join(folder, name), top)] = f"{kind} {size}"
    if os.path.isfile(top):
        found["."] = f"{oct(stat.S_IMODE(os.lstat(top).st_mode))} {os.lstat(top).st_size}"
    return dict(sorted(found.items()))


def contents(place: Path) -> dict[str, str]:
    """Every file below a place with its text."""
    return {str(path.relative_to(place)): path.read_text() for path in sorted(place.rglob("*")) if path.is_file()}
