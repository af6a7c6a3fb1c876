"""What is printed when something of ours breaks: ready to paste, and free of the evidence."""

import os
import platform
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import rulebook

_HIDDEN_AFTER = ("--param",)


def bug_report(argv: Sequence[str], error: BaseException) -> str:
    """What to paste into an issue: versions, the command, and where it broke.

    Exception texts are left out, since they may quote a session; the lines shown are our own code's.
    """
    return "\n".join(
        [
            "rulebook: something in Rulebook or on this machine broke. No verdict was given.",
            "Please paste this into an issue:",
            "",
            f"  rulebook {rulebook.__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"  command: rulebook {' '.join(_shown(argv))}",
            *(f"  {line}" for line in _places(error)),
        ]
    )


def _shown(argv: Sequence[str]) -> list[str]:
    """The command line with the values of parameters left out."""
    shown: list[str] = []
    for word in argv:
        hides = (shown and shown[-1] in _HIDDEN_AFTER) or word.startswith(tuple(f"{flag}=" for flag in _HIDDEN_AFTER))
        shown.append("…" if hides else ascii(word)[1:-1])
    return shown


def _places(error: BaseException) -> list[str]:
    lines: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        lines.append(("caused by " if lines else "") + _named(current))
        for frame in traceback.extract_tb(current.__traceback__)[-20:]:
            lines.append(f"  {_short(frame.filename)}:{frame.lineno} in {frame.name}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return lines


def _named(error: BaseException) -> str:
    kind = type(error)
    number = f" (errno {error.errno})" if isinstance(error, OSError) and error.errno is not None else ""
    module = f" ({error.name})" if isinstance(error, ImportError) and error.name else ""
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.") + number + module


def _short(filename: str) -> str:
    """A code file's name without the machine's folders."""
    for folder in (Path(rulebook.__file__).parent.parent, *map(Path, filter(None, sys.path))):
        if filename.startswith(f"{folder}{os.sep}"):
            return Path(filename).relative_to(folder).as_posix()
    return Path(filename).name
