"""Writing to the terminal: data to stdout, talk to stderr, and a reader that goes away changes no verdict."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Literal, TextIO

from rulebook.terminal import harmless


class UnwrittenError(Exception):
    """What was to be printed could not be: a full disk, a closed stream."""


Colour = Literal["auto", "always", "never"]


_kept: list[TextIO] = []
"""The stream for data alone, while `sys.stdout` is what an author's code prints to."""


@contextlib.contextmanager
def data_alone(wanted: bool) -> Iterator[None]:
    """Where `wanted`, send to stderr what the author's code prints meanwhile: it could pass for a report."""
    if not wanted:
        yield
        return
    _kept.append(sys.stdout)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop()


def put(text: str) -> None:
    """Write data, as it is, to stdout."""
    _write(_data(), text)


def say(text: str) -> None:
    """Write a line of talk to stderr, whatever the names in it hold: they may be those of strangers' files."""
    _write(sys.stderr, harmless(text) + "\n")


def say_laid_out(text: str) -> None:
    """Write talk that has its lines and colours already, and is harmless."""
    _write(sys.stderr, text + "\n")


def stdout_colour(colour: Colour) -> bool:
    """Whether to colour data: `auto` colours a terminal, unless NO_COLOR is set."""
    return _is_coloured(colour, _data())


def stdout_columns(usual: int, least: int, most: int) -> int:
    """How many columns data may take: the terminal's, within bounds; `usual` where stdout is none."""
    return _columns(_data(), usual, least, most)


def stderr_columns(usual: int, least: int, most: int) -> int:
    """How many columns talk may take, by the same rule."""
    return _columns(sys.stderr, usual, least, most)


def stderr_colour(colour: Colour) -> bool:
    """Whether to colour talk, by the same rule."""
    return _is_coloured(colour, sys.stderr)


def make_safe() -> None:
    """Let the streams write any text, whatever their encoding: what it lacks is written out."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def flush() -> None:
    """Hand everything written so far to its reader."""
    _write(sys.stdout, "")
    _write(sys.stderr, "")


def _data() -> TextIO:
    return _kept[-1] if _kept else sys.stdout


def _is_coloured(colour: Colour, stream: TextIO | None) -> bool:
    if colour != "auto":
        return colour == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or stream is None:
        return False
    return stream.isatty()


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _forget(stream)
    except OSError as error:
        _forget(stream)
        raise UnwrittenError(error.strerror or "the machine refuses") from error


def _forget(stream: TextIO) -> None:
    """Send the rest nowhere: the reader has gone (`| head`), and the exit status stays the verdict."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _columns(stream: TextIO | None, usual: int, least: int, most: int) -> int:
    if stream is None or not stream.isatty():
        return usual
    try:
        wide = int(os.environ.get("COLUMNS") or os.get_terminal_size(stream.fileno()).columns)
    except (OSError, ValueError):
        return usual
    return max(least, min(most, wide))
