"""A scoring script as a judge. Source: scoring, ExecutableJudge."""

import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rulebook.api.judges import Judge
from rulebook.api.own_machine import own_ports
from rulebook.api.scoring import scoring_of
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import Scoring
from rulebook.evidence.scoring_script import DEFAULT_TIMEOUT_S, OUTPUT_LIMIT_BYTES, Script, scored_by
from rulebook.evidence.trial import INHERITED


class ExecutableJudge(Judge):
    """Runs a command and reads the score that it writes to a file.

    The last argument names that file, which is put into a fresh private folder. The script sees the variables that
    `inherit` names and those of `environment`, no others; the environment's Python finds the modules that this process
    finds. It runs in a fresh private folder unless `cwd` says otherwise, for at most `timeout_s` seconds. One object
    may judge in several threads at once.
    """

    def __init__(
        self,
        subprocess_run_args: Sequence[str | os.PathLike[str]],
        continue_threshold: float = -1,
        cwd: str | os.PathLike[str] | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        inherit: Sequence[str] = INHERITED,
        environment: Mapping[str, str] = MappingProxyType({}),
        output_limit_bytes: int = OUTPUT_LIMIT_BYTES,
        crash_scores: bool = True,
    ) -> None:
        """Raises ValueError where no argument is left for the name of the score file, TypeError for a line of text."""
        if isinstance(subprocess_run_args, str | bytes):
            raise TypeError("A command is a list of words, not one line.")
        self.arguments = tuple(os.fspath(word) for word in subprocess_run_args)
        name = os.path.basename(self.arguments[-1]) if len(self.arguments) > 1 else ""
        if name in ("", ".", ".."):
            raise ValueError("The last argument is the name of the score file, after the program: write `score.json`.")
        self.continue_threshold = continue_threshold
        self._script = Script(
            argv=lambda score_file: [*self.arguments[:-1], score_file],
            file_name=name,
            cwd=None if cwd is None else os.path.abspath(cwd),
            timeout_s=timeout_s,
            inherit=tuple(inherit),
            environment={**_modules(self.arguments[0]), **environment},
            output_limit_bytes=output_limit_bytes,
            crash_scores=crash_scores,
        )

    def evaluate(self, transcript: Transcript) -> Scoring:  # noqa: ARG002
        """Run the script.

        Raises StudentMisbehaviorError when it exits with 77 or says so, UnmeasuredError when it exits with 78.
        """
        return scoring_of(scored_by(self._script, self.continue_threshold, own_ports()))


def _modules(program: str) -> Mapping[str, str]:
    """Where the environment's Python finds what this process finds: it starts in an empty folder, on a safe path."""
    if program != sys.executable:
        return {}
    import sysconfig  # only a judge that runs Python pays for it

    known = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found = [place for place in map(os.path.abspath, sys.path) if place not in known]
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys(found))} if found else {}
