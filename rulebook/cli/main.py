"""The `rulebook` command: finds the command's module by name and turns every end into an exit status.

0 done · 1 usage or a rule file that is not valid · 2 a fault of ours or of the machine · 3 refused
9 audit gap · 130 interrupted
"""

import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from rulebook import __version__
from rulebook.cli import output


class Command(NamedTuple):
    """Where a command lives, and what the overview says of it."""

    module: str
    purpose: str


COMMANDS: dict[str, Command] = {
    "lint": Command("lint", "say what is wrong with rule files, and what to write instead"),
    "eval": Command("eval", "check a recorded session against an eval spec"),
    "task": Command("task", "play a task with a command as the student, or score recorded work"),
    "evaluation": Command("evaluation", "run a task over rows, score what it gives, and compare runs"),
    "calibrate": Command("calibrate", "hold a judge's scores to labels that people gave"),
    "show": Command("show", "print the place in the evidence where a finding was seen"),
    "session": Command("session", "verify, show, list, import and export sessions"),
    "explain": Command("explain", "explain a kind of rule, an event or a message code"),
    "schema": Command("schema", "print the JSON Schema of a rule file for your editor"),
    "new": Command("new", "write a commented rule file to start from"),
}

_LONGER: dict[str, str] = {
    "check": "eval check",
    "verify": "session verify",
    "import": "session import",
    "export": "session export",
    "list": "session list",
    "init": "new eval",
}
"""Subcommands that people type without the command before them."""

USAGE, FAULT, AUDIT_GAP, INTERRUPTED = 1, 2, 9, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. Nothing but that leaves: no exception, no traceback.

    Without `argv` it is that of the command line, and the process is taken to be ours alone.
    """
    if argv is not None:
        return _status(list(argv))
    gc.set_threshold(100_000)  # what is imported stays: looking through it again and again costs 5 % of a lint
    _without_plugins()
    status = _status(sys.argv[1:])
    gc.freeze()  # or Python looks through all of it once more as it ends: another 10 %
    return status


def overview() -> str:
    """What `rulebook --help` prints."""
    lines = [f"  {name:<10} {command.purpose}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: rulebook COMMAND …",
            "",
            "Judges what AI agents did, by rules that are written down.",
            "",
            *lines,
            "",
            "rulebook COMMAND --help says more. Exit status: 0 all holds, 1 usage or a rule file with",
            "errors, 2 a fault of ours, 3 refused, 9 a log that can't be verified, 130 interrupted.",
            "",
            "example:",
            "  rulebook lint rules/",
            "",
        ]
    )


@contextmanager
def _stoppable() -> Iterator[None]:
    """While this lasts, SIGTERM and SIGHUP end the program in order: what it started is ended, its folders removed."""

    def stop(number: int, _: object) -> None:
        # `--version` does without the tree of errors, and before it is there nobody else's code runs
        stopped: type[SystemExit] = getattr(sys.modules.get("rulebook.errors"), "Stopped", SystemExit)
        raise stopped(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _status(given: list[str]) -> int:
    output.make_safe()
    try:
        with _stoppable(), output.data_alone("--allow-python" in given):
            status = _run(given)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        output.say("rulebook: interrupted. Nothing was left half written; run the same command again.")
        status = INTERRUPTED
    except output.UnwrittenError as error:
        status = FAULT
        output.say(f"rulebook: what was to be printed could not be written: {error}.")
    except Exception as error:
        status = _failed(given, error)
    try:
        output.flush()
    except output.UnwrittenError:
        status = FAULT
    return status


def _without_plugins() -> None:
    """Let pydantic find no plugins, here where nobody can have asked for one.

    Looking for them imports `importlib.metadata` and with it `email`, `csv`, `zipfile` and `socket`: a tenth of linting
    a file. `PYDANTIC_DISABLE_PLUGINS` keeps plugins out, but not these imports.
    """
    loader = ModuleType("pydantic.plugin._loader")
    loader.__dict__["get_plugins"] = tuple
    sys.modules[loader.__name__] = loader


def _run(argv: Sequence[str]) -> int:
    name = argv[0] if argv else ""
    if name == "--version":
        output.put(f"rulebook {__version__}\n")
        return 0
    if name in ("--help", "-h"):
        output.put(overview())
        return 0
    if name not in COMMANDS:
        return _unknown(name)
    module = import_module(f"rulebook.cli.{COMMANDS[name].module}")
    run: Callable[[Sequence[str]], int] = module.run
    return run(argv[1:])


def _unknown(name: str) -> int:
    if not name:
        output.say_laid_out(overview().rstrip("\n"))
        return USAGE
    from rulebook.spelling import guess

    longer = _LONGER.get(name)
    hint = f" Did you mean `rulebook {longer}`?" if longer else guess(name, COMMANDS)
    output.say(f"rulebook: there is no command `{name}`.{hint} rulebook --help lists them.")
    return USAGE


def _failed(argv: Sequence[str], error: Exception) -> int:
    from rulebook.errors import AuditGapError, RuleFileError, UsageError

    match error:
        case UsageError():
            output.say(f"rulebook: {error}")
            return USAGE
        case RuleFileError():
            from rulebook.cli.problems import show_problems

            show_problems(error.diagnostics)
            return USAGE
        case AuditGapError():
            output.say(f"rulebook: {error} (verdict: {error.verdict})")
            return AUDIT_GAP
        case _:
            from rulebook.cli.bug_report import bug_report

            output.say_laid_out(bug_report(argv, error))
            return FAULT
