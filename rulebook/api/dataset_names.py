"""How a caller names a stored dataset: by one revision of it, or by its name. Source: scorers-facts §8."""

from collections.abc import Mapping

from rulebook.errors import UnfitOption

_KEYS = {"dataset_name": "name", "dataset_id": "dataset_id", "revision_id": "revision_id"}
"""What a caller calls them, and what the store does."""


def revision_named(given: object) -> dict[str, str] | None:
    """What `DatasetStore.find` is asked: `name`, `dataset_id`, `revision_id`, as far as they are given.

    `given` is an object or a mapping with `dataset_id` and `revision_id`, or with `dataset_name`; None: it names
    nothing, and is data. Raises UnfitOption for a blank name or id, and for a `dataset_id` without its `revision_id`.
    """
    if isinstance(given, Mapping):
        if not given or not set(given) <= set(_KEYS):
            return None
        found = {key: given[key] for key in _KEYS if given.get(key) is not None}
    else:
        found = {key: getattr(given, key) for key in _KEYS if getattr(given, key, None) is not None}
    # a frame has its columns as attributes, and columns may bear these names
    if not found or not all(isinstance(value, str) for value in found.values()):
        return None
    named = {_KEYS[key]: value.strip() for key, value in found.items()}
    if not all(named.values()):
        raise UnfitOption("A dataset's id, revision and name are texts that are not empty.")
    if "dataset_id" in named and "revision_id" not in named:
        raise UnfitOption(WHICH)
    return named


WHICH = "Say which dataset: `dataset_id` with `revision_id`, or `dataset_name` alone."
"""What to write where a dataset is not named whole."""
