"""RB304: a parameter or a pack that nothing uses."""

import re

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files
from rulebook.source.located import Located


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note what is declared under `params` or imported under `use` and read nowhere in the file."""
    if not isinstance(loaded.content, Program):
        return
    spec, reader = loaded.content.spec, loaded.readers[loaded.file]
    if not spec.params and not spec.packs:
        return
    texts = _texts(spec.document)
    packs = [text for pack in spec.packs for text in _texts(pack.document)]
    for param in spec.params:
        if not _read(rf"\bparams\.{param.name}\b", [*texts, *packs]):
            reader.add_at_key("RB304", ("params", param.name), name=param.name)
    for index, pack in enumerate(spec.packs):
        if not _read(rf"\b{pack.alias}\.[a-z*]", texts):
            named = ("use", pack.alias)
            path = named if named in spec.document.keys else ("use", index)
            reader.add("RB304", path, name=pack.alias)


def _texts(document: Located) -> list[str]:
    return [text for path, text in document.texts() if path[:1] != ("use",)]


def _read(pattern: str, texts: list[str]) -> bool:
    return any(re.search(pattern, text) for text in texts)
