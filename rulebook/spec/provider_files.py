"""`rulebook.toml`: where it is looked for, and what stands in it, with the line of every mistake."""

import os
import re
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.languages.endpoints import no_address, no_variable
from rulebook.languages.faults import LanguageError
from rulebook.languages.fields import read_duration
from rulebook.languages.values import money_in
from rulebook.ports import Files
from rulebook.spec.providers import Price, Provider, Providers
from rulebook.spec.toml_places import line_of, read_fault
from rulebook.spelling import guess, listed

NAME = "rulebook.toml"
_MAX_BYTES = 1024 * 1024
_LONGEST_S = 86_400.0
_MOST_MONEY = 1e9
_KINDS = ("openai-compatible", "scripted")
_TOP = ("models", "providers")
_MODELS = ("model", "provider", "concurrency", "timeout", "max_calls", "max_cost", "cache")
_KEYS = ("api_key", "key", "token", "secret", "password")
_PROVIDER = ("name", "kind", "base_url", "api_key_env", "models", "prices", "currency", "answers")


def config_files(folder: str, files: Files) -> tuple[str, ...]:
    """The configuration that holds for rule files in `folder`: the user's, then the project's, as far as they exist.

    The project's is the first one upward. It is looked for from the rules, which are their author's, and never from the
    repository under evaluation: a student who could name the endpoint would be its own judge.
    """
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    users = os.path.join(settings, "rulebook", NAME)
    found = [users] if files.stands(users, folder=False) else []
    here = os.path.abspath(folder)
    while True:
        own = os.path.join(here, NAME)
        if files.stands(own, folder=False):
            return (*found, own) if own not in found else tuple(found)
        if os.path.dirname(here) == here:
            return tuple(found)
        here = os.path.dirname(here)


def read_providers(paths: Collection[str], files: Files) -> Providers:
    """What these files say together, the later ones over the earlier. Raises UsageError with file and line."""
    models: dict[str, Any] = {}
    by_name: dict[str, Provider] = {}
    for path in paths:
        said, providers = _read(path, files)
        models |= said
        by_name |= providers
    return Providers(by_name=by_name, **models)


