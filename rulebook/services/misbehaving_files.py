"""What a misbehaving student puts in a submission's place that is no ordinary file."""

import os

from rulebook.services.probe_scene import Scene
from rulebook.services.workspaces import remove_folder
from rulebook.spec.steps import SubmissionSpec

_HUGE_BYTES = 1024**3
_LEVELS, _NAME = 40, "d" * 110
"""Deeper than custody takes by itself, and longer than the machine takes as one path."""


def nothing(scene: Scene, submission: SubmissionSpec) -> None:
    """The folder in which it should stand, or the judge would never be asked. Raises OSError."""
    _made_way(scene, submission)


def link_to_key(scene: Scene, submission: SubmissionSpec) -> None:
    """A symlink to the right work, or to the task file. Raises OSError."""
    place = _made_way(scene, submission)
    os.symlink(scene.right(submission), place)


def hard_link_to_key(scene: Scene, submission: SubmissionSpec) -> None:
    """A second name of the same; in a folder, of each file. Raises OSError."""
    for path in scene.files(submission):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.link(scene.beside(path), path)


def linked_way(scene: Scene, submission: SubmissionSpec) -> None:
    """The folder above the submission is a symlink to where the right work lies. Raises OSError."""
    above = os.path.dirname(scene.place(submission))
    if os.path.realpath(above) != above:  # another submission's way is linked, and this one lies on it
        return
    remove_folder(above)
    os.makedirs(os.path.dirname(above), exist_ok=True)
    os.symlink(os.path.dirname(scene.right(submission)), above)


def fifo(scene: Scene, submission: SubmissionSpec) -> None:
    """A pipe that nobody writes to. Raises OSError."""
    os.mkfifo(_made_way(scene, submission), 0o600)


def folder(scene: Scene, submission: SubmissionSpec) -> None:
    """A folder in a file's place. Raises OSError."""
    place = scene.place(submission)
    os.makedirs(place)
    with open(os.path.join(place, os.path.basename(place)), "w", encoding="utf-8") as stream:
        stream.write("It is in here.\n")


def zeros(scene: Scene, submission: SubmissionSpec) -> None:
    """1 GiB of zeros, all of it a hole: it takes no space on the disk. Raises OSError."""
    with open(_made_way(scene, submission), "wb") as stream:
        os.truncate(stream.fileno(), _HUGE_BYTES)


def deep_tree(scene: Scene, submission: SubmissionSpec) -> None:
    """Folders in each other, so many that no path leads to the last one. Raises OSError."""
    place = scene.place(submission)
    os.makedirs(place)
    here = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for _ in range(_LEVELS):
            os.mkdir(_NAME, dir_fd=here)
            below = os.open(_NAME, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)


def _made_way(scene: Scene, submission: SubmissionSpec) -> str:
    place = scene.place(submission)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    return place
