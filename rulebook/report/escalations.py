"""What other bounds would make of a judge that asks a second model where the first is unsure, from one run of it."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from rulebook.evidence.ballots import VOTES
from rulebook.evidence.label_texts import normal_label
from rulebook.evidence.row_labels import RowLabel
from rulebook.report.agreement import Share, share_of

BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The confidences that are looked at, beside the judge's own."""


class Escalation(Struct, frozen=True):
    """With this bound, how many rows go on to the second model, and how many then agree with their label.

    `agreement` None: rows would go on about which the second model was never asked.
    """

    below: float
    share: Share
    agreement: Share | None


Graded = tuple[float, str]
"""A grade: its score and the label that was chosen."""


def escalations(
    rows: Sequence[tuple[RowLabel, float, Mapping[str, object]]],
    own_bound: float,
    agrees: Callable[[RowLabel, Graded], bool],
) -> tuple[Escalation, ...]:
    """One for each of `BOUNDS` and for `own_bound`, from low to high; none where a row does not say how sure it was.

    Each row has its label, the score that stands, and the score's metadata. Where several votes make a score nothing is
    said: each of them went on by itself.
    """
    told = [(label, _both(score, metadata)) for label, score, metadata in rows]
    known = [(label, each) for label, each in told if each is not None]
    if not known or len(known) < len(told):
        return ()
    found = []
    for bound in sorted({*BOUNDS, own_bound}):
        goes_on = [confidence < bound for _, (confidence, _, _) in known]
        right = sum(
            agrees(label, stands if on else first)
            for on, (label, (_, first, stands)) in zip(goes_on, known, strict=True)
        )
        agreement = share_of(right, len(known)) if bound <= own_bound else None
        found.append(Escalation(bound, share_of(sum(goes_on), len(known)), agreement))
    return tuple(found)


def _both(score: float, metadata: Mapping[str, object]) -> tuple[float, Graded, Graded] | None:
    """The first model's confidence, its grade, and that which stands; None where the metadata has not got them."""
    confidence, choice = metadata.get("primary_confidence"), metadata.get("choice")
    if not isinstance(confidence, float | int) or not isinstance(choice, str) or VOTES in metadata:
        return None
    stands = (score, normal_label(choice))
    if not metadata.get("escalated"):
        return float(confidence), stands, stands
    first, first_choice = metadata.get("primary_score"), metadata.get("primary_choice")
    if not isinstance(first_choice, str):
        return None
    # what the first model chose may be none of the labels: then it had no confidence in it, and every bound goes on
    first_score = float(first) if isinstance(first, float | int) else -1.0
    return float(confidence), (first_score, normal_label(first_choice)), stands
