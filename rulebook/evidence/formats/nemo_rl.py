"""Rollouts of NeMo RL and NeMo Gym: a `message_log`, or a request with the response that an agent's loop came to.

Source: NeMo RL, `data/llm_message_utils.py`; NeMo Gym, rollout collection.
"""

from collections.abc import Mapping, Sequence

from rulebook.evidence.formats.chat_messages import message_of
from rulebook.evidence.formats.exchanges import pair
from rulebook.evidence.formats.recording import read_exchanges
from rulebook.evidence.formats.responses_exchange import is_response
from rulebook.evidence.session_files.pairing import finish, warn
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import amount, decoded, mapping, sequence
from rulebook.evidence.transcript import Transcript


def _fits(sample: Sample) -> Fit:
    if sample.kind == "lines":
        return 2 if sample.records and all(map(_is_rollout, sample.records)) else 0
    return 2 if any(map(_is_rollout, _rows(sample.value))) else 0


def _is_rollout(row: Mapping[str, object]) -> bool:
    log = sequence(row.get("message_log"))
    if log and all("role" in mapping(message) for message in log):
        return True
    return "responses_create_params" in row and is_response(mapping(row.get("response")))


def _rows(root: object) -> list[Mapping[str, object]]:
    """The rollouts of a file that is one value: itself, its items, or those below `expected_output`."""
    rows = sequence(root) or sequence(mapping(root).get("expected_output")) or [root]
    return [mapping(row) for row in rows]


def _parts(file: SessionFile) -> Sequence[str]:
    """Numbers of lines from 1, or of items from 0."""
    if file.sample.kind == "lines":
        return [str(number) for number, line in enumerate(file.once(_lines), 1) if _is_rollout(_row(line))]
    return [str(number) for number, row in enumerate(_rows(file.json(FORMAT.title))) if _is_rollout(row)]


def _lines(file: SessionFile) -> list[bytes]:
    return file.whole().split(b"\n")


def _row(line: bytes) -> Mapping[str, object]:
    try:
        return mapping(decoded(line))
    except ValueError:
        return {}


def _read(file: SessionFile) -> Transcript:
    number = int(file.part or 0)
    row = _row(file.once(_lines)[number - 1]) if file.sample.kind == "lines" else _rows(file.json(FORMAT.title))[number]
    transcript = file.transcript("nemo_rl")
    transcript.source.sha256, transcript.source.producer = file.sha256, "NeMo"
    if "message_log" in row:
        _take_log(transcript, sequence(row["message_log"]))
    else:
        asked, answered = mapping(row["responses_create_params"]), mapping(row.get("response"))
        asked = asked if "input" in asked else {**asked, "input": []}
        read_exchanges(transcript, file, [pair(asked, answered)], "openai_responses")
    reward = amount(row.get("reward")) if "reward" in row else amount(row.get("total_reward"))
    transcript.outcome = {} if reward is None else {"reward": reward}
    return transcript


def _take_log(transcript: Transcript, log: list[object]) -> None:
    """The messages of a log. The calls in it stand in the text of the model, if they stand in any text at all."""
    silent = 0
    for where, value in enumerate(log):
        given = mapping(value)
        environment = given.get("role") == "environment"
        message = message_of({**given, "role": "user"} if environment else given, where)
        if message is None:
            warn(transcript, "unknown_record", where, "an item without a known role")
            continue
        message.injected = environment
        silent += not message.text and "token_ids" in given
        transcript.messages.append(message)
    finish(transcript)
    warn(transcript, "lost_call", None, "a log of tokens does not tell calls from text")
    if silent:
        text = f"what {silent} of {len(transcript.messages)} messages say stands in their tokens alone"
        warn(transcript, "unread_exchange", None, text)


FORMAT = Format(
    name="nemo_rl",
    title="a rollout of NeMo RL",
    expects="a `message_log`, or `responses_create_params` with its `response`, one or several",
    kinds=frozenset(("object", "list", "lines")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "time", "events")),
    fits=_fits,
    read=_read,
    parts=_parts,
)
