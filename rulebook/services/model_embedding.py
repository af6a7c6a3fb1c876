"""Vectors of many texts: those that are kept first, then a request for every so many of the others."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from rulebook.errors import UsageError
from rulebook.model_port import Embedded, EmbeddingRequest, ModelFailure, ModelReply, Vector
from rulebook.outcome import Spent, spent_in_all
from rulebook.services.model_cache import text_digest, vector_in, vector_text
from rulebook.services.model_desk import ModelDesk
from rulebook.spec.providers import Chosen

MOST_TEXTS = 64
"""In one request: vectors of 3,072 numbers for that many take 4 MB as JSON, and an answer may have 8."""

MOST_CHARACTERS = 200_000
"""In one request of several texts: endpoints take so many tokens together, and OpenAI's 300,000."""

Found = Vector | ModelFailure


def embedded(request: EmbeddingRequest, desk: ModelDesk) -> Embedded:
    """A vector for each text. A text that stands twice is sent once; one that is too long fails alone."""
    try:
        chosen = desk.providers.chosen(request.model, request.base_url, request.api_key_env)
        if chosen.provider.kind == "scripted":
            return _scripted(request, chosen, desk)
    except UsageError as error:
        return _none(request, ModelFailure("harness", str(error)))
    texts = tuple(dict.fromkeys(request.texts))
    found, spent = _kept(texts, chosen, desk)
    waiting = [text for text in texts if text not in found]
    fresh, costs = _asked(request, chosen, list(_parcels(waiting)), desk)
    found |= fresh
    return Embedded([found[text] for text in request.texts], spent_in_all([spent, *costs]))


def _none(request: EmbeddingRequest, failure: ModelFailure) -> Embedded:
    return Embedded([failure] * len(request.texts), Spent())


def _scripted(request: EmbeddingRequest, chosen: Chosen, desk: ModelDesk) -> Embedded:
    refusal = desk.budget.refusal(chosen)
    if refusal is not None:
        return _none(request, ModelFailure("budget", refusal))
    script = desk.script(chosen)
    return Embedded([script.vector(text) for text in request.texts], Spent(calls=1))


def _kept(texts: Sequence[str], chosen: Chosen, desk: ModelDesk) -> tuple[dict[str, Found], Spent]:
    found: dict[str, Found] = {}
    for text in texts:
        kept = desk.cache.find(text_digest(text, chosen)) if desk.cache else None
        vector = vector_in(kept.text) if kept is not None else None
        if vector is not None:
            found[text] = vector
    return found, Spent(cached=len(found))


def _parcels(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The texts in their order, so many together as one request takes."""
    parcel: list[str] = []
    size = 0
    for text in texts:
        if parcel and (len(parcel) == MOST_TEXTS or size + len(text) > MOST_CHARACTERS):
            yield tuple(parcel)
            parcel, size = [], 0
        parcel.append(text)
        size += len(text)
    if parcel:
        yield tuple(parcel)


def _asked(
    request: EmbeddingRequest, chosen: Chosen, parcels: list[tuple[str, ...]], desk: ModelDesk
) -> tuple[Mapping[str, Found], list[Spent]]:
    """The vectors of the texts in all parcels; one that is too long for the model is asked for again in halves."""
    found: dict[str, Found] = {}
    spent: list[Spent] = []
    while parcels:
        calls = [(replace(request, texts=parcel), chosen) for parcel in parcels]
        again: list[tuple[str, ...]] = []
        keep = partial(_keep, desk, chosen, parcels)
        for parcel, answer in zip(parcels, desk.online().embed(calls, keep), strict=True):
            spent.append(answer.spent)
            if not isinstance(answer, ModelFailure):
                found |= zip(parcel, answer.vectors, strict=True)
            elif answer.too_long and len(parcel) > 1:
                middle = len(parcel) // 2
                again += [parcel[:middle], parcel[middle:]]
            else:
                found |= dict.fromkeys(parcel, answer)
        parcels = again
    return found, spent


def _keep(desk: ModelDesk, chosen: Chosen, parcels: Sequence[tuple[str, ...]], place: int, answer: Embedded) -> None:
    for text, vector in zip(parcels[place], answer.vectors, strict=True):
        if desk.cache and not isinstance(vector, ModelFailure):
            kept = ModelReply(vector_text(vector), chosen.model, "stop", Spent())
            desk.cache.keep(text_digest(text, chosen), kept)
