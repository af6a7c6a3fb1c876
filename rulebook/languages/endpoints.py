"""Where a model is asked, as authors write it: an endpoint's address, and the variable that holds its key."""

import re

_LIKE_A_KEY = 16
"""From this length on, a word of small letters and digits or capitals is taken for a key: `gsk_4fT9…`."""


def no_address(text: str) -> str:
    """Why a text is no address of an endpoint, to stand behind "it"; empty when it is one."""
    from urllib.parse import urlsplit  # only a rule that names an endpoint pays for it

    if not text.isprintable() or " " in text:
        return "holds a blank or a sign that cannot be printed"
    try:
        parts = urlsplit(text)
        there = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        there = False
    if not there:
        return "is no address"
    if "@" in parts.netloc:
        return "holds a name or a password, which would be shown in reports; a key is named by `api_key_env`"
    if parts.query or parts.fragment or text.endswith(("?", "#")):
        return "goes on behind its path, where a key would be shown in reports"
    return ""


def no_variable(text: str) -> str:
    """Why a text is no name of a variable, to stand behind "it"; empty when it is one. A key is never one."""
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,99}", text):
        return "is no name of a variable"
    words = (word for word in text.split("_") if len(word) >= _LIKE_A_KEY)
    like_a_key = any(re.search("[a-z]", word) and re.search("[0-9A-Z]", word) for word in words)
    return "looks like the key itself" if like_a_key else ""


def masked(text: str) -> str:
    """What may be shown of a text that may be, or hold, a key."""
    return text if len(text) <= 8 and text.isprintable() else "".join(c for c in text[:4] if c.isprintable()) + "…"
