"""Harbor's `result.json` of a trial: what its verifier gave, and what stopped the agent.

Source: Harbor, `harbor/models/trial/result.py` and `harbor/trial/trial.py`: the trajectory lies in the trial's
folder `agent`, the result beside that folder.
"""

from collections.abc import Mapping
from pathlib import PurePath

from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.shape import SessionFile
from rulebook.evidence.session_files.values import amount, decoded, mapping, word
from rulebook.evidence.transcript import End, EndReason, Transcript

_NAME = "result.json"
_LIMIT_BYTES = 64 * 1024 * 1024
_KEYS = frozenset(("exception_info", "verifier_result", "agent_result", "trial_name"))
_ENDS: dict[str, EndReason] = {
    "AgentTimeoutError": "time_limit",
    "ContextLengthExceededError": "context_limit",
    "OutputLengthExceededError": "truncated_output",
    "CancelledError": "canceled_by_user",
    "KeyboardInterrupt": "canceled_by_user",
}
_AFTER_THE_AGENT = ("Verifier", "Reward", "AddTests", "DownloadVerifier")


def take_result(file: SessionFile, transcript: Transcript) -> None:
    """Fill in end and outcome from the trial's result, where it lies beside the trajectory.

    A trial without an exception does not say how the agent ended: it may have met a limit of its own.
    """
    transcript.end = End("unknown", "a trajectory does not say how the session ended")
    found = _beside(file)
    if found is None:
        return
    result = _parsed(found)
    if result is None:
        warn(transcript, "unread_result", None, f"the `{_NAME}` beside the session cannot be read as Harbor's")
        return
    agent = word(mapping(result.get("agent_info")).get("name"))
    if agent is not None and transcript.agent_name is not None and agent != transcript.agent_name:
        text = f"the `{_NAME}` beside the session is of the agent `{agent}`, and so of another session"
        warn(transcript, "unread_result", None, text)
        return
    transcript.outcome = _outcome(result)
    stopped = mapping(result.get("exception_info"))
    raw = word(stopped.get("exception_type"))
    if raw is not None:
        reason = "unknown" if raw.startswith(_AFTER_THE_AGENT) else _ENDS.get(raw, "errored")
        transcript.end = End(reason, (word(stopped.get("exception_message")) or raw)[:500], raw)


def _beside(file: SessionFile) -> bytes | None:
    folder = PurePath(file.path).parent
    places = [folder, folder.parent] if folder.name == "agent" else [folder]
    for place in places:
        try:
            return file.files.read_within(str(place), _NAME, _LIMIT_BYTES)
        except OSError:
            continue
    return None


def _parsed(data: bytes) -> Mapping[str, object] | None:
    try:
        result = mapping(decoded(data)) if len(data) <= _LIMIT_BYTES else {}
    except ValueError:
        return None
    return result if _KEYS & result.keys() else None


def _outcome(result: Mapping[str, object]) -> dict[str, object]:
    outcome: dict[str, object] = {}
    given = mapping(mapping(result.get("verifier_result")).get("rewards"))
    rewards = {name: value for name, value in given.items() if _is_number(value)}
    if "reward" in rewards or len(rewards) == 1:
        outcome["reward"] = rewards.get("reward", next(iter(rewards.values())))
    if rewards and set(rewards) != {"reward"}:
        outcome["rewards"] = rewards
    error = word(mapping(result.get("exception_info")).get("exception_type"))
    return outcome | ({"error": error} if error is not None else {})


def _is_number(value: object) -> bool:
    """Finite and no truth value; rewards may be below 0."""
    return amount(value) is not None or (isinstance(value, int | float) and amount(-value) is not None)
