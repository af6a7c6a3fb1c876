"""The pages that ship beside the code: one for every kind of rule and every message code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import rulebook
from rulebook.cli.event_pages import EVENT_NAMES, event_page
from rulebook.codes import CODES, code_named

Shelf = Literal["checks", "expression", "linting"]
_ROOT = Path(rulebook.__file__).parent
_IN_EVALUATION = "\n## In an evaluation\n"


def kind_pages() -> Mapping[str, Path]:
    """The page of every kind of rule, by its key."""
    return {**_shelf("checks"), **_shelf("expression")}


def page_named(word: str) -> str | None:
    """The page for a kind, an event, a code or a code's name; None when there is none."""
    pages = kind_pages()
    if word in pages:
        page = pages[word].read_text(encoding="utf-8")
        return page if _IN_EVALUATION in page else page + _scorer_options(word)
    code = code_named(word)
    if code is None:
        return event_page(word)
    written = _shelf("linting").get(CODES[code].name)
    return written.read_text(encoding="utf-8") if written else _bare_page(code)


def known_words() -> list[str]:
    """Everything that `page_named` knows, for the nearest one."""
    return [*kind_pages(), *EVENT_NAMES, *CODES, *(code.name for code in CODES.values())]


def first_sentence(page: Path) -> str:
    """What a page says in its first line below the title."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next((line.strip() for line in lines[1:] if line.strip()), "")


def _shelf(name: Shelf) -> Mapping[str, Path]:
    return {page.stem: page for page in sorted((_ROOT / name).glob("*.md"))}


def _scorer_options(kind: str) -> str:
    """What a scorer of that kind takes; empty for a kind that is no scorer."""
    from rulebook.spec.scorer_kinds import SCORERS  # only the page of a kind pays for it

    if kind not in SCORERS:
        return ""
    rows = ["| option | default | meaning |", "|---|---|---|"]
    for name, field in SCORERS[kind].model_fields.items():
        usual = "required" if field.is_required() else _plainly(field.default)
        usual = "of the kind" if name == "name" and field.default is None else usual
        rows.append(f"| `{name}` | {usual} | {field.description} |")
    head = "As a scorer it reads columns of a row, and takes these options:"
    return "\n".join([_IN_EVALUATION, head, "", *rows, ""])


def _plainly(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _bare_page(code: str) -> str:
    entry = CODES[code]
    return f"# {code} {entry.name}\n\n{entry.severity}: {entry.message}\n"
