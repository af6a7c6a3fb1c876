"""`use:` brings in the packs that a file names."""

import os

from rulebook.place import Path
from rulebook.ports import Files
from rulebook.source.files import read_rules
from rulebook.spec.combinators import check_name
from rulebook.spec.head import schema_of
from rulebook.spec.reader import Reader
from rulebook.spec.rules import PackSpec


def read_packs(reader: Reader, readers: dict[str, Reader], files: Files) -> tuple[PackSpec, ...]:
    """The packs under `use:`, which is there, as far as they are valid; their readers are added to `readers`."""
    found: list[PackSpec] = []
    for path, alias in _asked(reader):
        pack = _pack(reader, path, readers, files)
        if pack is None:
            reader.lost_pack = True
            continue
        name = alias or pack.alias
        if any(other.alias == name for other in found):
            reader.add("RB301", path, things="packs", name=name, line=reader.document.span(("use",)).line)
            continue
        found.append(PackSpec(name, pack.document, pack.rules, pack.needs_params, pack.needs_submissions))
        _needs(reader, path, found[-1])
    return tuple(found)


def _asked(reader: Reader) -> list[tuple[Path, str | None]]:
    value = reader.document.at(("use",))
    if isinstance(value, dict) and value:
        names = [name for name in value if check_name(reader, ("use", name), name)]
        return [(("use", name), name) for name in names]
    count = reader.entries(("use",), "use")
    return [(("use", index), None) for index in range(count or 0)]


def _pack(reader: Reader, path: Path, readers: dict[str, Reader], files: Files) -> PackSpec | None:
    value = reader.document.at(path)
    if not isinstance(value, str) or not value:
        reader.wrong_type(path, "use", "the path of a pack")
        return None
    folder = os.path.dirname(reader.document.file)
    file = os.path.join(folder, value)
    reading = read_rules(file, files)
    if reading.document is None and not files.stands(file, folder=False) and not files.stands(file, folder=True):
        reader.add("RB307", path, path=value, folder=f"`{folder}`" if folder else "this file's folder")
        return None
    if any(d.code == "RB101" for d in reading.diagnostics):
        said = reading.diagnostics[0].message.removeprefix("I can't read this file: ").removesuffix(".")
        reader.add("RB101", path, reason=f"`{value}` {said.removeprefix('it ')}" if said.startswith("it ") else said)
        return None
    if reading.document is None:
        reader.problems.extend(reading.diagnostics)
        return None
    pack_reader = Reader(reading.document)
    pack_reader.problems.extend(reading.diagnostics)
    schema = schema_of(reading.document, pack_reader)
    if schema is not None and schema != "rulebook.pack":
        reader.add("RB204", path, value=schema, key="use", choices="a file whose `schema` is `rulebook.pack`", guess="")
        return None
    readers[reading.document.file] = pack_reader
    if schema is None:
        return None
    from rulebook.spec.pack import read_pack  # a file that uses no pack does without

    return read_pack(reading.document, pack_reader)


def _needs(reader: Reader, path: Path, pack: PackSpec) -> None:
    data = reader.document.data
    declared = data.get("params") if isinstance(data, dict) else None
    for name in pack.needs_params:
        if not isinstance(declared, dict) or name not in declared:
            reader.add("RB312", path, pack=pack.alias, what="the parameter", name=name)
    handed_in = _handed_in(data)
    for name in pack.needs_submissions:
        if name in handed_in:
            continue
        reader.add("RB312", path, pack=pack.alias, what="the submission", name=name)


def _handed_in(data: object) -> set[str]:
    """The names of all submissions that the steps of a file declare."""
    steps = data.get("steps") if isinstance(data, dict) else None
    declared = [step.get("submissions") for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    return {name for submissions in declared if isinstance(submissions, dict) for name in submissions}
