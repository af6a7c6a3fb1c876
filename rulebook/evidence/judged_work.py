"""One piece of work before its judges: how much of it they are shown, how often they are asked, what that cost."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.ballots import VOTES, Ask, Ballot, Voting, polled
from rulebook.evidence.fencing import SMALLEST_WINDOW, about_material, window_of
from rulebook.outcome import Spent, Unmeasured, spent_in_all

CONTEXT, OWN_MODEL = "judge-context", "judge-own-model"
"""Keys of the metadata that no field of an answer can be: a name has no hyphen."""


class Cast(Struct, frozen=True):
    """One grade or why there is none, and what that cost. `too_long`: the model cannot take so much text at once."""

    ballot: Ballot | Exception
    spent: Spent
    too_long: bool = False


class Judged(Struct, frozen=True):
    """The joint grade, with what was shown told in its metadata, and what all of it cost."""

    ballot: Ballot
    spent: Spent


def judged_work(
    material: str,
    voting: Voting,
    cast: Callable[[str, Sequence[Ask]], Sequence[Cast]],
    most_characters: int,
    overflow: Literal["cut", "unmeasured"] = "cut",
) -> Judged | Unmeasured:
    """The joint grade of the material, or why there is none, with what was found before.

    `cast` asks about what is shown, once for each asking. Of more than `most_characters`, or more than a model takes,
    the beginning and the end are shown; `overflow` `unmeasured`: it is not judged at all. Raises NotHandedIn when there
    is nothing to judge.
    """
    if not material.strip():
        raise NotHandedIn("there is nothing to judge", cause="absent")
    if overflow == "unmeasured" and len(material) > most_characters:
        reason = f"the material has {len(material)} characters; at most {most_characters} are shown to the model"
        return Unmeasured("harness", reason, metadata={CONTEXT: about_material(material, len(material))})
    shown = _Shown(material, min(most_characters, len(material)), overflow == "cut", cast)
    (joint,) = polled(1, voting, shown.round)
    spent, about = spent_in_all(shown.spent), {CONTEXT: about_material(material, shown.window)}
    if isinstance(joint, Ballot):
        return Judged(Ballot(joint.score, {**(joint.metadata or {}), **about}), spent)
    if isinstance(joint, Missing):
        return Unmeasured(joint.category, joint.reason, metadata={**joint.metadata, **about}, spent=spent)
    return Unmeasured("harness", str(joint), metadata=about, spent=spent)


def voted_in_words(metadata: Mapping[str, object]) -> str:
    """How the votes went, to stand in a finding; empty where there was one."""
    votes = metadata.get(VOTES)
    if not isinstance(votes, Mapping):
        return ""
    scores = ", ".join("none" if score is None else f"{score:g}" for score in votes["scores"])
    return f"{votes['vote']} of {scores}"


class _Shown:
    """What is shown, which becomes less where a model cannot take it."""

    def __init__(
        self, material: str, window: int, may_cut: bool, cast: Callable[[str, Sequence[Ask]], Sequence[Cast]]
    ) -> None:
        self.material, self.window, self.may_cut, self.cast = material, window, may_cut, cast
        self.spent: list[Spent] = []

    def round(self, asked: Sequence[tuple[int, Ask]]) -> list[Ballot | Exception]:
        """A grade for each asking."""
        found: dict[int, Ballot | Exception] = {}
        waiting = list(range(len(asked)))
        while waiting:
            given = self.cast(window_of(self.material, self.window), [asked[index][1] for index in waiting])
            found |= {index: each.ballot for index, each in zip(waiting, given, strict=True)}
            self.spent += [each.spent for each in given]
            waiting = [index for index, each in zip(waiting, given, strict=True) if each.too_long]
            if not self.may_cut or self.window // 2 < SMALLEST_WINDOW:
                break
            self.window //= 2 if waiting else 1
        return [found[index] for index in range(len(asked))]
