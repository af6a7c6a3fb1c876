"""The built-in scorer whose grade is an answer of a model's. Source: scorers, "LLM judges"."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rulebook.api.answer_model import AnswerModel
from rulebook.api.column_pieces import pieces_of
from rulebook.api.model_options import callable_given, judge_model, text_given
from rulebook.api.model_panel import panel_given
from rulebook.api.model_scorer import Grade, Graded, ModelScorer, Values, model_scorer
from rulebook.api.own_machine import own_ports
from rulebook.api.scorer_options import columns_read
from rulebook.api.secrets import Secret, endpoint_given
from rulebook.errors import Stopped, UnfitKind
from rulebook.evidence.ballots import Ask
from rulebook.evidence.fencing import fence_for
from rulebook.evidence.judge_answers import (
    Answered,
    JudgeModel,
    NoAnswer,
    Question,
    answers_to,
    ended_program,
    object_in,
    whole_text,
)
from rulebook.evidence.judge_question import answer_in_json, fenced, strict_schema
from rulebook.model_port import ModelReply

Written = Callable[..., object]


def llm_judge(
    response_model: type[Any],
    *,
    model: str | None = None,
    name: str | None = None,
    instructions: str = "",
    inputs: Iterable[str] = ("output",),
    prompt_fn: Written | None = None,
    parse_fn: Written | None = None,
    base_url: str | None = None,
    api_key: Secret | None = None,
    completion_kwargs: Mapping[str, object] | None = None,
    judges: Sequence[str] | None = None,
    votes: int = 1,
    vote: str = "mean",
    borderline: tuple[float, float] | None = None,
    max_votes: int | None = None,
    **keywords: object,
) -> ModelScorer:
    """A model grades each row by answering in the shape of `response_model`, a pydantic model of version 1 or 2.

    Its field `score`, 0..1, is the score and all others are metadata. Without a `name` the scorer bears the class's in
    kebab case. Columns are fenced, and a null is said to be missing. `prompt_fn(response_model, **columns)` writes the
    question instead; `parse_fn(text)` reads the reply, which is then asked for in plain text, into an instance or a
    mapping. `completion_kwargs` go with every request. The endpoint is `base_url` with the key that `api_key` names
    (alone it means OpenAI), else the default provider of `rulebook.toml`. A reply that does not fit fails its row.

    `judges` are several models in place of `model`, each is asked `votes` times, and their scores become one by `vote`:
    `majority`, `mean` or `median`. Where that lies in `borderline`, low and high, as many are asked again until it does
    not, or `max_votes` are given.
    """
    answer = AnswerModel(response_model)
    columns = columns_read(inputs, None, "llm_judge")
    names, voting = panel_given(model, judges, votes, vote, borderline, max_votes)
    endpoint = endpoint_given(base_url, api_key)
    asked = _Asked(
        answer,
        [judge_model(each, endpoint, completion_kwargs) for each in names],
        text_given("instructions", instructions),
        callable_given("prompt_fn", prompt_fn),
        callable_given("parse_fn", parse_fn),
    )
    given = {
        "response_model": response_model, "model": model, "instructions": instructions, "prompt_fn": prompt_fn,
        "parse_fn": parse_fn, "base_url": base_url, "api_key": api_key, "completion_kwargs": completion_kwargs,
        "judges": judges, "votes": votes, "vote": vote, "borderline": borderline, "max_votes": max_votes,
    }  # fmt: skip
    named = answer.name() if name in (None, "") else name
    return model_scorer("llm_judge", asked.over, None, columns, named, given, keywords, voting, reads_session=True)


class _Asked:
    """What a judge asks of a row, and what it makes of the reply."""

    def __init__(
        self,
        answer: AnswerModel,
        judges: Sequence[JudgeModel],
        instructions: str,
        write: Written | None,
        parse: Written | None,
    ) -> None:
        self.answer, self.judges, self.instructions = answer, judges, instructions
        self.write, self.parse = write, parse
        self.wanted = answer.schema()
        self.schema = None if parse else strict_schema(self.wanted)

    def over(self, columns: tuple[str, ...]) -> Grade:
        """The grades of rows of these columns."""

        def graded(rows: Sequence[tuple[Values, Ask]]) -> list[Graded | Exception]:
            asked = [self._question_or_error(columns, row, ask) for row, ask in rows]
            questions = [each for each in asked if isinstance(each, Question)]
            answers = iter(answers_to(questions, own_ports().models, self._read, queued=True))
            return [each if isinstance(each, Exception) else _told(next(answers)) for each in asked]

        return graded

    def _question_or_error(self, columns: tuple[str, ...], row: Values, ask: Ask) -> Question | Exception:
        try:
            return self._question(columns, row, ask)
        except Exception as error:  # the caller's own function fails its row and no other
            return error
        except Stopped:
            raise
        except SystemExit as error:
            return ended_program(error)

    def _question(self, columns: tuple[str, ...], row: Values, ask: Ask) -> Question:
        judge = self.judges[ask.judge]
        if self.write is not None:
            text = self.write(self.answer.model, **dict(zip(columns, row, strict=True)))
            if not isinstance(text, str):
                raise UnfitKind(f"`prompt_fn` must return text; this is {text!r:.80}.")
            return Question(judge, self.instructions, text, schema=self.schema, sample=ask.sample)
        pieces = pieces_of(columns, row)
        shape = answer_in_json(self.wanted)
        fence = fence_for(own_ports().chance.token, "".join(text or "" for _, text in pieces) + shape)
        user = f"{fenced(pieces, fence)}\n\n{shape}"
        return Question(judge, self.instructions, user, fence, self.schema, ask.sample)

    def _read(self, reply: ModelReply) -> Graded:
        if self.parse is None:
            return self.answer.graded(self.answer.read(object_in(reply)))
        text = whole_text(reply) if reply.text.strip() or reply.finish != "stop" else ""
        return self.answer.graded(self.answer.read(self.parse(text)))


def _told(answer: Answered[Graded] | NoAnswer) -> Graded | Exception:
    return answer.error if isinstance(answer, NoAnswer) else answer.value
