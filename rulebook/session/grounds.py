"""What a finding rests on: the places where it was seen, and digests of what was read."""

from collections.abc import Mapping
from hashlib import sha256

from msgspec.structs import replace

from rulebook.evidence.bundle import Evidence
from rulebook.evidence.changed import written_back
from rulebook.evidence.document import Ground
from rulebook.evidence.repository import Repository
from rulebook.report.findings import Finding
from rulebook.report.judged import Audit

_DIGESTED_AT_MOST_BYTES = 16 * 1024 * 1024

_AS_A_WHOLE: dict[Ground, str] = {
    "session": "the session as a whole",
    "repository": "the repository as a whole",
    "tests": "how a command ended and what it printed",
}


def grounded(finding: Finding, evidence: Evidence, audit: Audit) -> Finding:
    """The finding with what was read for it since `forget`.

    A place in the repository gets the file's digest and the base commit, against which it was seen.
    """
    read: dict[str, object] = {}
    if "session" in evidence.read and evidence.record is not None:
        read["session"] = {"sha256": evidence.record.sha256 or audit.sha256}
    if "repository" in evidence.read and evidence.tree is not None:
        read["repository"] = _of_tree(evidence.tree)
    if "tests" in evidence.read:
        read["tests"] = True
    at = tuple(_digested(place, evidence.tree) if "path" in place else place for place in finding.at)
    return replace(finding, at=at, read=read, no_place="" if at else _why_nowhere(finding, evidence))


def forget(evidence: Evidence) -> None:
    """Begin anew to note what is read."""
    evidence.read.clear()
    if evidence.tree is not None:
        evidence.tree.digests.clear()


def _of_tree(tree: Repository) -> Mapping[str, object]:
    files = {path: digest for path, digest in sorted(tree.digests.items()) if path}
    return {
        "source": tree.origin,
        "base_commit": tree.base,
        "changes_sha256": tree.digests.get(""),
        "files_sha256": files,
    }


def _why_nowhere(finding: Finding, evidence: Evidence) -> str:
    if finding.status == "skipped":
        return "it was not evaluated"
    if finding.status == "unmeasured":
        return "it could not be measured"
    wholes = [words for ground, words in _AS_A_WHOLE.items() if ground in evidence.read]
    return f"it rests on {' and '.join(wholes)}, not on one place" if wholes else "it reads no evidence"


def _digested(place: Mapping[str, object], tree: Repository | None) -> Mapping[str, object]:
    if tree is None:
        return place
    path = str(place["path"])
    found = {**place, "commit": tree.base} if tree.base is not None else dict(place)
    try:
        stands = tree.files.within(tree.root, path) is not None
        data = tree.files.read_within(tree.root, path if stands else written_back(path), _DIGESTED_AT_MOST_BYTES)
    except OSError:
        return found
    return found if len(data) > _DIGESTED_AT_MOST_BYTES else {**found, "sha256": sha256(data).hexdigest()}