def _read(path: str, files: Files) -> tuple[dict[str, Any], dict[str, Provider]]:
    import tomllib  # only a file whose rules ask a model pays for it

    try:
        raw = files.read(path, _MAX_BYTES)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror or 'the machine refuses'}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{path}` is not saved as UTF-8.") from error
    if len(raw) > _MAX_BYTES:
        raise UsageError(f"`{path}` is larger than 1 MiB.")
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise UsageError(f"`{path}` is nested too deep.") from error
    except tomllib.TOMLDecodeError as error:
        what, line = read_fault(str(error), text)
        raise UsageError(f"`{path}` line {line}: this is not TOML: {what}.") from error
    except ValueError as error:  # TOML's integers have no end, and Python's reader has one
        raise UsageError(f"`{path}` holds a number of more digits than can be read.") from error
    return _File(path, text).read(data)


class _File(Struct, frozen=True):
    """One configuration file, for saying where in it something is wrong."""

    path: str
    text: str

    def read(self, data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Provider]]:
        """The values of `[models]`, and the providers by name."""
        self._only(data, _TOP, "the file", "")
        models = self._typed(data, "models", dict, "a table, `[models]`", "")
        listed_providers = self._typed(data, "providers", list, "a list of tables, `[[providers]]`", "")
        found: dict[str, Provider] = {}
        for index, raw in enumerate(listed_providers or ()):
            if not isinstance(raw, dict):
                raise self._wrong("`providers` must be a list of tables, `[[providers]]`.", "", "providers")
            provider = self._provider(raw, index)
            if provider.name in found:
                raise self._wrong(f"two providers are called `{provider.name}`.", "providers", "name", index)
            found[provider.name] = provider
        return self._models(models or {}), found

    def _models(self, raw: dict[str, Any]) -> dict[str, Any]:
        self._only(raw, _MODELS, "`[models]`", "models")
        values: dict[str, Any] = {
            "model": self._text(raw, "model", "models"),
            "provider": self._text(raw, "provider", "models"),
            "concurrency": self._count(raw, "concurrency"),
            "max_calls": self._count(raw, "max_calls"),
            "cache": self._typed(raw, "cache", bool, "`true` or `false`", "models"),
        }
        timeout, cost = self._text(raw, "timeout", "models"), self._text(raw, "max_cost", "models")
        if timeout is not None:
            seconds = _seconds(timeout)
            if seconds is None:
                raise self._wrong("`timeout` must be a time such as `120s`, a day at most.", "models", "timeout")
            values["timeout_s"] = seconds
        if cost is not None:
            money = money_in(cost)
            if money is None or float(money[0]) >= _MOST_MONEY:
                raise self._wrong("`max_cost` must be an amount such as `5 USD`.", "models", "max_cost")
            values |= {"max_cost": float(money[0]), "cost_currency": money[1]}
        return {key: value for key, value in values.items() if value is not None}

    def _provider(self, raw: dict[str, Any], index: int) -> Provider:
        for each in _KEYS:
            if each in raw:
                words = f'`{each}`: a key does not belong into a file. Write `api_key_env = "LOCAL_KEY"`, the name of'
                raise self._wrong(f"{words} the variable that holds it.", "providers", each, index)
        self._only(raw, _PROVIDER, "a provider", "providers", index)
        name = self._text(raw, "name", "providers", index)
        if name is None or "/" in name:
            words = "a provider needs a `name`" if name is None else "a provider's `name` has no `/`"
            raise self._wrong(f"{words}, such as `local`.", "providers", "name", index)
        kind = self._text(raw, "kind", "providers", index) or "openai-compatible"
        if kind not in _KINDS:
            near = guess(kind, _KINDS, list_up_to=0)
            words = f"`{kind}` isn't one of the choices for `kind`: {listed(_KINDS)}.{near}"
            raise self._wrong(words, "providers", "kind", index)
        base_url, answers = (self._text(raw, key, "providers", index) for key in ("base_url", "answers"))
        idle = ("answers",) if kind != "scripted" else ("base_url", "api_key_env", "prices", "currency")
        for each in idle:
            if each in raw:
                raise self._wrong(f"`{each}` has no effect in a provider of kind `{kind}`.", "providers", each, index)
        if kind == "scripted":
            path = None if answers is None else os.path.join(os.path.dirname(self.path), answers)
            return Provider(name, "scripted", aliases=self._aliases(raw, index), answers=path)
        why = "is missing" if base_url is None else no_address(base_url)
        if base_url is None or why:
            words = f"the provider `{name}` needs a `base_url` such as `http://127.0.0.1:8000/v1`: it {why}."
            raise self._wrong(words, "providers", "base_url", index)
        currency = self._text(raw, "currency", "providers", index) or "USD"
        if not re.fullmatch(r"[A-Z]{3}", currency):
            raise self._wrong("`currency` must be three capital letters such as `USD`.", "providers", "currency", index)
        key = self._text(raw, "api_key_env", "providers", index)
        if key is not None and no_variable(key):
            words = "`api_key_env` is the name of the variable that holds the key, such as `LOCAL_KEY`"
            raise self._wrong(f"{words}: it {no_variable(key)}.", "providers", "api_key_env", index)
        aliases, prices = self._aliases(raw, index), self._prices(raw, index)
        return Provider(name, "openai-compatible", base_url, key, aliases, prices, currency)

    def _aliases(self, raw: dict[str, Any], index: int) -> Mapping[str, str]:
        table = self._typed(raw, "models", dict, "a table of names", "providers", index) or {}
        if not all(isinstance(model, str) and model for model in table.values()):
            words = '`models` gives each name the model\'s own: `{judge = "qwen3-32b"}`.'
            raise self._wrong(words, "providers", "models", index)
        return table

    def _prices(self, raw: dict[str, Any], index: int) -> Mapping[str, Price]:
        table = self._typed(raw, "prices", dict, "a table of prices", "providers", index) or {}
        found = {}
        for model, price in table.items():
            parts = price if isinstance(price, dict) else {}
            amounts = [_amount(parts.get(side)) for side in ("input", "output")]
            if set(parts) != {"input", "output"} or None in amounts:
                words = f"the price of `{model}` is `{{input = 0.1, output = 0.4}}`, for a million tokens."
                raise self._wrong(words, "providers", "prices", index)
            found[model] = Price(amounts[0] or 0.0, amounts[1] or 0.0)
        return found

    def _text(self, raw: dict[str, Any], key: str, table: str, index: int = 0) -> str | None:
        value: str | None = self._typed(raw, key, str, "text in quotes", table, index)
        if value == "":
            raise self._wrong(f"`{key}` is empty.", table, key, index)
        if value is not None and not value.isprintable():
            raise self._wrong(f"`{key}` holds a sign that cannot be printed.", table, key, index)
        return value

    def _count(self, raw: dict[str, Any], key: str) -> int | None:
        value: int | None = self._typed(raw, key, int, "a whole number", "models")
        if value is not None and (isinstance(value, bool) or not 1 <= value <= 1_000_000):
            raise self._wrong(f"`{key}` must be a whole number from 1 to 1,000,000.", "models", key)
        return value

    def _typed(self, raw: dict[str, Any], key: str, kind: type, wanted: str, table: str, index: int = 0) -> Any:
        value = raw.get(key)
        if value is not None and not isinstance(value, kind):
            raise self._wrong(f"`{key}` must be {wanted}.", table, key, index)
        return value

    def _only(self, raw: dict[str, Any], known: tuple[str, ...], thing: str, table: str, index: int = 0) -> None:
        for key in raw:
            if key not in known:
                raise self._wrong(f"I don't know `{key}` in {thing}.{guess(key, known)}", table, key, index)

    def _wrong(self, words: str, table: str, key: str, index: int = 0) -> UsageError:
        return UsageError(f"`{self.path}` line {line_of(self.text, table, key, index)}: {words}")


def _seconds(text: str) -> float | None:
    try:
        seconds = read_duration(text)
    except LanguageError:
        return None
    return seconds if seconds <= _LONGEST_S else None


def _amount(value: object) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) if number and isinstance(value, int | float) else None
