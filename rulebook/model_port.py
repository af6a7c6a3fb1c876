"""Language models as a small Protocol: what is asked of them, and what comes back. A part of `ports`."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Literal, Protocol

from msgspec import Struct, field

from rulebook.outcome import Category, Spent


class ModelRequest(Struct, frozen=True):
    """One question for a language model.

    `fence` is what was drawn for this call to stand around what is not ours: it is in `system` and `user`, and an
    answer is kept for every request that differs in nothing else. `model` is as the author wrote it, None the
    default; `base_url` and `api_key_env` (the name of a variable) replace a configured provider. `sample` tells the
    votes on one question, and a question asked again, from each other. `timeout_s` holds for all attempts together, and
    for the wait for its turn among others unless it is `queued`. An empty `system` is no message. `schema` is the JSON
    Schema that the answer is to fit, which an endpoint without structured outputs is not told: what the reply must be
    stands in the question too. `more` are further parameters of the request, as JSON data.
    """

    system: str
    user: str
    fence: str = ""
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int = 16_000
    sample: int = 0
    timeout_s: float = 600.0
    schema: Mapping[str, object] | None = None
    more: Mapping[str, object] = field(default_factory=dict)
    queued: bool = False


Finish = Literal["stop", "length", "refused"]
"""How an answer ended: by itself, cut short, or in the model or its provider not wanting to give it."""


class ModelReply(Struct, frozen=True):
    """What a model answered, and what that cost."""

    text: str
    model: str
    finish: Finish
    spent: Spent


class ModelFailure(Struct, frozen=True):
    """Why there is no answer, and what that cost. `too_long`: the model cannot take so much text at once."""

    category: Category
    reason: str
    spent: Spent = field(default_factory=Spent)
    too_long: bool = False


class EmbeddingRequest(Struct, frozen=True):
    """Texts whose vectors are wanted, none of them empty. The rest is as in `ModelRequest`."""

    texts: tuple[str, ...]
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    timeout_s: float = 600.0


Vector = tuple[float, ...]
"""What an embedding model makes of a text: finite numbers, as many for every text of a request."""


class Embedded(Struct, frozen=True):
    """A vector for each text of a request, in their order, or why there is none; and what they cost together."""

    vectors: Sequence[Vector | ModelFailure]
    spent: Spent


class Asking(Protocol):
    """Questions that are put one by one, while others are under way. `at_once` is how many of them may be."""

    at_once: int

    def begin(self, request: ModelRequest) -> Future[ModelReply | ModelFailure]:
        """What will be the answer. Never raises for an endpoint.

        Raises UsageError where nothing says who is to be asked, or the key is not there.
        """
        ...

    def end(self) -> None:
        """Give up whatever is under way. To be called once."""
        ...


class Models(Protocol):
    """Asking language models."""

    def ask(self, requests: Sequence[ModelRequest]) -> Sequence[ModelReply | ModelFailure]:
        """An answer for each request, in their order; they are under way together. Never raises for an endpoint."""
        ...

    def forget(self, request: ModelRequest) -> None:
        """Keep the answer to this request for no later run: nobody could read it."""
        ...

    def embed(self, request: EmbeddingRequest) -> Embedded:
        """The vectors of texts: one call for many of them, and none for a text that is known from before."""
        ...

    def asking(self, at_once: int | None = None) -> Asking:
        """A way to put questions one by one; `at_once` None: as many at a time as the configuration lets.

        Raises UsageError where the configuration cannot be read.
        """
        ...
