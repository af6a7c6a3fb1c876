"""Cards of judges as files: where they stand, and of what judge they are. What they say of it is the report's."""

import json
import os
import re
from collections.abc import Mapping

from msgspec import Struct

from rulebook.ports import Files
from rulebook.spec.evaluation_parts import ScorerSpec
from rulebook.spec.judge_identity import Identity

SCHEMA = "rulebook.judge-card"
VERSION = 1

MOST_BYTES = 16 * 1024 * 1024
"""No card is larger; of a larger file so much is looked at."""


class Subject(Struct, frozen=True):
    """What was calibrated against what: the evaluation, its scorer of that kind, and the column with the labels."""

    evaluation: str
    scorer: str
    kind: str
    column: str


class Card(Struct, frozen=True):
    """A card as far as it says of what judge it is."""

    subject: Subject
    identity: Identity


def card_path(file: str, scorer: ScorerSpec) -> str:
    """Where the card of a scorer of the rule file at `file` belongs: where it says so, else beside the file."""
    folder = os.path.dirname(file)
    if scorer.card is not None:
        return os.path.join(folder, scorer.card)
    stem = os.path.splitext(os.path.basename(file))[0]
    name = re.sub("[^A-Za-z0-9_-]+", "-", scorer.name).strip("-") or "scorer"
    return os.path.join(folder, f"{stem}.{name}.card.json")


def card_at(path: str, files: Files) -> Card | str:
    """The card in the file at `path`, or what is wrong with it, as a sentence goes on after its name."""
    try:
        return read_card(files.read(path, MOST_BYTES))
    except OSError as error:
        return f"can't be read: {(error.strerror or 'the machine refuses').lower()}"


def calibrate_command(file: str, column: str, scorer: str) -> str:
    """The command that writes the card anew."""
    import shlex  # nobody pays for it but who is told to type it

    return shlex.join(["rulebook", "calibrate", file, "--labels", column, "--scorer", scorer])


def read_card(text: bytes) -> Card | str:
    """The card in a file, or what is wrong with it, as a sentence goes on after its name."""
    data = _object_in(text)
    if data.get("schema") != SCHEMA:
        return "is no card of `rulebook calibrate`"
    if data.get("version") != VERSION:
        return "is of another version of Rulebook"
    judge, labels = data.get("judge"), data.get("labels")
    if not isinstance(judge, dict) or not isinstance(labels, dict):
        return "is damaged"
    words = [data.get(key) for key in ("evaluation", "scorer", "kind")] + [labels.get("column")]
    digests = [judge.get(f"{key}_sha256") for key in ("model", "prompt", "answer")]
    models = judge.get("models")
    if not isinstance(models, list) or not all(isinstance(each, str) for each in (*words, *digests, *models)):
        return "is damaged"
    if not all(digests):  # an empty one is compared with nothing, and any judge would pass for that of the card
        return "is damaged"
    return Card(Subject(*map(str, words)), Identity(tuple(models), *map(str, digests)))


def is_card(text: bytes) -> bool:
    """Whether a file is a card of ours, of whatever version, which a new one may replace."""
    return _object_in(text).get("schema") == SCHEMA


def _object_in(text: bytes) -> Mapping[str, object]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
