"""Code of a harness's own, which rule files may name and which runs only where somebody allowed it."""

import os
import sys
from collections.abc import Callable
from importlib import import_module

from msgspec.structs import replace

from rulebook.errors import Missing, Stopped
from rulebook.ports import Ports


class MachineCode:
    """What this process can import; the current folder is looked in last, behind everything that is installed."""

    def load(self, use: str) -> Callable[..., object]:
        """The class that `module:Class` names. Raises Missing in `harness` when there is none, or it breaks."""
        module, _, name = use.partition(":")
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        try:
            found: object = getattr(import_module(module), name)
        except Stopped:
            raise
        except (Exception, SystemExit) as error:  # whatever a module does while it is imported
            raise Missing("harness", f"`{use}` cannot be imported: {type(error).__name__}: {error}") from error
        if not isinstance(found, type):
            raise Missing("harness", f"`{use}` is no class")
        return found


def with_code(ports: Ports, *, allowed: bool) -> Ports:
    """The same ports, which run code that rule files name where that is allowed."""
    return replace(ports, code=MachineCode()) if allowed else ports
