"""ZIP archives from strangers: members are read one at a time, each up to a limit, and nothing is ever written out."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from rulebook.errors import UnknownFormat

_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_DIRECTORY_BYTES = 16 * 1024 * 1024
_CHUNK = 1024 * 1024
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_BROKEN = (
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, NotImplementedError, OSError, struct.error,
    IndexError, OverflowError,
)  # fmt: skip


class Archive:
    """The archive in `data`; `path` is what messages call it.

    Raises UnknownFormat when it is broken, when its directory is endless, and when two members bear one name: of
    those, every program would read another one.
    """

    def __init__(self, data: bytes, path: str) -> None:
        self._data = data
        self._path = path
        try:
            self._zip = zipfile.ZipFile(_Directory(data))
            members = self._zip.infolist()
        except _BROKEN as error:
            raise UnknownFormat(f"`{path}` cannot be read as a ZIP archive: it is broken ({error})") from error
        self._members = {member.filename: member for member in members}
        if len(self._members) < len(members):
            raise UnknownFormat(f"`{path}` is a ZIP archive in which two members bear the same name")

    @property
    def names(self) -> list[str]:
        """The members' names, in the archive's order."""
        return list(self._members)

    def read(self, name: str, limit_bytes: int) -> bytes:
        """A member's bytes. Raises UnknownFormat when it is encrypted, broken, too large or packed as nobody can."""
        member = self._members[name]
        if member.flag_bits & 1:
            raise self._refusal(name, "it is encrypted")
        if member.compress_type not in (_STORED, _DEFLATED, _ZSTD):
            raise self._refusal(name, f"it is packed with ZIP method {member.compress_type}")
        pieces: list[bytes] = []
        left = limit_bytes
        try:
            for piece in self._unpacked(member):
                left -= len(piece)
                if left < 0:
                    raise self._refusal(name, f"it is larger than {limit_bytes // 1024 // 1024} MB")
                pieces.append(piece)
        except _BROKEN as error:
            raise self._refusal(name, f"it is broken ({error})") from error
        return b"".join(pieces)

    def _unpacked(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        if member.compress_type == _ZSTD:
            yield from self._unpacked_zstd(member)
            return
        with self._zip.open(member) as stream:
            while piece := stream.read(_CHUNK):
                yield piece

    def _unpacked_zstd(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        """What Python before 3.14 cannot unpack."""
        try:
            import zstandard  # the optional extra `rulebook-engine[zstd]`
        except ImportError:
            needs = "it is packed with zstd, which needs the extra `rulebook-engine[zstd]`. Type: pip install zstandard"
            raise self._refusal(member.filename, needs) from None
        signature, name_size, extra_size = _LOCAL_HEADER.unpack_from(self._data, member.header_offset)
        if signature != b"PK\x03\x04":
            raise ValueError("its header is missing")
        start = member.header_offset + _LOCAL_HEADER.size + name_size + extra_size
        packed = memoryview(self._data)[start : start + member.compress_size]
        size, checksum = 0, 0
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
                while piece := stream.read(_CHUNK):
                    size, checksum = size + len(piece), zlib.crc32(piece, checksum)
                    yield piece
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        if (size, checksum) != (member.file_size, member.CRC):
            raise ValueError("its content is not what the directory says")

    def _refusal(self, name: str, why: str) -> UnknownFormat:
        return UnknownFormat(f"`{self._path}` cannot be read: of its member `{name[:200]}`, {why}")


class _Directory(BytesIO):
    """The archive's bytes, of which the directory cannot be asked for whole when it is endless: entries cost memory."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = len(self.getbuffer()) - self.tell() if size is None or size < 0 else size
        if wanted > _DIRECTORY_BYTES:
            raise ValueError(f"its directory is larger than {_DIRECTORY_BYTES // 1024 // 1024} MB")
        return super().read(wanted)
