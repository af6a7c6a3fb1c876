"""A command as the task of an evaluation: it reads a row as JSON, and what it prints is the row's output."""

import json
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rulebook.evidence.row_columns import plain_data
from rulebook.evidence.trial import INHERITED
from rulebook.measures.row_scores import RowFailure
from rulebook.ports import Command, Completed, Processes

OUTPUT_BYTES = 1024 * 1024
"""How much a command may print for a row."""

_TOLD = 500


class RowCommand(Struct, frozen=True):
    """A command and where it runs. It sees of the environment what every command does, and what `pass_env` names.

    As soon as anything can be read from `end`, a descriptor, it is stopped.
    """

    argv: Sequence[str]
    folder: str
    timeout_s: float
    processes: Processes
    pass_env: Sequence[str] = ()
    end: int | None = None

    def __call__(self, row: Mapping[str, object]) -> object:
        """What it prints for a row, without the line break at its end; a RowFailure when it fails."""
        done = self.processes.run(
            Command(
                self.argv,
                self.folder,
                self.timeout_s,
                environment={},
                output_limit_bytes=OUTPUT_BYTES,
                inherit=(*INHERITED, *self.pass_env),
                stdin=json.dumps(plain_data(row)).encode("ascii") + b"\n",
                until=self.end,
            )
        )
        why = self._why(done)
        return done.stdout.removesuffix("\n") if why is None else RowFailure("CommandError", why)

    def until(self, end: int) -> "RowCommand":
        """The same command, which is stopped as soon as anything can be read from `end`."""
        return replace(self, end=end)

    def _why(self, done: Completed) -> str | None:
        if done.failure is not None:
            return f"`{self.argv[0]}` could not be started: {done.failure}"
        if done.stopped:
            return "the run was stopped"
        if done.timed_out:
            return f"it took longer than {self.timeout_s:g} s"
        status = done.exit
        if status != 0:
            said = " ".join(done.stderr.split())
            # there is no status below 0: it is how a signal is told
            how = f"ended with exit status {status}"
            if status is not None and status < 0:
                how = f"was ended by signal {-status}"
            return f"it {how}" + (f": {said[-_TOLD:]}" if said else "")
        return f"it printed more than {OUTPUT_BYTES} bytes" if done.stdout_cut else None
