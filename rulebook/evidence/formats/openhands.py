"""OpenHands V0: saved event lists, and the rows of an evaluation's `output.jsonl`, each with its `history`.

Source: OpenHands, `openhands/events` and `evaluation/utils/shared.py`.
"""

from collections.abc import Mapping, Sequence

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.openhands_events import Events
from rulebook.evidence.session_files.pairing import all_messages, finish, summed, warn, warn_of_lost_calls
from rulebook.evidence.session_files.rows import rows_of, value_of
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import amount, count, decoded, mapping, sequence, word
from rulebook.evidence.transcript import Cost, End, EndReason, Transcript, Usage

_ROW_KEYS = frozenset(("git_patch", "instance_id", "metrics", "test_result", "issue", "instruction"))
_BEFORE_THE_HISTORY = frozenset(("instance_id", "test_result", "issue", "instruction"))
_OWN_KEYS = frozenset(("args", "extras", "cause", "source", "wait_for_response", "thought"))
_LIMITS: tuple[tuple[str, EndReason], ...] = (
    ("maximum iteration", "turn_limit"),
    ("maximum budget", "budget_reached"),
    ("AgentStuckInLoop", "no_progress"),
    ("stuck in a loop", "no_progress"),
    ("ContextWindow", "context_limit"),
    ("TimeoutException", "time_limit"),
)


def _fits(sample: Sample) -> Fit:
    rows = list(sample.records) if sample.kind == "lines" else [sample.keys] if sample.keys else []
    if any("history" in row and _ROW_KEYS & row.keys() and _are_events(row.get("history")) for row in rows):
        return 2
    if len(_BEFORE_THE_HISTORY & sample.keys.keys()) > 1 and "history" not in sample.keys:
        return 1  # what stands before the history may be longer than the sample
    if sample.keys:
        events = _events(sample.keys.get("trajectory"))
        of_swe_agent = {"history", "info", "environment"} & sample.keys.keys()
        return 2 if not of_swe_agent and any(isinstance(event.get("args"), dict) for event in events) else 0
    return 2 if sample.kind == "list" and _are_events(sample.value) else 0


def _are_events(value: object) -> bool:
    """Whether a list holds OpenHands events: actions that say what is done, with the observations after them."""
    events = _events(value)
    return any(isinstance(event.get("action"), str) and _is_own(event) for event in events) or any(
        isinstance(event.get("observation"), str) and "content" in event and _is_own(event) for event in events
    )


def _is_own(event: Mapping[str, object]) -> bool:
    return "role" not in event and not _OWN_KEYS.isdisjoint(event)


def _events(value: object) -> list[Mapping[str, object]]:
    """The events of a history: a plain list, or one of pairs of an action and what was observed."""
    return [mapping(event) for item in sequence(value) for event in (item if isinstance(item, list) else [item])]


def _parts(file: SessionFile) -> Sequence[str]:
    return [row.name for row in rows_of(file, _name).rows] if _in_lines(file) else ["session"]


def _name(row: Mapping[str, object], number: int) -> str | None:
    if "history" not in row:
        return None
    issue = count(mapping(row.get("issue")).get("number"))
    return word(row.get("instance_id")) or (f"line-{number}" if issue is None else f"issue-{issue}")


def _in_lines(file: SessionFile) -> bool:
    """Whether the file is a row a line: a first line that is longer than the sample looks like one object there."""
    if file.sample.kind != "object":
        return file.sample.kind == "lines"
    with file.files.lines(file.path) as lines:
        first = next((line for line in lines if not line.isspace()), b"")
    try:
        return "history" in mapping(decoded(first))
    except ValueError:
        return False


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("openhands")
    row = _chosen(file, transcript)
    history = _events(row.get("history"))
    if not any("action" in event or "observation" in event for event in history):
        if not _ROW_KEYS & row.keys():
            raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no `action` or `observation`")
        warn(transcript, "no_messages", None, "the row has no events: the run failed before it began")
    transcript.source.sha256, transcript.source.producer = file.sha256, "OpenHands"
    events = Events(transcript)
    for index, event in enumerate(history):
        events.take(index, event)
    transcript.threads = events.delegates
    finish(transcript)
    warn_of_lost_calls(transcript)
    _take_row(transcript, row)
    transcript.end = _end(row) or events.end
    transcript.usage = _usage(transcript, row, events)
    transcript.cost = _cost(row, events)
    return transcript


def _chosen(file: SessionFile, transcript: Transcript) -> Mapping[str, object]:
    """The row to read; a bare list of events is the history of a row that says nothing else."""
    if not _in_lines(file):
        root = file.json(FORMAT.title)
        row = mapping(root)
        return row if "history" in row else {"history": row.get("trajectory", root)}
    found = rows_of(file, _name)
    for number, fault in found.faults:
        warn(transcript, "bad_line", number, f"another row is not valid JSON ({fault})")
    chosen = found.row(file.part)
    return {} if chosen is None else value_of(file, chosen)


def _take_row(transcript: Transcript, row: Mapping[str, object]) -> None:
    """What an evaluation's row says beside the history."""
    issue = mapping(row.get("issue"))
    named = "/".join(str(issue.get(key, "")) for key in ("owner", "repo", "number")) if issue else None
    transcript.session_id = word(row.get("instance_id")) or named
    patch = word(row.get("git_patch")) or word(mapping(row.get("test_result")).get("git_patch"))
    told = {"patch": patch, "success": row.get("success"), "error": word(row.get("error"))}
    transcript.outcome = {name: value for name, value in told.items() if isinstance(value, str | bool)}


def _end(row: Mapping[str, object]) -> End | None:
    error = word(row.get("error"))
    if error is None:
        return None
    reason = next((reason for words, reason in _LIMITS if words.lower() in error.lower()), "errored")
    return End(reason, error[:500], error[:100])


def _usage(transcript: Transcript, row: Mapping[str, object], events: Events) -> Usage | None:
    """What the run accumulated, else the sum over model replies, each counted once."""
    for metrics in (mapping(row.get("metrics")), events.metrics):
        total = mapping(metrics.get("accumulated_token_usage"))
        prompt, completion = count(total.get("prompt_tokens")), count(total.get("completion_tokens"))
        if prompt and completion is not None:
            cached = count(total.get("cache_read_tokens")), count(total.get("cache_write_tokens"))
            return Usage(prompt, completion, *cached, source="reported")
    replies = [m for m in all_messages(transcript) if m.role == "assistant"]
    told = [reply.usage for reply in replies if reply.usage is not None]
    usage = summed(told)
    if usage is not None:
        usage.requests = sum(part.requests != 0 for part in told)
    silent = [reply for reply in replies if reply.usage is None]
    if usage is not None and silent:
        text = f"{len(silent)} of {len(replies)} replies state no usage"
        warn(transcript, "usage_partial", silent[0].src, text)
    return usage


def _cost(row: Mapping[str, object], events: Events) -> Cost:
    for metrics in (mapping(row.get("metrics")), events.metrics):
        price = amount(metrics.get("accumulated_cost"))
        if price:  # 0 is also what a model without a known price adds up to
            return Cost(price, "USD")
    return Cost()


FORMAT = Format(
    name="openhands",
    title="an OpenHands trajectory",
    expects="a JSON list of events with `action` or `observation`, or lines of rows with a `history` of them",
    kinds=frozenset(("list", "lines", "object")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "time", "events", "subagents")),
    fits=_fits,
    read=_read,
    parts=_parts,
)
