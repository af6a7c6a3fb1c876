"""The cases of a task: rows that stand in the file, or in a CSV, JSONL or YAML file beside it."""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping

from rulebook.languages.faults import Shown
from rulebook.place import Path
from rulebook.ports import Files
from rulebook.spec.params import Param, value_from_text
from rulebook.spec.reader import Reader, in_words
from rulebook.spec.steps import TaskCase
from rulebook.spelling import guess

MOST_BYTES = 16 * 1024 * 1024
MOST_CASES = 100_000

Row = tuple[Path, str, Mapping[str, object]]
"""Where a row is to be complained about, what it is called there, and its columns."""


class _BadFile(Exception):
    """A file of cases that cannot be read; the message says why."""


def read_cases(reader: Reader, path: Path, params: tuple[Param, ...], files: Files) -> tuple[TaskCase, ...]:
    """The cases at `path`, as far as they are valid; every problem is noted there."""
    value = reader.document.at(path)
    rows = _of_file(reader, path, value, files) if isinstance(value, str) else _inline(reader, path)
    known = {param.name: param for param in params}
    found: dict[str, TaskCase] = {}
    places: dict[str, Path] = {}
    count = 0
    for place, called, row in rows:
        count += 1
        case = _case(reader, place, called, row, known, count)
        if case is not None and case.name in found:
            _twice(reader, place, case.name, value, places[case.name])
        elif case is not None:
            found[case.name], places[case.name] = case, place
    if not count and (isinstance(value, list) or not reader.problems):
        reader.add("RB207", path, key="cases")
    return tuple(found.values())


def _twice(reader: Reader, place: Path, name: str, written: object, first: Path) -> None:
    if isinstance(written, str):
        reader.add("RB101", place, reason=f"`{written}`: two of its rows are called `{name}`")
    else:
        reader.add("RB301", place, things="cases", name=name, line=reader.document.span(first).line)


def _inline(reader: Reader, path: Path) -> Iterable[Row]:
    count = reader.entries(path, "cases", Shown([{"name": "first"}], "cases"))
    for index in range(count or 0):
        row = reader.mapping((*path, index), "a case", Shown({"name": "first"}))
        if row is not None:
            yield (*path, index), "a case", row


def _of_file(reader: Reader, path: Path, name: str, files: Files) -> Iterable[Row]:
    ending = os.path.splitext(name)[1].lower()
    if ending not in _READERS:
        choices = "a `.csv`, `.jsonl` or `.yaml` file, or a list of rows"
        reader.add("RB204", path, value=name, key="cases", choices=choices)
        return
    folder = os.path.dirname(reader.document.file)
    file = os.path.join(folder, name)
    if not files.stands(file, folder=False):
        reader.add("RB307", path, path=name, folder=f"`{folder}`" if folder else "this file's folder")
        return
    try:
        for number, row in enumerate(_READERS[ending](_text(file, files)), start=1):
            if number > MOST_CASES:
                raise _BadFile(f"it has more than {MOST_CASES} rows")
            yield path, f"row {number} of `{name}`", row
    except (OSError, ValueError, _BadFile, csv.Error, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        reader.add("RB101", path, reason=f"`{name}`: {why}")


def _text(file: str, files: Files) -> str:
    data = files.read(file, MOST_BYTES)
    if len(data) > MOST_BYTES:
        raise _BadFile(f"it has more than {MOST_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _BadFile("it isn't saved as UTF-8") from error


def _csv(text: str) -> Iterable[Mapping[str, object]]:
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    names = list(rows.fieldnames or ())
    if len(set(names)) < len(names):
        raise _BadFile("two of its columns have the same name")
    for row in rows:
        if None in row or None in row.values():
            raise _BadFile(f"its line {rows.line_num} has another number of columns than its first")
        yield {key: _Written(value) for key, value in row.items()}


def _jsonl(text: str) -> Iterable[Mapping[str, object]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _BadFile(f"its line {number} is not valid JSON") from error
        if not isinstance(row, dict):
            raise _BadFile(f"its line {number} is no object")
        yield row


def _yaml(text: str) -> Iterable[Mapping[str, object]]:
    from rulebook.source.plain_yaml import load_core_yaml  # only cases in YAML pay for it

    rows = load_core_yaml(text)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _BadFile("it must be a list of mappings, one a case")
    yield from rows


_READERS = {".csv": _csv, ".jsonl": _jsonl, ".yaml": _yaml, ".yml": _yaml}


class _Written(str):
    """A text of a CSV file, which can stand for a number or for yes and no."""


def _case(
    reader: Reader, place: Path, called: str, row: Mapping[str, object], known: Mapping[str, Param], number: int
) -> TaskCase | None:
    inline = called == "a case"
    name = row.get("name", str(number))
    if not isinstance(name, str) or not name:
        _wrong(reader, place, "name", called, "text", name)
        return None
    values: dict[str, object] = {}
    for key, written in row.items():
        param = known.get(key)
        if key == "name" and param is None:
            continue
        if param is None:
            hint = guess(key, ("name", *known)) or " A column sets a parameter that is declared under `params:`."
            note = reader.add_at_key if inline else reader.add
            note("RB201", (*place, key) if inline else place, key=key, thing=called, guess=hint)
            continue
        value = value_from_text(param, str(written)) if isinstance(written, _Written) else written
        if param.sound and not param.accepts(value):
            _wrong(reader, place, key, called, param.wanted(), value)
        values[key] = value
    return TaskCase(str(name), values)


def _wrong(reader: Reader, place: Path, key: str, called: str, wanted: str, value: object) -> None:
    if called == "a case":
        reader.wrong_type((*place, key), key, wanted)
    else:
        shown = f"{key}` in {called.removesuffix('`')}"  # the message puts it between backticks
        reader.add("RB203", place, key=shown, wanted=wanted, found=in_words(value), hint="")
