"""Who answers for models: the providers of `rulebook.toml`, and which of them a rule's `model` means."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from rulebook.errors import UsageError
from rulebook.spelling import guess, listed

ProviderKind = Literal["openai-compatible", "scripted"]


class Price(Struct, frozen=True):
    """What a million tokens cost, those read and those written."""

    input: float
    output: float


class Provider(Struct, frozen=True):
    """An endpoint, or a file of answers.

    `api_key_env` names the variable that holds its key, None where it takes none. `aliases` are names of the author's
    own for its models, `prices` go by the model's real name and are in `currency`. `answers` is the path of a scripted
    provider's file, None where it has none.
    """

    name: str
    kind: ProviderKind = "openai-compatible"
    base_url: str = ""
    api_key_env: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)
    currency: str = "USD"
    answers: str | None = None


class Chosen(Struct, frozen=True):
    """The provider that is asked, and what it calls the model."""

    provider: Provider
    model: str


OPENAI = Provider("openai", base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY")
"""Known without being configured; a provider of that name replaces it."""

HOW_TO_NAME = 'Write `model:` in the rule, or `model = "…"` under `[models]` in `rulebook.toml`.'


class Providers(Struct, frozen=True):
    """What `rulebook.toml` says, the user's below the project's.

    `model` and `provider` are the defaults. At most `concurrency` calls are under way at once, each for at most
    `timeout_s`. `max_calls` and `max_cost` (in `cost_currency`) end a run's asking; None: no limit. `cache` says
    whether answers are kept.
    """

    by_name: Mapping[str, Provider] = field(default_factory=dict)
    model: str | None = None
    provider: str | None = None
    concurrency: int = 32
    timeout_s: float = 120.0
    max_calls: int | None = None
    max_cost: float | None = None
    cost_currency: str = "USD"
    cache: bool = True

    def chosen(self, model: str | None, base_url: str | None, api_key_env: str | None) -> Chosen:
        """Who answers for a model as a rule names it.

        Raises UsageError where no model or no provider is named, and for a name that several providers bear.
        """
        wanted = model or self.model
        if not wanted:
            raise UsageError(f"no model is named. {HOW_TO_NAME}")
        if base_url is not None:
            return Chosen(Provider(base_url, base_url=base_url, api_key_env=api_key_env), wanted)
        found = self._found(wanted)
        if api_key_env is None:
            return found
        return Chosen(replace(found.provider, api_key_env=api_key_env), found.model)

    def _found(self, wanted: str) -> Chosen:
        known = {OPENAI.name: OPENAI, **self.by_name}
        name, slash, rest = wanted.partition("/")
        # a gateway calls its models by their makers, `openai/gpt-5`: who has given it that name is meant
        if slash and rest and name in known and not any(wanted in each.aliases for each in self.by_name.values()):
            return Chosen(known[name], known[name].aliases.get(rest, rest))
        default = self._default(known)
        if default is not None and wanted in default.aliases:
            return Chosen(default, default.aliases[wanted])
        bearers = [provider for provider in self.by_name.values() if wanted in provider.aliases]
        if len(bearers) > 1:
            names = listed([f"{provider.name}/{wanted}" for provider in bearers])
            raise UsageError(f"several providers have a model `{wanted}`. Say which: {names}.")
        if bearers:
            return Chosen(bearers[0], bearers[0].aliases[wanted])
        if default is None:
            example = f"`{next(iter(known))}/{wanted}`"
            raise UsageError(f"nothing says which provider has the model `{wanted}`. Write it like {example}.")
        return Chosen(default, wanted)

    def _default(self, known: Mapping[str, Provider]) -> Provider | None:
        """The default provider: the one that is named, or the only one there is."""
        if self.provider is None:
            return next(iter(self.by_name.values())) if len(self.by_name) == 1 else None
        if self.provider not in known:
            hint = guess(self.provider, known)
            raise UsageError(f"`rulebook.toml` has no provider called `{self.provider}`.{hint}")
        return known[self.provider]
