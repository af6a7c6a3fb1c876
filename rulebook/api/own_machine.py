"""The machine, for what Python callers do outside of any rule file."""

from functools import cache

from rulebook.ports import Ports
from rulebook.services.ports import machine_ports


@cache
def own_ports() -> Ports:
    """This machine's ports, the same ones every time."""
    return machine_ports()
