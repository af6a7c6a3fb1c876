"""The part of the file tree that a sweep must know: what it keeps, and where other file systems begin."""

import os
import re
from collections.abc import Iterable

from msgspec import Struct, field

_ESCAPE = re.compile(rb"\\([0-7]{3})")

_VIRTUAL = frozenset(
    (
        "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
        "fusectl", "hugetlbfs", "nsfs", "proc", "pstore", "rpc_pipefs", "securityfs", "selinuxfs", "smackfs", "sysfs",
        "tracefs",
    )
)  # fmt: skip
"""File systems of the kernel's own making: nobody can leave a file there."""


class Ground(Struct):
    """One folder or file of the known part.

    `kept`: it stays with all that is in it. `barren`: nothing in it can be removed, but something below may lie on
    another file system; None: as the folder above. What has a ground at all stays itself: it is kept, a mount point,
    or leads to one.
    """

    kept: bool = False
    barren: bool | None = None
    children: dict[str, "Ground"] = field(default_factory=dict)

    def at(self, path: str) -> "Ground":
        """The ground of an absolute path, made where it is not known yet."""
        here = self
        for name in path.split("/"):
            if name:
                here = here.children.setdefault(name, Ground())
        return here


def ground(kept: Iterable[str]) -> Ground:
    """What is known of this machine: its mounts, and the absolute paths that are kept. Raises OSError."""
    top = Ground()
    with open("/proc/self/mountinfo", "rb") as stream:
        for line in stream:
            path, barren = _mount(line)
            top.at(path).barren = barren  # of several at one place the last one hides the others
    for path in kept:
        top.at(path).kept = True
    waiting = [top]
    while waiting:
        here = waiting.pop()
        for below in here.children.values():
            below.barren = here.barren if below.barren is None else below.barren
            waiting.append(below)
    return top


def _mount(line: bytes) -> tuple[str, bool]:
    """Where a line of mountinfo mounts something, and whether nothing can be removed there."""
    before, _, after = line.partition(b" - ")
    fields, (kind, _, options) = before.split(), after.split()[:3]
    read_only = b"ro" in fields[5].split(b",") or b"ro" in options.split(b",")
    path = _ESCAPE.sub(lambda code: bytes([int(code[1], 8)]), fields[4])
    return os.fsdecode(path), read_only or kind.decode() in _VIRTUAL
