"""Where a scorer that asks a model finds its endpoint and its key. Source: scorers, "LLM judges"."""

from dataclasses import dataclass
from typing import NamedTuple

from rulebook.errors import UnfitKind, UnfitOption
from rulebook.languages.endpoints import no_address, no_variable
from rulebook.spec.providers import OPENAI


@dataclass(frozen=True)
class Secret:
    """A key by the name of the environment variable that holds it; it is read when a row is scored.

    Raises UnfitKind for a name that is no text, UnfitOption for one that is no variable's.
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise UnfitKind("A secret is named by the variable that holds it, such as Secret('OPENAI_API_KEY').")
        if no_variable(self.name):
            words = "A secret is named by the variable that holds it, such as Secret('OPENAI_API_KEY')"
            raise UnfitOption(f"{words}: this {no_variable(self.name)}.")


class EndpointGiven(NamedTuple):
    """The endpoint, and the variable that holds its key; both None: as `rulebook.toml` says."""

    base_url: str | None
    api_key_env: str | None


def endpoint_given(base_url: object, api_key: object) -> EndpointGiven:
    """What `base_url` and `api_key` say; a key alone is OpenAI's. Raises UnfitKind or UnfitOption."""
    if api_key is not None and not isinstance(api_key, Secret):
        raise UnfitKind("`api_key` is a rulebook.Secret with the name of the variable that holds the key.")
    if base_url is not None and not isinstance(base_url, str):
        raise UnfitKind(f"`base_url` must be text; this is {base_url!r:.80}.")
    if base_url is not None and no_address(base_url):
        raise UnfitOption(f"`base_url` is an address such as `http://127.0.0.1:8000/v1`: it {no_address(base_url)}.")
    if api_key is None:
        return EndpointGiven(base_url, None)
    return EndpointGiven(OPENAI.base_url if base_url is None else base_url, api_key.name)


def model_given(key: str, model: object) -> str:
    """The name of a model; an empty one is the default of `rulebook.toml`. Raises UnfitKind."""
    if not isinstance(model, str):
        raise UnfitKind(f"`{key}` must be text; this is {model!r:.80}.")
    return model
