"""What the scorers that ask a language model are declared with beside their columns. Source: scorers, "LLM judges"."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from rulebook.api.scorer_result import json_data
from rulebook.api.secrets import EndpointGiven
from rulebook.errors import UnfitKind, UnfitOption
from rulebook.evidence.judge_answers import JudgeModel

_OURS = ("model", "messages", "response_format")
_CLIENTS = ("stream", "timeout", "extra_headers", "extra_query", "extra_body")
_MOST_TOKENS = 10_000_000


def judge_model(model: str, endpoint: EndpointGiven, completion_kwargs: object) -> JudgeModel:
    """The model with the parameters of its requests. Raises UnfitKind or UnfitOption."""
    given = parameters_given(completion_kwargs)
    tokens = [given.pop(key) for key in ("max_completion_tokens", "max_tokens") if key in given]
    most = tokens[0] if tokens else None
    if most is not None and (type(most) is not int or not 1 <= most <= _MOST_TOKENS):
        raise UnfitOption(f"`max_tokens` in `completion_kwargs` is a whole number of 1 or more; this is {most!r:.80}.")
    heat = given.pop("temperature", None)
    if heat is not None and (isinstance(heat, bool) or not isinstance(heat, int | float)):
        raise UnfitKind(f"`temperature` in `completion_kwargs` must be a number; this is {heat!r:.80}.")
    judge = JudgeModel(model, endpoint.base_url, endpoint.api_key_env, heat, more=given)
    return judge if most is None else replace(judge, max_tokens=most)


def parameters_given(completion_kwargs: object) -> dict[str, object]:
    """Further parameters of a request, as JSON data. Raises UnfitKind or UnfitOption."""
    if completion_kwargs is None:
        return {}
    if not isinstance(completion_kwargs, Mapping):
        raise UnfitKind(
            f"`completion_kwargs` is a mapping, such as {{'temperature': 0}}; this is {completion_kwargs!r:.80}."
        )
    given = json_data("completion_kwargs", completion_kwargs)
    for key in given:
        if key in _OURS:
            raise UnfitOption(f"`completion_kwargs` cannot hold `{key}`: the scorer writes it itself.")
        if key in _CLIENTS:
            raise UnfitOption(f"`completion_kwargs` holds parameters of the request; `{key}` is none.")
    return given


def text_given(key: str, value: object) -> str:
    """An option that is text. Raises UnfitKind."""
    if not isinstance(value, str):
        raise UnfitKind(f"`{key}` must be text; this is {value!r:.80}.")
    return value


def callable_given(key: str, value: object) -> Callable[..., object] | None:
    """An option that is a function, or None. Raises UnfitKind."""
    if value is not None and not callable(value):
        raise UnfitKind(f"`{key}` is a function; this is {value!r:.80}.")
    return value
