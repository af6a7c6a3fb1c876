"""The keys of endpoints: read when one is asked, from the variable that holds them, and shown to nobody."""

import json
import os

from rulebook.spec.providers import Provider

NO_KEY = "none"
"""What an endpoint is sent as its key that takes none."""

_BLOT = "…"
_SHORTEST = 8
"""What is shorter is no secret, such as `EMPTY`, and may be a word of an answer's."""


def key_of(provider: Provider) -> str:
    """The key that the endpoint is sent; empty where its variable is not set."""
    return os.environ.get(provider.api_key_env, "") if provider.api_key_env else NO_KEY


def key_fault(provider: Provider) -> str | None:
    """Why the endpoint cannot be sent its key, without the key; None where it can."""
    key, variable = key_of(provider), provider.api_key_env
    if not key:
        return f"the key of `{provider.name}` is missing: the variable `{variable}` is not set"
    if not (key.isascii() and key.isprintable() and key == key.strip()):
        # the web client refuses it too, and shows it
        holds = "blanks or a line break at its ends" if key != key.strip() else "a sign that no key has"
        return f"the key of `{provider.name}` cannot be sent: the variable `{variable}` holds {holds}"
    return None


def key_blotted(body: bytes, key: str) -> bytes:
    """What an endpoint sent, without the key that it was asked with, as it is or as JSON writes it."""
    if len(key) < _SHORTEST:
        return body
    spelt = json.dumps(key)[1:-1]
    for each in (spelt.replace("/", "\\/"), spelt, key):
        body = body.replace(each.encode("utf-8"), _BLOT.encode("utf-8"))
    return body


def key_hidden(reason: str, key: str) -> str:
    """A message of ours without the key."""
    return reason if key == NO_KEY else reason.replace(key, _BLOT)
