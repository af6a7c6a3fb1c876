"""What every format needs at the end of its reading.

Calls paired with results, dense positions, sums of usage.
"""

from collections.abc import Iterable

from rulebook.evidence.transcript import Irregularity, Message, ToolCall, Transcript, Usage


def finish(transcript: Transcript) -> None:
    """Number every thread's messages from 0, pair its calls with its results, and note what does not fit."""
    for messages in (transcript.messages, *(thread.messages for thread in transcript.threads)):
        for index, message in enumerate(messages):
            message.index = index
        _pair(messages, transcript.warnings)
        _check_times(messages, transcript.warnings)
    for message in all_messages(transcript):
        if message.model and message.model not in transcript.models:
            transcript.models.append(message.model)


def all_messages(transcript: Transcript) -> list[Message]:
    """The messages of the main thread and then of every other one."""
    return [*transcript.messages, *(message for thread in transcript.threads for message in thread.messages)]


def summed(usages: Iterable[Usage]) -> Usage | None:
    """The sum of the usage of several model calls; None when there are none.

    A kind of token that some call does not state stays unknown, except the parts of others (cache,
    reasoning), which are summed as far as they are stated.
    """
    given = list(usages)
    if not given:
        return None
    return Usage(
        input=_strict_sum([usage.input for usage in given]),
        output=_strict_sum([usage.output for usage in given]),
        cache_read=_loose_sum([usage.cache_read for usage in given]),
        cache_write=_loose_sum([usage.cache_write for usage in given]),
        reasoning=_loose_sum([usage.reasoning for usage in given]),
        requests=len(given),
    )


def warn(transcript: Transcript, code: str, where: int | None, text: str) -> None:
    """Note one irregularity of the source."""
    transcript.warnings.append(Irregularity(code, where, text))


def warn_of_lost_calls(transcript: Transcript, *, with_replies: bool = False) -> None:
    """Say that results answer calls which the file does not hold: some tool ran unseen. A second answer is none.

    `with_replies`: each of the calls stood in a reply of its own, so that replies were not read either.
    """
    messages = all_messages(transcript)
    known = {call.id for message in messages for call in message.tool_calls}
    results = [(m, m.tool_result) for m in messages if m.tool_result is not None]
    orphans = [m for m, result in results if result.answers is None and result.call_id not in known]
    if orphans:
        code = "lost_record" if with_replies else "lost_call"
        warn(transcript, code, orphans[0].src, f"results of calls that are not in the file: {len(orphans)}")


def _pair(messages: list[Message], warnings: list[Irregularity]) -> None:
    waiting: dict[str, tuple[ToolCall, Message]] = {}
    taken: set[str] = set()
    unpaired: list[tuple[ToolCall, Message]] = []
    for message in messages:
        for nth, call in enumerate(message.tool_calls):
            given = call.id or f"call_{message.index}_{nth}"
            if given in waiting:
                unpaired.append(waiting.pop(given))
            call.id = _unique(given, taken, message, warnings)
            waiting[given] = (call, message)
        if message.role == "tool":
            _answer(message, waiting, warnings)
    for call, message in sorted([*unpaired, *waiting.values()], key=lambda pair: pair[1].index):
        warnings.append(
            Irregularity("unpaired_call", message.src, f"the call `{call.id}` of `{call.name}` has no result")
        )


def _unique(given: str, taken: set[str], message: Message, warnings: list[Irregularity]) -> str:
    """The id itself the first time, with `~2`, `~3` afterwards: recorded demonstrations use an id again."""
    name, nth = given, 1
    while name in taken:
        nth += 1
        name = f"{given}~{nth}"
    taken.add(name)
    if nth > 1:
        warnings.append(Irregularity("repeated_call_id", message.src, f"the call id `{given}` is used again"))
    return name


def _answer(message: Message, waiting: dict[str, tuple[ToolCall, Message]], warnings: list[Irregularity]) -> None:
    """Give a result its call: by id, or, where the format left the id out, the oldest call that waits."""
    result = message.tool_result
    if result is None:
        return
    if result.answers is not None:
        result.answers = [waiting.pop(given)[0].id for given in result.answers if given in waiting]
        return
    given = result.call_id or next(iter(waiting), None)
    if given is None or given not in waiting:
        named = f" for `{result.call_id}`" if result.call_id else ""
        warnings.append(Irregularity("orphan_result", message.src, f"a result{named} answers no call"))
        return
    call, _ = waiting.pop(given)
    result.call_id = call.id
    result.name = result.name or call.name


def _check_times(messages: list[Message], warnings: list[Irregularity]) -> None:
    latest: int | None = None
    for message in messages:
        if message.at_ms is None:
            continue
        if latest is not None and message.at_ms < latest:
            warnings.append(
                Irregularity(
                    "timestamp_backwards",
                    message.src,
                    f"{latest - message.at_ms} ms before the one before it",
                )
            )
        latest = message.at_ms


def _strict_sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _loose_sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
