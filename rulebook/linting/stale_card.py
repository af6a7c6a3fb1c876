"""RB815: a judge that is no longer the one of its card. RB816: a card that is none, or of another scorer."""

import os

from rulebook.expression.program import Loaded, folder_of
from rulebook.ports import Files
from rulebook.spec.evaluation_parts import EvaluationSpec, ScorerSpec


def look(loaded: Loaded, files: Files) -> None:
    """Note every such judge with what changed, and every such card. A scorer that names no card needs none."""
    if isinstance(loaded.content, EvaluationSpec):
        for scorer in loaded.content.scorers:
            _look_at(scorer, loaded, files)


def _look_at(scorer: ScorerSpec, loaded: Loaded, files: Files) -> None:
    from rulebook.spec.judge_cards import calibrate_command, card_at, card_path  # only an evaluation has judges

    path = card_path(loaded.file, scorer)
    stands = files.stands(path, folder=False)
    if not stands and scorer.card is None:
        return
    card = card_at(path, files) if stands else "doesn't exist"
    column = "COLUMN" if isinstance(card, str) else card.subject.column
    command = calibrate_command(loaded.file, column, scorer.name)
    if isinstance(card, str):
        _note_no_card(scorer, loaded, path, card, command)
        return
    if card.subject.scorer != scorer.name:
        _note_no_card(scorer, loaded, path, f"is that of `{card.subject.scorer}`", command)
        return
    from rulebook.spec.judge_identity import changed, identity_as_known  # only one with a card pays

    parts = changed(card.identity, identity_as_known(scorer, folder_of(loaded.file), files), scorer.kind)
    if parts:
        what = ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1]
        loaded.readers[loaded.file].add_at_key("RB815", scorer.path, scorer=scorer.name, what=what, command=command)


def _note_no_card(scorer: ScorerSpec, loaded: Loaded, path: str, why: str, command: str) -> None:
    reader = loaded.readers[loaded.file]
    if scorer.card is None:
        reader.add_at_key("RB816", scorer.path, card=os.path.basename(path), why=why, command=command)
        return
    places = ((*scorer.path, "card"), (*scorer.path[:-1], "card"))
    place = next(each for each in places if each in reader.document.values)
    reader.add("RB816", place, card=scorer.card, why=why, command=command)
