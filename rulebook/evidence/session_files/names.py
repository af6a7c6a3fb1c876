"""Names of the sessions in a file that holds several."""

from collections.abc import Iterable

_LONGEST = 200


def distinct(names: Iterable[str]) -> list[str]:
    """The names in their order, cut where they are endless; one that is used again gets `~2`, `~3`, …"""
    taken: dict[str, int] = {}
    given: list[str] = []
    for whole in names:
        name = plain = whole[:_LONGEST] or "session"
        while name in taken:
            taken[plain] = taken.get(plain, 1) + 1
            name = f"{plain}~{taken[plain]}"
        taken.setdefault(name, 1)
        given.append(name)
    return given
