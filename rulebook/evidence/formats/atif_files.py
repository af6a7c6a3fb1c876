"""The trajectories of one ATIF run that lie in several files: continuations and sub-agents.

A name in a trajectory leads to a file of the same folder or to nowhere: it comes from a stranger.
"""

import re
from collections.abc import Mapping
from pathlib import PurePath

from rulebook.evidence.formats.atif_steps import Reference
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.shape import LIMIT_BYTES, SessionFile
from rulebook.evidence.session_files.values import decoded, mapping, sequence, word
from rulebook.evidence.transcript import Transcript

_PLAIN_NAME = re.compile(r"(?!\.{1,2}$)[^/\\\x00-\x1f\x7f]{1,200}")
_MOST_SEGMENTS = 200
_AGAIN = "was read already"

Root = Mapping[str, object]


class Family:
    """What belongs to one trajectory file, in it and beside it; `waiting` are the sub-agents that results name."""

    def __init__(self, file: SessionFile, transcript: Transcript) -> None:
        self.waiting: list[tuple[Reference, Root]] = []
        self._unnamed: list[Root] = []
        self._taken: dict[int, Root] = {}
        self._file = file
        self._transcript = transcript
        self._folder = str(PurePath(file.path).parent)
        self._seen = {PurePath(file.path).name}
        self._left = LIMIT_BYTES

    def chain(self, root: Root) -> list[Root]:
        """The trajectory and its continuations, in order; one that cannot be read is warned of."""
        segments = [root]
        while (given := segments[-1].get("continued_trajectory_ref")) is not None:
            following, fault = self._beside(given if isinstance(given, str) else "")
            if following is None or len(segments) == _MOST_SEGMENTS:
                text = f"the session goes on in `{str(given)[:200]}`, which {fault or 'is one of too many'}"
                warn(self._transcript, "split_conversation", None, text)
                break
            segments.append(following)
        for segment in segments:
            self._unnamed.extend(inner for _, inner in _held(segment))
        return segments

    def next_subagent(self) -> tuple[Reference, Root] | None:
        """The next sub-agent's trajectory and what names it; None when all are read, or warned of."""
        while self.waiting:
            reference, holder = self.waiting.pop(0)
            root = self._found(reference, holder)
            if root is not None:
                return reference, root
        while self._unnamed:
            root = self._unnamed.pop(0)
            if id(root) not in self._taken:
                self._taken[id(root)] = root
                return Reference(None, word(root.get("trajectory_id"))), root
        return None

    def _found(self, reference: Reference, holder: Root) -> Root | None:
        wanted = reference.trajectory_id
        root = next((inner for name, inner in _held(holder) if wanted is not None and name == wanted), None)
        if root is not None:
            again = id(root) in self._taken
            self._taken[id(root)] = root
            return None if again else root
        root, fault = self._beside(reference.path or "")
        if root is None and fault != _AGAIN:
            named = wanted or reference.path or reference.session_id or "(without a name)"
            where = None if reference.message is None else reference.message.src
            why = fault if reference.path else "is not in the file"
            warn(self._transcript, "subagent_missing", where, f"the sub-agent `{named[:200]}` {why}")
        return root

    def _beside(self, name: str) -> tuple[Root | None, str]:
        """The trajectory in the file of that name in the same folder; else None and what is wrong, in words."""
        if not _PLAIN_NAME.fullmatch(name):
            return None, "is no name of a file in the same folder"
        if name in self._seen:
            return None, _AGAIN
        try:
            data = self._file.files.read_within(self._folder, name, self._left)
        except OSError:
            return None, "has no readable file beside the session"
        if len(data) > self._left:
            return None, "is too large"
        self._left -= len(data)
        try:
            root = mapping(decoded(data))
        except ValueError:
            return None, "is not valid JSON"
        if not str(root.get("schema_version", "")).startswith("ATIF") or not sequence(root.get("steps")):
            return None, "is no trajectory with steps"
        self._seen.add(name)
        return root, ""


def _held(root: Root) -> list[tuple[str | None, Root]]:
    inner = [mapping(given) for given in sequence(root.get("subagent_trajectories")) if isinstance(given, dict)]
    return [(word(given.get("trajectory_id")), given) for given in inner]
