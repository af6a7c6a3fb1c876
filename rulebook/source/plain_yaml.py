"""YAML that is data and not a rule file, such as a recorded cassette: no places, and no trust in its size."""

import yaml

LIMIT_CHARACTERS = 64 * 1024 * 1024
LIMIT_VALUES = 2_000_000
LIMIT_DEPTH = 100


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
