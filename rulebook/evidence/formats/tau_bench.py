"""τ-bench results: a list of trials, each with its reward and its `traj` of OpenAI messages.

Source: τ-bench, `tau_bench/types.py` and `tau_bench/run.py`.
"""

from collections.abc import Mapping, Sequence

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.chat_messages import foreign_part, message_of, unread_parts
from rulebook.evidence.session_files.names import distinct
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import amount, mapping, sequence, word
from rulebook.evidence.transcript import End, Transcript

_STOP = "###STOP###"
_HANDED_OVER = "transfer_to_human_agents"


def _fits(sample: Sample) -> Fit:
    trials = [sample.keys] if sample.keys else sample.entries
    return 2 if any("traj" in trial and {"reward", "task_id", "trial"} & trial.keys() for trial in trials) else 0


def _parts(file: SessionFile) -> Sequence[str]:
    return list(file.once(_trials))


def _trials(file: SessionFile) -> Mapping[str, Mapping[str, object]]:
    """The trials by the names of their sessions."""
    root = file.json(FORMAT.title)
    listed = [mapping(item) for item in (sequence(root) if isinstance(root, list) else [root])]
    trials = [trial for trial in listed if "traj" in trial]
    return dict(zip(distinct(map(_name, trials)), trials, strict=True))


def _name(trial: Mapping[str, object]) -> str:
    return f"{trial.get('task_id', 'task')}-{trial.get('trial', 0)}"


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("tau_bench")
    trials = file.once(_trials)
    trial = trials.get(file.part if file.part is not None else next(iter(trials), ""), {})
    items = sequence(trial.get("traj"))
    if not trial:
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no trial with a `traj`")
    transcript.source.sha256, transcript.source.producer = file.sha256, "τ-bench"
    for index, value in enumerate(items):
        _take(transcript, file, mapping(value), index)
    if not transcript.messages:
        warn(transcript, "no_messages", None, "the trial has no messages: it failed before it began")
    finish(transcript)
    warn_of_lost_calls(transcript)
    transcript.session_id = _name(trial)
    transcript.outcome = _outcome(trial)
    transcript.end = _end(transcript)
    return transcript


def _take(transcript: Transcript, file: SessionFile, item: Mapping[str, object], index: int) -> None:
    other = foreign_part(item)
    if other is not None:
        text = f"message {index} has a part of type `{other}`"
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: {text}")
    message = message_of(item, index)
    if message is None:
        warn(transcript, "unknown_record", index, "an item without a known role")
        warn(transcript, "lost_call", index, "an item that cannot be read may hold calls")
    else:
        for code, text in unread_parts(item):
            warn(transcript, code, index, text)
        transcript.messages.append(message)


def _end(transcript: Transcript) -> End:
    """The simulated user says that it is done, or the agent hands over to a person; else nothing says how it ended."""
    error = transcript.outcome.get("error")
    if error is not None or not transcript.messages:
        return End("unknown" if error is None else "errored", str(error or "the trial has no messages")[:500])
    last = transcript.messages[-1]
    if last.role == "user" and _STOP in last.text:
        return End("finished", "the simulated user ended the conversation", None)
    if last.role == "tool" and last.tool_result is not None and last.tool_result.name == _HANDED_OVER:
        return End("handed_over", "the agent handed over to a person", None)
    return End("unknown", "the trial does not say how it ended")


def _outcome(trial: Mapping[str, object]) -> dict[str, object]:
    """The reward; the error that a trial without one states."""
    reward = trial.get("reward")
    error = word(mapping(trial.get("info")).get("error"))
    told = {"reward": reward if amount(reward) is not None else None, "error": error}
    return {name: value for name, value in told.items() if value is not None}


FORMAT = Format(
    name="tau_bench",
    title="a τ-bench trial",
    expects="a JSON list of trials with a `reward` and a `traj` of messages",
    kinds=frozenset(("list", "object")),
    carries=frozenset(("messages", "tool_calls", "results", "end")),
    fits=_fits,
    read=_read,
    parts=_parts,
)
