"""Foreign session formats: one module each that holds a `FORMAT`, found by discovery; the others are parts.

What they share stands in `session_files`; no format imports anything from here.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from rulebook.errors import SeveralSessions, UnknownFormat, UsageError
from rulebook.evidence.record import EVERYTHING, Record, Wants
from rulebook.evidence.session_files.known import lookalike
from rulebook.evidence.session_files.openings import opened_by
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.sample import SAMPLE_BYTES, Sample, sample_of
from rulebook.evidence.session_files.shape import LIMIT_LINE_BYTES, Format, SessionFile
from rulebook.evidence.transcript import Transcript
from rulebook.ports import Files
from rulebook.spelling import guess, listed


@cache
def session_formats() -> Mapping[str, Format]:
    """Every format that can be read, by name, in sorted order."""
    named = {name: format_named(name) for name in sorted(_modules())}
    return {name: fmt for name, fmt in named.items() if fmt is not None}


@cache
def format_named(name: str) -> Format | None:
    """The format of that name, no other's module being loaded; None when there is none."""
    fresh = getattr(import_module(f"{__name__}.{name}"), "FORMAT", None) if name in _modules() else None
    if not isinstance(fresh, Format):
        return None
    if fresh.name != name:
        raise ValueError(f"the format of {__name__}.{name} must be called `{name}`")
    return fresh


@cache
def _modules() -> frozenset[str]:
    return frozenset(module.name for module in iter_modules(__path__))


def detect(head: bytes, path: str = "the file") -> Format:
    """The format of a file that begins with `head` (64 KiB of it are looked at, and never its name).

    `path` is only what messages call it. Raises UnknownFormat when no format fits, or more than one equally
    well.
    """
    return _opened(head) or _detected(sample_of(head), path)


def read_session(
    path: str, files: Files, format_name: str | None = None, *, part: str | None = None, wants: Wants = EVERYTHING
) -> Transcript:
    """Read a foreign session file into the neutral transcript.

    `format_name` None is found out from its content. `part` names one session of a file that holds several; it may be
    None where there is but one. What `wants` does not name may be left out.

    Raises OSError, and UnknownFormat when no format fits, several do, the file is broken beyond its records, or it
    holds several sessions and `part` names none of them.
    """
    chosen, file = _looked_at(path, files, format_name, wants)
    file.part = _part(chosen, file, part)
    return _read(chosen, file)


def read_sessions(
    path: str, files: Files, format_name: str | None = None, *, wants: Wants = EVERYTHING
) -> Iterator[Transcript]:
    """Every session of a foreign file, one after the other in its order. Raises as `read_session` does."""
    chosen, file = _looked_at(path, files, format_name, wants)
    for name in _names(chosen, file):
        file.part = name
        yield _read(chosen, file)


def fold_sessions(
    path: str, files: Files, format_name: str | None = None, *, wants: Wants
) -> Iterator[tuple[str | None, Record | Transcript | UnknownFormat]]:
    """Every session of a foreign file with its part's name, as the facts that `wants` names where it can be folded.

    One of several that cannot be read is the error that says so, and the others follow. Raises as `read_session` does.
    """
    chosen, file = _looked_at(path, files, format_name, wants)
    for name in _names(chosen, file):
        file.part = name
        yield name, _attempted(chosen, file)


def _names(chosen: Format, file: SessionFile) -> Sequence[str | None]:
    names = [None] if chosen.parts is None else chosen.parts(file)
    if not names:
        raise UnknownFormat(f"`{file.path}` is {chosen.title} that holds no session")
    return names


def _attempted(chosen: Format, file: SessionFile) -> Record | Transcript | UnknownFormat:
    try:
        record = None if chosen.fold is None else chosen.fold(file)
        return _read(chosen, file) if record is None else record
    except UnknownFormat as error:
        if chosen.parts is None:
            raise
        return error


def _read(chosen: Format, file: SessionFile) -> Transcript:
    transcript = chosen.read(file)
    for number in file.overlong:
        text = f"a line longer than {LIMIT_LINE_BYTES // 1024 // 1024} MB is not read, and may hold a call or a reply"
        warn(transcript, "lost_record", number, text)
    return transcript


def _looked_at(path: str, files: Files, format_name: str | None, wants: Wants) -> tuple[Format, SessionFile]:
    file = SessionFile(path, files, files.read(path, SAMPLE_BYTES)[:SAMPLE_BYTES], wants=wants)
    if format_name is not None:
        return _named(format_name), file
    return _opened(file.head) or _detected(file.sample, path), file


def _opened(head: bytes) -> Format | None:
    name = opened_by(head)
    return None if name is None else format_named(name)


def _part(chosen: Format, file: SessionFile, part: str | None) -> str | None:
    """The name of the session to read. Raises UnknownFormat when there is none of that name, or too many to choose."""
    if chosen.parts is None:
        if part is not None:
            raise UnknownFormat(f"`{file.path}` is one session and has no part `{part}`: leave out `#{part}`")
        return None
    names = chosen.parts(file)
    if part in names:
        return part
    if part is None and len(names) == 1:
        return names[0]
    if not names:
        raise UnknownFormat(f"`{file.path}` is {chosen.title} that holds no session")
    shown = listed(f"#{name}" for name in names[:_NAMED_AT_MOST]) + (" and more" if names[_NAMED_AT_MOST:] else "")
    if part is None:
        raise SeveralSessions(f"`{file.path}` holds {len(names)} sessions. Say which, as `{file.path}#NAME`: {shown}")
    raise UnknownFormat(f"`{file.path}` holds no session `{part}`.{guess(part, names, list_up_to=0)} It has {shown}")


_NAMED_AT_MOST = 20


def _named(name: str) -> Format:
    known = format_named(name)
    if known is None:
        raise UsageError(f"no session format is called `{name}`.{guess(name, session_formats())}")
    return known


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
        seen = f"`{path}` is {sample.description}: {other}"
        return f"{seen}, and that cannot be read as a session. What can be: {listed(fmt.name for fmt in formats)}"
    near = [fmt for fmt in formats if sample.kind in fmt.kinds]
    if not near:
        names = listed(fmt.name for fmt in formats)
        return f"`{path}` is {sample.description}, and no session is. What can be read: {names}"
    nearest = "; ".join(f"{fmt.title} (`{fmt.name}`) is {fmt.expects}" for fmt in near)
    return f"`{path}` is {sample.description}, and no session format fits. Nearest: {nearest}"
