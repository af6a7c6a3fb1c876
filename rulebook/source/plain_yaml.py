"""YAML that is data and not a rule file, such as a recorded cassette: no places, and no trust in its size."""

from collections.abc import Hashable, Sequence
from typing import Any

import yaml

from rulebook.source.yaml_scalars import TooManyDigits, plain_value

LIMIT_CHARACTERS = 64 * 1024 * 1024
LIMIT_VALUES = 2_000_000
LIMIT_DEPTH = 100

_MOST_DIGITS = 400


def load_plain_yaml(text: str) -> object:
    """The data of one YAML document: mappings, lists, text, numbers, yes or no, None; dates stay text.

    Raises ValueError, with words for people, when the text is not YAML, asks for anything else than data, or
    grows beyond the limits (values, counted with every alias written out, and depth).
    """
    if len(text) > LIMIT_CHARACTERS:
        raise ValueError("it is too large to be read as YAML")
    loader = _PlainLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        _Bounds().check(root, 0)
        return loader.construct_document(root)
    except yaml.YAMLError as error:
        raise ValueError(f"it is not valid YAML: {_first_line(error)}") from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise ValueError(str(error) or "it cannot be read as YAML") from error
    finally:
        loader.dispose()


class _PlainLoader(yaml.CSafeLoader):
    """The safe loader without dates, which are no JSON."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the loader's own class attribute
        first: [entry for entry in entries if entry[0] != "tag:yaml.org,2002:timestamp"]
        for first, entries in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


class _Bounds:
    """Counts what a document would hold with its aliases written out, before any of it is built.

    An alias costs nothing in memory but everything in a walk, and merge keys copy what they name.
    """

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def check(self, node: yaml.Node, depth: int) -> int:
        """How many values stand at and below `node`. Raises ValueError beyond the limits."""
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        if depth > LIMIT_DEPTH:
            raise ValueError(f"it is nested more than {LIMIT_DEPTH} deep")
        if id(node) in self._open:
            raise ValueError("an alias in it contains itself")
        self._open.add(id(node))
        size = 1 + sum(self.check(child, depth + 1) for child in _children(node))
        self._open.discard(id(node))
        if size > LIMIT_VALUES:
            raise ValueError(f"it holds more than {LIMIT_VALUES} values")
        self._sizes[id(node)] = size
        return size


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _first_line(error: yaml.YAMLError) -> str:
    return " ".join(str(error).split())[:200]


def load_core_yaml(text: str) -> object:
    """The data of one YAML document as YAML 1.2's core schema has it: `yes`, `on` and `1:30` are text.

    Every key is the text that it is written as. Raises ValueError, with words for people, for what is not YAML, a key
    given twice, several documents, and beyond the limits of `load_plain_yaml`.
    """
    loader = _CoreLoader(text)
    try:
        root = loader.get_node() if loader.check_node() else None
        if root is None:
            return None
        if loader.check_node():
            raise ValueError("it holds several documents")
        _Bounds().check(root, 0)
        _refuse_twice(root)
        return _constructed(loader, root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ValueError(f"it is not valid YAML{where}") from error
    except yaml.YAMLError as error:
        raise ValueError("it is not valid YAML: it holds a character that no YAML may hold") from error
    except (OverflowError, RecursionError) as error:
        raise ValueError("it cannot be read as YAML") from error
    finally:
        loader.dispose()


def _constructed(loader: "_CoreLoader", root: yaml.Node) -> object:
    try:
        return loader.construct_document(root)
    except _TooLarge:
        raise
    except ValueError as error:  # of a tag, such as `!!int` at what is none
        raise ValueError("a value in it is not what its tag says, or too large") from error


_PLAIN = "tag:rulebook,plain"
_MERGE = "tag:yaml.org,2002:merge"


class _TooLarge(ValueError):
    """A number that no reader keeps."""


class _CoreLoader(yaml.CSafeLoader):
    """The safe loader with the words of YAML 1.2, and with tags of a program's own read as the data they stand at."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: tuple[bool, bool]) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            return _MERGE if value == "<<" else _PLAIN
        return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: ARG002
        self.flatten_mapping(node)
        return {_key(key): self.construct_object(value, deep=True) for key, value in node.value}

    def plain(self, node: yaml.ScalarNode) -> object:
        value = plain_value(node.value)
        if isinstance(value, TooManyDigits):
            if value.digits is None or value.digits > _MOST_DIGITS:
                raise _TooLarge("it holds a number that is too large")
            return int(node.value, 0 if node.value[:2] in ("0x", "0o") else 10)
        return value

    def foreign(self, _: str, node: yaml.Node) -> object:
        if isinstance(node, yaml.MappingNode):
            return self.construct_mapping(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.construct_object(part, deep=True) for part in node.value]
        return node.value


_CoreLoader.add_constructor(_PLAIN, _CoreLoader.plain)
_CoreLoader.add_multi_constructor("!", _CoreLoader.foreign)


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise ValueError("a key in it is no text")
    return str(node.value)


def _refuse_twice(root: yaml.Node) -> None:
    """Raise ValueError where a mapping has a key twice, as written and before anything is merged into it."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        waiting += _children(node)
        if isinstance(node, yaml.MappingNode):
            keys = [_key(key) for key, _ in node.value]
            if len(set(keys)) < len(keys):
                raise ValueError(f"the key `{first_twice(keys)[:100]}` is in it twice")


def first_twice(keys: Sequence[str]) -> str:
    """The first key that stands in the list for the second time. Raises ValueError when each is there once."""
    seen = set[str]()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    raise ValueError("no key is there twice")
