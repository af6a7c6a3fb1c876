"""The pages that ship beside the code: one for every kind of rule and every message code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import rulebook
from rulebook.cli.event_pages import EVENT_NAMES, event_page
from rulebook.codes import CODES, code_named

Shelf = Literal["checks", "expression", "linting"]
_ROOT = Path(rulebook.__file__).parent


def kind_pages() -> Mapping[str, Path]:
    """The page of every kind of rule, by its key."""
    return {**_shelf("checks"), **_shelf("expression")}


def page_named(word: str) -> str | None:
    """The page for a kind, an event, a code or a code's name; None when there is none."""
    pages = kind_pages()
    if word in pages:
        return pages[word].read_text(encoding="utf-8")
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


def _bare_page(code: str) -> str:
    entry = CODES[code]
    return f"# {code} {entry.name}\n\n{entry.severity}: {entry.message}\n"
