"""Asking a judge model many questions at once, and reading each reply into an answer or a reason."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from rulebook.errors import Missing, Stopped
from rulebook.evidence.judge_question import AGAIN
from rulebook.model_port import ModelFailure, ModelReply, ModelRequest, Models
from rulebook.outcome import Spent, spent_in_all

Read = TypeVar("Read")

REQUEST_LIMIT_S = 600.0
"""How long one question may take, all attempts together."""

_FENCED = re.compile(r"```[\w-]*[ \t]*\r?\n(.*?)\r?\n?```", re.S)
_THOUGHT = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.S)
_SHOWN_CHARACTERS = 120


class JudgeModel(Struct, frozen=True):
    """The model that is asked, as in `ModelRequest`. `more` are further parameters of every request."""

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int = 16_000
    more: Mapping[str, object] = field(default_factory=dict)


class Question(Struct, frozen=True):
    """What is asked of whom; `fence`, `schema` and `sample` are as in `ModelRequest`."""

    judge: JudgeModel
    system: str
    user: str
    fence: str = ""
    schema: Mapping[str, object] | None = None
    sample: int = 0


class Unreadable(Exception):
    """A reply that is no answer; the message says why, to stand behind "the reply"."""


class Answered(Struct, Generic[Read], frozen=True):
    """What a reply says, which model gave it, and what that cost with all that was asked before it."""

    value: Read
    model: str
    spent: Spent


class NoAnswer(Struct, frozen=True):
    """Why there is none, and what that cost. `too_long`: the model cannot take so much text at once."""

    error: Exception
    spent: Spent
    too_long: bool = False


def answers_to(
    questions: Sequence[Question],
    models: Models,
    read: Callable[[ModelReply], Read],
    *,
    limit_s: float = REQUEST_LIMIT_S,
    again: bool = False,
    queued: bool = False,
) -> list[Answered[Read] | NoAnswer]:
    """An answer to each question, in their order; all are under way together.

    `read` makes the answer of a reply and raises Unreadable for one that is none; with `again` it is asked for once
    more, in words that say so. What could not be read in the end is kept for no later run. Whatever else `read` raises,
    a function of the caller's own, is that question's failure. `queued`: there may be very many of them, and the limit
    of each begins with its turn.
    """
    found = _asked(questions, models, read, limit_s, queued)
    unread = {index: [questions[index]] for index, each in enumerate(found) if _is_unread(each)}
    if again and unread:
        repeated = [replace(questions[index], user=questions[index].user + AGAIN) for index in unread]
        answers = _asked(repeated, models, read, limit_s, queued)
        for (index, asked), question, answer in zip(unread.items(), repeated, answers, strict=True):
            asked.append(question)
            found[index] = replace(answer, spent=spent_in_all([found[index].spent, answer.spent]))
    for index, asked in unread.items():
        if _is_unread(found[index]):
            for question in asked:
                models.forget(_request(question, limit_s, queued))
    return found


def _asked(
    questions: Sequence[Question],
    models: Models,
    read: Callable[[ModelReply], Read],
    limit_s: float,
    queued: bool,
) -> list[Answered[Read] | NoAnswer]:
    if not questions:
        return []
    if limit_s <= 0:
        late = Missing("harness", "the rule's time ran out before the model was asked")
        return [NoAnswer(late, Spent())] * len(questions)
    replies = models.ask([_request(question, limit_s, queued) for question in questions])
    return [_answer(reply, read) for reply in replies]


def _request(question: Question, limit_s: float, queued: bool) -> ModelRequest:
    judge = question.judge
    return ModelRequest(
        question.system,
        question.user,
        question.fence,
        model=judge.model,
        base_url=judge.base_url,
        api_key_env=judge.api_key_env,
        temperature=judge.temperature,
        max_tokens=judge.max_tokens,
        sample=question.sample,
        timeout_s=limit_s,
        schema=question.schema,
        more=judge.more,
        queued=queued,
    )


def _answer(reply: ModelReply | ModelFailure, read: Callable[[ModelReply], Read]) -> Answered[Read] | NoAnswer:
    if isinstance(reply, ModelFailure):
        return NoAnswer(Missing(reply.category, reply.reason), reply.spent, reply.too_long)
    try:
        return Answered(read(reply), reply.model, reply.spent)
    except Unreadable as unread:
        error = Missing("harness", f"the model's reply {unread}")
        error.__cause__ = unread
        return NoAnswer(error, reply.spent)
    except Exception as error:
        return NoAnswer(error, reply.spent)
    except Stopped:
        raise
    except SystemExit as error:
        return NoAnswer(ended_program(error), reply.spent)


def _is_unread(answer: object) -> bool:
    return isinstance(answer, NoAnswer) and isinstance(answer.error.__cause__, Unreadable)


def ended_program(error: SystemExit) -> Exception:
    """What is said of a function of the caller's own that would end the program: it ends its row alone."""
    return RuntimeError(f"it would end the program (SystemExit: {error})")


def whole_text(reply: ModelReply) -> str:
    """The text of a reply that was given whole. Raises Unreadable."""
    if reply.finish == "refused":
        raise Unreadable("is a refusal")
    if reply.finish == "length":
        raise Unreadable("was cut short")
    if not reply.text.strip():
        raise Unreadable("is empty")
    return reply.text


def object_in(reply: ModelReply) -> Mapping[str, object]:
    """The JSON object that a reply is, as a whole or as one fenced block behind nothing but thoughts.

    Raises Unreadable: an object in the midst of words may be one that the model only quotes.
    """
    text = _THOUGHT.sub("", whole_text(reply), count=1).strip()
    block = _FENCED.fullmatch(text)
    try:
        found = json.loads(block[1] if block else text, object_pairs_hook=_said_once)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is no JSON object: {shortened(text)}") from error
    if not isinstance(found, dict):
        raise Unreadable(f"is no JSON object: {shortened(text)}")
    return found


def _said_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object with these keys. Raises Unreadable for a key that stands twice: nobody knows which one is meant."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise Unreadable(f"says {shortened(key)} twice")
        found[key] = value
    return found


def shortened(text: str) -> str:
    """A text for a message: on one line, and cut when it is long."""
    line = " ".join(text.split())
    return f"`{line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + '…'}`"
