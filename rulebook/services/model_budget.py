"""What one run may spend on models, kept by whoever is about to ask one."""

import threading

from rulebook.model_port import EmbeddingRequest, ModelRequest
from rulebook.outcome import Spent, total
from rulebook.spec.providers import Chosen, Providers

_ADDED_UP_AT = 1_000
"""So many costs are added up into one: before each call all of them are, and there may be a million calls."""


class ModelBudget:
    """Counts calls and money against `max_calls` and `max_cost`; safe to share between threads.

    Calls that are under way when the money is used up are not ended, so that it may be passed by what they cost.
    """

    def __init__(self, providers: Providers) -> None:
        self._providers = providers
        self._calls = 0
        self._costs: list[float] = []
        self._turn = threading.Lock()

    def refusal(self, chosen: Chosen) -> str | None:
        """Why one call more may not be made; None, and the call is counted, when it may."""
        limits = self._providers
        with self._turn:
            if limits.max_calls is not None and self._calls >= limits.max_calls:
                return f"the run's {limits.max_calls} calls of models are used up (`max_calls` in `rulebook.toml`)"
            if limits.max_cost is not None and chosen.provider.kind != "scripted":
                known = chosen.model in chosen.provider.prices and chosen.provider.currency == limits.cost_currency
                if not known:
                    what = f"the price of `{chosen.model}` in {limits.cost_currency} is not known"
                    return f"{what}, so that `max_cost` in `rulebook.toml` could not be kept"
                if total(self._costs) >= limits.max_cost:
                    amount = f"{limits.max_cost:g} {limits.cost_currency}"
                    return f"the run's {amount} for models are used up (`max_cost` in `rulebook.toml`)"
            self._calls += 1
            return None

    def paid(self, spent: Spent, chosen: Chosen, request: ModelRequest | EmbeddingRequest) -> None:
        """Count what a call came to; one that does not say its tokens, as the most that it can have come to."""
        known = spent.costs.get(self._providers.cost_currency, 0.0)
        with self._turn:
            self._costs.append(known + spent.uncounted * _most(chosen, request))
            if len(self._costs) >= _ADDED_UP_AT:
                self._costs = [total(self._costs)]


def _most(chosen: Chosen, request: ModelRequest | EmbeddingRequest) -> float:
    """What the request can cost at most, as far as its price is known: no token is shorter than a byte."""
    price = chosen.provider.prices.get(chosen.model)
    if price is None:
        return 0.0
    if isinstance(request, EmbeddingRequest):
        return _bytes("".join(request.texts)) * price.input / 1_000_000
    return (_bytes(request.system + request.user) * price.input + request.max_tokens * price.output) / 1_000_000


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
