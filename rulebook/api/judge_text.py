"""The result of a group of judges as a tree of text: a view of the data, in which nothing can be forged."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from rulebook.api.judges import GroupJudge, Judge
from rulebook.evidence.scoring import Scoring
from rulebook.terminal import harmless

Entry = Mapping[str, object]


def judge_text(judge: Judge, scoring: Scoring) -> str:
    """What a judge and its parts came to, one line each, with the metadata below; line breaks in it are spelt out."""
    group = isinstance(judge, GroupJudge)
    name = judge.name if isinstance(judge, GroupJudge) else type(judge).__name__
    root: Entry = {
        "judge": name,
        "group": group,
        "outcome": "scored",
        "score": scoring.score,
        "continue_task": scoring.continue_task,
        "metadata": scoring.metadata,
    }
    return "\n".join(_lines(root))


def _lines(entry: Entry) -> Iterator[str]:
    yield _head(entry)
    metadata = cast("Mapping[str, object]", entry.get("metadata", {}))
    parts = cast("Sequence[Entry]", metadata.get("judges", ())) if entry["group"] else ()
    leaves = [] if parts else [f"{_plain(key)}: {_plain(value)}" for key, value in metadata.items()]
    if parts:
        yield "│"
    yield from (f"  {leaf}" for leaf in leaves)
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        first, *rest = _lines(part)
        yield f"{'└─' if last else '├─'} {first}"
        yield from (f"{'  ' if last else '│ '} {line}" for line in rest)


def _head(entry: Entry) -> str:
    name = _plain(entry["judge"])
    match entry["outcome"]:
        case "scored":
            return f"{'✔' if entry['continue_task'] else '❗'} {name} (score: {_plain(entry['score'])})"
        case "not evaluated":
            return f"⊘ {name} (not evaluated)"
        case outcome:
            return f"❗ {name} ({outcome}: {_plain(entry['reason'])})"


def _plain(value: object) -> str:
    return harmless(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
