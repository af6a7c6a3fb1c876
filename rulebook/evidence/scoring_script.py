"""A program of the author's that judges and writes a score: running it, and what its end and its file come to."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from msgspec import Struct, field

from rulebook.errors import Missing, NotHandedIn, OutOfTime
from rulebook.evidence.data_files import read_data, why_unread
from rulebook.evidence.shortage import is_shortage
from rulebook.evidence.trial import INHERITED, killed_by
from rulebook.outcome import Measurement, Misbehavior, Outcome, Unmeasured, reaches
from rulebook.ports import Command, Completed, Files, Ports

DEFAULT_TIMEOUT_S = 600.0
OUTPUT_LIMIT_BYTES = 1024 * 1024
MOST_SCORE_BYTES = 4 * 1024 * 1024
"""A score file that is larger is not read."""
_FILE_LIMIT_BYTES = 4 * 1024**3
"""No file that a script writes grows beyond this: what it was handed may write without end, and memory is finite."""

_MISBEHAVIOR, _UNMEASURED = 77, 78
_NO_SCORE, _OUT_OF_TIME = "no score", "out of time"


class Script(Struct, frozen=True):
    """How a scoring script is run.

    `argv` gives its words for the path of the score file, which will be called `file_name`. `cwd` None is a fresh
    private folder. It sees of our environment what `inherit` names, and `environment`. `crash_scores`: a script that
    breaks, or leaves no score, scores 0; otherwise nothing was measured.
    """

    argv: Callable[[str], Sequence[str]]
    file_name: str = "score.json"
    cwd: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    inherit: Sequence[str] = INHERITED
    environment: Mapping[str, str] = field(default_factory=dict)
    output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    crash_scores: bool = True


def scored_by(script: Script, threshold: float, ports: Ports) -> Outcome:
    """Run the script and read its score, which passes at `threshold` or above. Nothing that it started lives on.

    Raises OutOfTime when the rule's time ends before the script's own, Missing when the machine fails us, and whatever
    `argv` raises.
    """
    with ExitStack() as until_read:
        try:
            folder = until_read.enter_context(ports.workspaces.fresh(small=True))
            cwd = script.cwd or until_read.enter_context(ports.workspaces.fresh())
        except OSError as error:
            reason = f"no folder for the score file can be made: {error.strerror or error}"
            if is_shortage(error):
                return Unmeasured("harness", reason)
            return _crashed(script, reason, {"tempdir_error": reason})
        argv = list(script.argv(f"{folder}/{script.file_name}"))
        left_s = ports.time_left(script.timeout_s)
        done = ports.processes.run(_command(script, argv, cwd, left_s))
        if done.timed_out and left_s < script.timeout_s:
            raise OutOfTime(left_s, material=True)
        return _broken(script, argv, done) or _read(script, threshold, done, folder, ports.files)


def left_no_score(outcome: Outcome | None) -> bool:
    """Whether this is what a script comes to that broke, or ran out of time, and so judged nothing."""
    return isinstance(outcome, Measurement) and outcome.student_fault and outcome.actual in (_NO_SCORE, _OUT_OF_TIME)


def _command(script: Script, argv: Sequence[str], cwd: str, timeout_s: float) -> Command:
    # without the safe path, a module that the student left in the folder would be imported in place of the real one
    environment = {"PYTHONSAFEPATH": "1", **script.environment}
    return Command(
        argv,
        cwd,
        timeout_s,
        environment,
        script.output_limit_bytes,
        inherit=script.inherit,
        file_limit_bytes=_FILE_LIMIT_BYTES,
    )


def _broken(script: Script, argv: Sequence[str], done: Completed) -> Outcome | None:
    """What came of a script that did not end well; None for one that did, whose file is to be read."""
    if done.failure is not None and done.machine_failed:
        return Unmeasured("harness", done.failure)
    if done.failure is not None:
        return _crashed(script, done.failure, {done.failure_name: done.failure})
    printed = {"stdout": done.stdout, "stderr": done.stderr}
    if done.timed_out:
        reason = f"the script was stopped after {script.timeout_s:g} s"
        return _zero(reason, _OUT_OF_TIME, {"TimeoutExpired": reason, **printed})
    if done.exit == _MISBEHAVIOR:
        return Misbehavior(_last_words(done) or "the script says that the student misbehaved", printed)
    if done.exit == _UNMEASURED:
        return Unmeasured("harness", _last_words(done) or "the script says that it could not judge")
    if done.exit == 0:
        return None
    how = f"ended with exit {done.exit}"
    if done.exit is not None and done.exit < 0:
        how = f"was {killed_by(-done.exit)}"
    last = _last_words(done)
    whole = f"`{' '.join(argv)}` {how}"
    return _crashed(script, f"the script {how}{f': {last}' if last else ''}", {"CalledProcessError": whole, **printed})


def _read(script: Script, threshold: float, done: Completed, folder: str, files: Files) -> Outcome:
    printed = {"stdout": done.stdout, "stderr": done.stderr}
    try:
        written = _mapping(folder, script.file_name, files)
        said = _said(written, done, printed)
        if said is not None:
            return said
        score, metadata = _score(written), _metadata(written)
    except NotHandedIn as unread:
        return _crashed(script, unread.reason, {"json_read_error": unread.reason, **printed})
    passed = reaches(score, threshold)
    return Measurement(score, passed, "", f"at least {threshold:g}", f"{score:g}", {**metadata, **printed})


def _mapping(folder: str, name: str, files: Files) -> Mapping[str, object]:
    """The score file's content. Raises NotHandedIn, which says what is wrong with it; Missing for our fault."""
    try:
        data = files.read_within(folder, name, MOST_SCORE_BYTES)
    except FileNotFoundError as error:
        raise NotHandedIn("the script wrote no score file") from error
    except OSError as error:
        reason = f"the score file cannot be read: {why_unread(error)}"
        raise Missing("harness", reason) if is_shortage(error) else NotHandedIn(reason) from error
    if len(data) > MOST_SCORE_BYTES:
        raise NotHandedIn(f"the score file is larger than {MOST_SCORE_BYTES} bytes")
    if not data.strip():
        raise NotHandedIn("the score file is empty")
    written = read_data(data, "json", name)
    if not isinstance(written, dict):
        raise NotHandedIn(f"the score file holds {_kind(written)}, not a mapping with `score` and `metadata`")
    return written


