"""Whether two names mean one model."""

import re


def same_model(one: str, other: str) -> bool:
    """Whether they do as far as names tell: whoever provides it, and whichever dated version of it that is."""
    return _bare(one) == _bare(other)


def _bare(name: str) -> str:
    own = name.rpartition("/")[2].lower().removesuffix(":latest")
    return re.sub(r"-(\d{8}|\d{4}-\d{2}-\d{2})$", "", own)
