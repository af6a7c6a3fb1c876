"""Damaged copies of session files, made by number: the same number gives the same copy on every machine."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

VALUES: list[Any] = [None, 0, -1, 7.5, 1e300, True, "", [], {}, {"a": 1}, ["x"], "\ud83d", "x" * 300]
PIECES = [
    b"", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"null", b"true", b"-1", b"1e999", b"NaN",
    b'"\\ud800"', b"[]", b"{}", b'"tool_use"', b'"assistant"', b"\xff", b"\x00", b'""', b"&a", b"*a", b"9" * 5000,
]  # fmt: skip


class Damaged(NamedTuple):
    """A damaged file and what was done to it."""

    data: bytes
    done: str


def damaged(path: Path, number: int) -> Damaged:
    """The copy of that number: records dropped, doubled, swapped or retyped, or bytes cut and replaced."""
    chance = random.Random(f"{path.parent.name}/{path.name}:{number}")
    values = parsed(path)
    if values is None or chance.random() < 0.25:
        return _bytes(path.read_bytes(), chance)
    done = [_step(values, chance) for _ in range(chance.choice((1, 1, 1, 2)))]
    return Damaged(_text(values), "; ".join(done))


def parsed(path: Path) -> list[Any] | None:
    """The values in a file of JSON: one, or one a line; a recording in YAML as one. None for anything else."""
    text = path.read_bytes().decode("utf-8", "replace")
    for parts in ([text], [line for line in text.split("\n") if line.strip()]):
        try:
            return [json.loads(part) for part in parts]
        except ValueError:
            continue
    if path.suffix in (".yaml", ".yml"):
        try:
            return [json.loads(json.dumps(yaml.safe_load(text), default=str))]
        except yaml.YAMLError:
            return None
    return None


def _text(values: list[Any]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def _step(values: list[Any], chance: random.Random) -> str:
    places = list(_places(values))
    lists = [(whole, path) for whole, path in _containers(values) if isinstance(whole, list) and whole]
    what = chance.choice(("drop", "drop", "double", "swap", "retype", "retype", "unkey", "cut_text"))
    if what in ("drop", "double", "swap") and lists:
        whole, path = chance.choice(lists)
        index = chance.randrange(len(whole))
        if what == "drop":
            del whole[index]
        elif what == "double":
            whole.insert(index, copy.deepcopy(whole[index]))
        else:
            other = chance.randrange(len(whole))
            whole[index], whole[other] = whole[other], whole[index]
        return f"{what} {path}[{index}]"
    if not places:
        return "nothing"
    whole, key, path = chance.choice(places)
    if what == "unkey" and isinstance(whole, dict):
        del whole[key]
    elif what == "cut_text" and isinstance(whole[key], str):
        whole[key] = whole[key][: len(whole[key]) // 2]
    else:
        whole[key] = copy.deepcopy(chance.choice(VALUES))
    return f"{what} {path}"


def _containers(value: Any, path: str = "") -> Iterator[tuple[Any, str]]:
    if isinstance(value, dict | list):
        yield value, path
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _containers(part, f"{path}/{key}")


def _places(values: list[Any]) -> Iterator[tuple[Any, Any, str]]:
    for whole, path in _containers(values):
        for key in whole if isinstance(whole, dict) else range(len(whole)):
            yield whole, key, f"{path}/{key}"


def _bytes(data: bytes, chance: random.Random) -> Damaged:
    if chance.random() < 0.3:
        at = chance.randrange(len(data) + 1)
        return Damaged(data[:at], f"cut at byte {at}")
    done = []
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.randint(0, 60))
        fresh = chance.choice([*PIECES, data[start:end] * 2, chance.randbytes(chance.randint(0, 8))])
        data = data[:start] + fresh + data[end:]
        done.append(f"bytes {start} to {end} are {fresh[:20]!r}")
    return Damaged(data, "; ".join(done))
