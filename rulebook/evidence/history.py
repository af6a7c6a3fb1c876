"""What a repository holds beside the base commit's history, the session's own commits left aside."""

from collections.abc import Sequence

from msgspec import Struct

from rulebook.errors import Missing
from rulebook.evidence.record import Record
from rulebook.evidence.repository import Repository
from rulebook.ports import Leftover


class _Lasted(Struct, frozen=True):
    """From when to when a session lasted, in whole seconds since 1970, as git counts."""

    first: int
    last: int


def strange_history(repository: Repository, record: Record | None) -> Sequence[Leftover]:
    """What was not made by the session and is not in the base commit's history: there to be copied from.

    What the session itself committed or staged is known by its time: within the session, as the log tells it.
    Raises Missing in `fixture` when git cannot tell, or when it stays open who made what is there.
    """
    lasted = _lasted(record)
    parked = _parked(repository, record)
    beside = repository.commits_beside()
    strange, own = list[Leftover](), list[Leftover]()
    for left in beside:
        made = _within(left, lasted) or left.name in parked or not parked.isdisjoint(left.refs)
        (own if made else strange).append(left)
    return strange or _loose(repository, record, lasted, [left.name for left in own if left.kind == "commit"])


def _loose(
    repository: Repository, record: Record | None, lasted: _Lasted | None, own: Sequence[str]
) -> Sequence[Leftover]:
    """Files and folders that belong to no commit: staged once, or what was left when history was cut away."""
    found = [left for left in repository.objects_beside(own) if not _within(left, lasted)]
    early = [left for left in found if record is None or _before(left, lasted)]
    if found and not early:
        many = f"{len(found)} objects belong" if len(found) > 1 else "1 object belongs"
        raise Missing("fixture", f"{many} to no commit, and whether the session made them cannot be told")
    return early


def _lasted(record: Record | None) -> _Lasted | None:
    if record is None or "time" not in record.carries or record.first_ms is None or record.last_ms is None:
        return None
    return _Lasted(record.first_ms // 1000, record.last_ms // 1000)


def _within(left: Leftover, lasted: _Lasted | None) -> bool:
    return lasted is not None and left.made_s is not None and lasted.first <= left.made_s <= lasted.last


def _before(left: Leftover, lasted: _Lasted | None) -> bool:
    return lasted is not None and left.made_s is not None and left.made_s < lasted.first


def _parked(repository: Repository, record: Record | None) -> frozenset[str]:
    """Under what the harness left the session's result, which it commits once the session is over."""
    head = {repository.head()} if repository.origin == "session ref" else set()
    ref = {f"refs/chock/{record.session_id}"} if record is not None and record.session_id else set()
    return frozenset(head | ref)
