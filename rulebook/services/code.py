"""Code of a harness's own, which rule files may name and which runs only where somebody allowed it."""

import os
import sys
from collections.abc import Callable
from importlib import import_module

from msgspec.structs import replace

from rulebook.errors import Missing, Stopped, UsageError
from rulebook.ports import Ports


class MachineCode:
    """What this process can import; the current folder is looked in last, behind everything that is installed."""

    def load(self, use: str) -> Callable[..., object]:
        """The class that `module:Class` names. Raises Missing in `harness` when there is none, or it breaks."""
        found = found_at(use, os.getcwd())
        if not isinstance(found, type):
            raise Missing("harness", f"`{use}` is no class")
        return found


def function_named(use: str, folder: str) -> Callable[..., object]:
    """The function that `module:function` names, in `folder`, the current one, or whatever is installed.

    Raises UsageError when there is none, or its module breaks.
    """
    try:
        found = found_at(use, folder, os.getcwd())
    except Missing as error:
        raise UsageError(f"{error.reason}.") from error
    if not callable(found):
        raise UsageError(f"`{use}` is no function.")
    return found


def found_at(use: str, *folders: str) -> object:
    """What `module:name` names; the folders are looked in last, behind everything that is installed. Raises Missing."""
    module, _, name = use.partition(":")
    for folder in folders:
        if folder not in sys.path:
            sys.path.append(folder)
    try:
        found: object = getattr(import_module(module), name)
    except Stopped:
        raise
    except (Exception, SystemExit) as error:  # whatever a module does while it is imported
        raise Missing("harness", f"`{use}` cannot be imported: {type(error).__name__}: {error}") from error
    return found


def with_code(ports: Ports, *, allowed: bool) -> Ports:
    """The same ports, which run code that rule files name where that is allowed."""
    return replace(ports, code=MachineCode()) if allowed else ports
