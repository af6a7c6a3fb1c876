"""Answers of models, kept between runs: one file an answer, so that damage costs that answer and no more."""

import errno
import hashlib
import json
import math
import os
import stat
import tempfile
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from rulebook.model_port import ModelReply, ModelRequest, Vector
from rulebook.services.store import store_folder
from rulebook.spec.providers import Chosen

MAX_TOTAL_BYTES = 256 * 1024 * 1024
"""How much is kept; what was used longest ago goes first."""

_MAX_ENTRY_BYTES = 4 * 1024 * 1024
_LOOKED_AT_EVERY = 1 / 16
"""How large a share of what may be kept is written before all that is there is looked at again."""


class Kept(Struct, frozen=True):
    """A kept answer."""

    text: str
    model: str


def request_digest(request: ModelRequest, chosen: Chosen) -> str:
    """What makes two requests the same: all that the model is given, but for the fence that was drawn for one call.

    The text is taken apart at the fence, which stands nowhere in what it encloses: no text of a student's can make
    one request look like another.
    """
    parts = [text.split(request.fence) if request.fence else [text] for text in (request.system, request.user)]
    settings: list[object] = [request.temperature, request.max_tokens, request.sample]
    if request.schema is not None or request.more:
        settings += [json.dumps([request.schema, request.more], sort_keys=True)]
    whole = [1, chosen.provider.name, chosen.provider.base_url, chosen.model, settings, parts]
    return hashlib.sha256(json.dumps(whole, ensure_ascii=True).encode("ascii")).hexdigest()


def text_digest(text: str, chosen: Chosen) -> str:
    """What makes two texts the same for an embedding model."""
    whole = ["embedding", 1, chosen.provider.name, chosen.provider.base_url, chosen.model, text]
    return hashlib.sha256(json.dumps(whole, ensure_ascii=True).encode("ascii")).hexdigest()


def vector_text(vector: Vector) -> str:
    """A vector as it is kept: the same numbers again, in two thirds of the space of their digits."""
    return b64encode(array("d", vector).tobytes()).decode("ascii")


def vector_in(text: str) -> Vector | None:
    """The vector that was kept; None for what is none, such as one of a machine of another kind."""
    try:
        found = array("d", b64decode(text, validate=True))
    except ValueError:
        return None
    return tuple(found) if len(found) and all(map(math.isfinite, found)) else None


class ModelCache:
    """A folder of answers, at most `max_total_bytes` of them. Nothing here raises: without one, models are asked."""

    def __init__(self, folder: str | None = None, max_total_bytes: int = MAX_TOTAL_BYTES) -> None:
        self._folder = folder or os.path.join(store_folder(), "cache", "models")
        self._max_total_bytes = max_total_bytes
        self._room_bytes = 0

    def find(self, digest: str) -> Kept | None:
        """The answer kept under that digest; None also for one that is damaged, or that others may have written."""
        path = self._path(digest)
        try:
            data = json.loads(_own_bytes(path))
        except (OSError, ValueError, RecursionError):
            return None
        said = data if isinstance(data, dict) else {}
        text, model = said.get("text"), said.get("model")
        if said.get("digest") != digest or not isinstance(text, str) or not isinstance(model, str):
            return None
        if said.get("sha256") != _sum(text):
            return None
        with suppress(OSError):
            os.utime(path)
        return Kept(text, model)

    def keep(self, digest: str, reply: ModelReply) -> None:
        """Keep an answer, whole or not at all."""
        said = {"digest": digest, "model": reply.model, "text": reply.text, "sha256": _sum(reply.text)}
        raw = json.dumps(said, ensure_ascii=True).encode("ascii")
        if len(raw) > _MAX_ENTRY_BYTES:
            return
        with suppress(OSError):
            self._write(self._path(digest), raw)
        self._room_bytes -= len(raw)
        if self._room_bytes < 0:
            self._room_bytes = self._sweep()

    def forget(self, digest: str) -> None:
        """Keep the answer under that digest no longer."""
        with suppress(OSError):
            os.unlink(self._path(digest))

    def _path(self, digest: str) -> str:
        return os.path.join(self._folder, digest[:2], digest + ".json")

    def _write(self, path: str, raw: bytes) -> None:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".draft-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(raw)
            os.replace(draft, path)
        except OSError:
            with suppress(OSError):
                os.unlink(draft)
            raise

    def _sweep(self) -> int:
        """Remove what was used longest ago until the rest is small enough; how much may be written before the next."""
        found = sorted(self._entries())
        total = sum(size for _, size, _ in found)
        for _, size, path in found:
            if total <= self._max_total_bytes:
                break
            with suppress(OSError):
                os.unlink(path)
            total -= size
        return min(self._max_total_bytes - total, int(self._max_total_bytes * _LOOKED_AT_EVERY))

    def _entries(self) -> Iterator[tuple[int, int, str]]:
        """When each was last used, how large it is and where it lies."""
        for folder in _listed(self._folder):
            for entry in _listed(folder.path) if folder.is_dir(follow_symlinks=False) else ():
                with suppress(OSError):
                    about = entry.stat(follow_symlinks=False)
                    yield about.st_mtime_ns, about.st_size, entry.path


def _own_bytes(path: str) -> bytes:
    """What is in a file that nobody but us and root can have written. Raises OSError for any other."""
    # a FIFO would be waited for, and a link could lead to a device without an end
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_uid not in (os.geteuid(), 0) or about.st_mode & 0o022:
            raise PermissionError(errno.EPERM, "others may have written it", path)
        return file.read(_MAX_ENTRY_BYTES + 1)


def _listed(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
