"""Foreign session formats: one module each that holds a `FORMAT`, found by discovery; the others are parts.

What they share stands in `session_files`; no format imports anything from here.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from rulebook.errors import UnknownFormat, UsageError
from rulebook.evidence.session_files.known import lookalike
from rulebook.evidence.session_files.sample import SAMPLE_BYTES, Sample, sample_of
from rulebook.evidence.session_files.shape import Format, SessionFile
from rulebook.evidence.transcript import Transcript
from rulebook.ports import Files
from rulebook.spelling import guess, listed


@cache
def session_formats() -> Mapping[str, Format]:
    """Every format that can be read, by name, in sorted order."""
    found: dict[str, Format] = {}
    for name in sorted(module.name for module in iter_modules(__path__)):
        module = import_module(f"{__name__}.{name}")
        fresh = getattr(module, "FORMAT", None)
        if isinstance(fresh, Format):
            if fresh.name != name:
                raise ValueError(f"the format of {module.__name__} must be called `{name}`")
            found[name] = fresh
    return found


def detect(head: bytes, path: str = "the file") -> Format:
    """The format of a file that begins with `head` (64 KiB of it are looked at, and never its name).

    `path` is only what messages call it. Raises UnknownFormat when no format fits, or more than one equally
    well.
    """
    return _detected(sample_of(head), path)


def read_session(path: str, files: Files, format_name: str | None = None) -> Transcript:
    """Read a foreign session file into the neutral transcript.

    `format_name` None is found out from its content.

    Raises OSError, and UnknownFormat when no format fits, several do, or the file is broken beyond its
    records.
    """
    with files.lines(path):
        pass  # refuses a FIFO, on which `read` would wait
    sample = sample_of(files.read(path, SAMPLE_BYTES)[:SAMPLE_BYTES])
    chosen = _detected(sample, path) if format_name is None else _named(format_name)
    return chosen.read(SessionFile(path, files, sample))


def _named(name: str) -> Format:
    formats = session_formats()
    if name not in formats:
        raise UsageError(f"no session format is called `{name}`.{guess(name, formats)}")
    return formats[name]


def _detected(sample: Sample, path: str) -> Format:
    formats = session_formats().values()
    fits = {fmt.name: fmt.fits(sample) for fmt in formats}
    best = max(fits.values(), default=0)
    if best == 0:
        raise UnknownFormat(_unknown(sample, path))
    fitting = [fmt for fmt in formats if fits[fmt.name] == best]
    if len(fitting) > 1:
        names = [fmt.name for fmt in fitting]
        raise UnknownFormat(
            f"`{path}` is {sample.description}, and could be {' or '.join(fmt.title for fmt in fitting)}. "
            f"Say which with `--session-format`: {listed(names)}"
        )
    return fitting[0]


def _unknown(sample: Sample, path: str) -> str:
    formats = list(session_formats().values())
    other = lookalike(sample)
    if other:
        titles = "; ".join(f"{fmt.title} (`{fmt.name}`)" for fmt in formats)
        seen = f"`{path}` is {sample.description}: {other}"
        return f"{seen}, and that cannot be read as a session. What can be: {titles}"
    near = [fmt for fmt in formats if sample.kind in fmt.kinds]
    if not near:
        names = listed(fmt.name for fmt in formats)
        return f"`{path}` is {sample.description}, and no session is. What can be read: {names}"
    nearest = "; ".join(f"{fmt.title} (`{fmt.name}`) is {fmt.expects}" for fmt in near)
    return f"`{path}` is {sample.description}, and no session format fits. Nearest: {nearest}"