def _said(written: Mapping[str, object], done: Completed, printed: Mapping[str, str]) -> Outcome | None:
    """What a script says in `status` instead of a score; None when it says nothing. Raises NotHandedIn."""
    given = written.get("reason")
    reason = _text(given) if isinstance(given, str) and given.strip() else _last_words(done)
    match written.get("status"):
        case None:
            return None
        case "misbehavior":
            metadata = _metadata(written) if "metadata" in written else {}
            return Misbehavior(reason or "the script says that the student misbehaved", {**metadata, **printed})
        case "unmeasured":
            return Unmeasured("harness", reason or "the script says that it could not judge")
        case other:
            shown = f"`{_text(other)[:60]}`"
            raise NotHandedIn(f"the score file's `status` is {shown}: it is `misbehavior`, `unmeasured` or left out")


def _score(written: Mapping[str, object]) -> float:
    if "score" not in written:
        raise NotHandedIn("the score file has no `score`")
    score = written["score"]
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise NotHandedIn(f"`score` in the score file must be a number; it is {_kind(score)}")
    try:
        return float(score)
    except OverflowError as error:
        raise NotHandedIn("`score` in the score file is too large for a number") from error


def _metadata(written: Mapping[str, object]) -> Mapping[str, str]:
    """The metadata, every value as text. Source: scoring, ExecutableJudge."""
    if "metadata" not in written:
        raise NotHandedIn("the score file has no `metadata`")
    metadata = written["metadata"]
    if not isinstance(metadata, dict):
        raise NotHandedIn(f"`metadata` in the score file must be a mapping; it is {_kind(metadata)}")
    return {_text(name): _text(value) for name, value in metadata.items()}


def _crashed(script: Script, reason: str, metadata: Mapping[str, str]) -> Outcome:
    return _zero(reason, _NO_SCORE, metadata) if script.crash_scores else Unmeasured("harness", reason)


def _zero(reason: str, actual: str, metadata: Mapping[str, str]) -> Measurement:
    """Score 0, and marked so that no threshold and no negation makes a pass of what was never judged."""
    return Measurement(0.0, False, reason, "a score", actual, metadata, student_fault=True)


def _last_words(done: Completed) -> str:
    lines = [line for text in (done.stdout, done.stderr) for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:500] if lines else ""


def _text(value: object) -> str:
    """Text that can be written to any file: a half of a character that JSON smuggled in is spelt out."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def _kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "`true`" if value else "`false`"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return "a number"
