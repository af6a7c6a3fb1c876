"""Command lines: argparse with our own words, and the nearest name for whatever is misspelt."""

import argparse
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from rulebook.cli.output import put
from rulebook.errors import UsageError
from rulebook.spelling import guess, listed

HELP_WIDTH = 100


class Arguments(argparse.ArgumentParser):
    """A parser for one command. Everything wrong raises UsageError, which says what to write."""

    def __init__(self, command: str, purpose: str, example: str) -> None:
        self._flags: list[str] = []
        self._example = example
        super().__init__(
            prog=f"rulebook {command}".strip(),
            description=textwrap.fill(purpose, HELP_WIDTH),
            epilog=f"example:\n  {example}",
            formatter_class=_Layout,
            allow_abbrev=False,
        )
        self.add_argument(
            "--color",
            type=choice("--color", ("auto", "always", "never")),
            default="auto",
            metavar="WHEN",
            help="auto (default), always or never; NO_COLOR is honoured",
        )

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Like argparse's, and remembers the option names for the nearest one."""
        self._flags += [name for name in names if name.startswith("--")]
        return super().add_argument(*names, **options)

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """The arguments as a namespace. Raises UsageError."""
        given, unknown = self.parse_known_args(list(argv))
        if unknown:
            word = unknown[0]
            if word.startswith("-") and word != "-":
                flag = word.split("=", 1)[0]
                near = guess(flag, [*self._flags, "--help"], list_up_to=12)
                raise UsageError(f"`{self.prog}` has no option `{flag}`.{near}")
            raise UsageError(f"I don't know what to do with `{word}`. {self._show()}")
        return given

    def error(self, message: str) -> NoReturn:
        """Turn argparse's sentence into ours."""
        missing = re.fullmatch(r"the following arguments are required: (.+)", message)
        if missing:
            raise UsageError(f"`{self.prog}` needs {_joined(missing[1].split(', '))}. {self._show()}")
        bare = re.fullmatch(r"argument (\S+?)(?:/\S+)?: expected (?:one|at least one) argument", message)
        if bare:
            raise UsageError(f"`{bare[1]}` needs a value after it. {self._show()}")
        flag = re.fullmatch(r"argument (\S+?)(?:/\S+)?: ignored explicit argument .*", message)
        if flag:
            raise UsageError(f"`{flag[1]}` takes no value. {self._show()}")
        raise UsageError(f"`{self.prog}`: {message}. {self._show()}")

    def _show(self) -> str:
        first = self._example.split("\n", 1)[0]
        return f"For example: {first}"


def choice(flag: str, choices: Sequence[str]) -> Callable[[str], str]:
    """An argument type: one of `choices`, or a UsageError with the nearest."""

    def chosen(value: str) -> str:
        if value in choices:
            return value
        near = guess(value, choices, list_up_to=0)
        raise UsageError(f"`{flag}` can't be `{value}`; it is one of {listed(choices)}.{near}")

    return chosen


def name_and_value(flag: str, word: str) -> tuple[str, str]:
    """A word such as `n=3`, given with `flag`, as its two parts. Raises UsageError."""
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise UsageError(f"`{flag} {word}` needs a name and a value: write `{flag} {key or 'name'}=value`.")
    return key, value


def rows_taken(word: str) -> int:
    """An argument type: the `--limit` of rows, at least one. Raises UsageError."""
    if not (word.isascii() and word.isdigit() and int(word) > 0):
        raise UsageError(f"`--limit {word}`: write how many rows to take, such as `--limit 100`.")
    return int(word)


def answers_folder(word: str) -> str:
    """An argument type: the `--cache` for answers of models, a folder or the place for one. Raises UsageError."""
    if os.path.lexists(word) and not os.path.isdir(word):
        raise UsageError(f"`{word}` is no folder. Answers of models are kept in a folder: name one.")
    return word


def subcommand(command: str, argv: Sequence[str], purposes: Mapping[str, str]) -> tuple[str, Sequence[str]] | None:
    """The subcommand at the front of `argv` and the rest; None when `--help` was asked for and printed.

    Raises UsageError with the nearest name.
    """
    first = argv[0] if argv else ""
    if first in ("--help", "-h"):
        lines = [f"  {name:<10} {purpose}" for name, purpose in purposes.items()]
        example = f"example:\n  rulebook {command} {next(iter(purposes))} --help\n"
        put("\n".join([f"usage: rulebook {command} COMMAND …", "", *lines, "", example]))
        return None
    if not first or first.startswith("-"):
        raise UsageError(f"`rulebook {command}` needs one of {listed(purposes)} after it.")
    if first not in purposes:
        raise UsageError(f"`rulebook {command}` has no `{first}`.{guess(first, purposes)}")
    return first, argv[1:]


def _joined(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


class _Layout(argparse.RawDescriptionHelpFormatter):
    """Help in one width everywhere, so that it can be quoted and tested."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=HELP_WIDTH)
