"""Datasets from Python: uploading rows into the embedded store, and reading them back.

Source: scorers, "Evaluation Scorers"; scorers-facts §8.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from rulebook.api.dataset_names import WHICH, revision_named
from rulebook.errors import UnfitOption
from rulebook.services.dataset_catalogue import Entry
from rulebook.services.dataset_store import DatasetStore
from rulebook.services.datasets import open_dataset


class DatasetDriftWarning(UserWarning):
    """Later rows of a dataset differ from earlier ones: a column that comes or goes, a value of another kind."""


class DatasetReference(Struct, frozen=True):
    """One revision of a dataset. `revision_id` is the digest of its rows: the same rows bear the same one, everywhere.

    `columns` are its columns by their kind, in order. `drift` says in words where later rows differ from earlier ones.
    """

    dataset_id: str
    revision_id: str
    dataset_name: str
    row_count: int
    columns: Mapping[str, str]
    drift: tuple[str, ...] = ()


class DatasetClient:
    """The datasets of this machine: `datasets` in `RULEBOOK_HOME`, or another `folder`. No server, no account."""

    def __init__(self, folder: str | None = None) -> None:
        self._store = DatasetStore(folder)

    def upload(
        self,
        name: str,
        data: object,
        part_size_bytes: int = 16 * 1024 * 1024,  # noqa: ARG002
        timeout: float = 300,  # noqa: ARG002
        on_progress: Callable[..., object] | None = None,  # noqa: ARG002
    ) -> DatasetReference:
        """Keep rows as the latest revision of the dataset `name`.

        `data` is a path of JSONL, JSON, CSV, Parquet or Arrow, a list of paths, a list of mappings, a mapping of
        columns, or a frame of pandas, polars or Arrow. A column that a row lacks is empty there. Where rows drift, a
        DatasetDriftWarning says how, and so does `drift`. The last three arguments are the reference's, and have no
        effect: nothing is sent anywhere. Raises ValueError for a blank name, TypeError for rows that can be read only
        once, DatasetError for a row that cannot be read; then nothing is kept.
        """
        stripped = name.strip() if isinstance(name, str) else ""
        if not stripped:
            raise ValueError('A dataset needs a name: `upload("support-triage", rows)`.')
        found = _reference(self._store.upload(stripped, open_dataset(data)))
        if found.drift:
            told = " ".join(found.drift[:10])
            warnings.warn(f"The rows of `{stripped}` drift. {told}", DatasetDriftWarning, stacklevel=2)
        return found

    def read(self, revision: object) -> Any:
        """The rows of a revision as an Arrow table; JSON columns are text there. Raises DatasetError, ValueError.

        `revision` is what `upload` gave, a revision's id, or an object or a mapping with `dataset_id` and
        `revision_id`, or with `dataset_name`: then its latest revision.
        """
        return self._store.table(self._entry(revision))

    def rows(self, revision: object) -> Iterator[Mapping[str, object]]:
        """The rows of a revision, one mapping at a time. Raises DatasetError, ValueError."""
        return (row.values for row in self._store.rows(self._entry(revision)))

    def get(self, name: str) -> DatasetReference:
        """The latest revision of the dataset `name`. Raises DatasetError when there is none."""
        return _reference(self._store.find(name=name))

    def list(self) -> tuple[DatasetReference, ...]:
        """The latest revision of every dataset, by name."""
        latest = {entry.name: entry for entry in self._store.entries()}
        return tuple(_reference(latest[name]) for name in sorted(latest))

    def revisions(self, name: str) -> tuple[DatasetReference, ...]:
        """Every revision of the dataset `name`, the oldest first."""
        return tuple(_reference(entry) for entry in self._store.entries(name))

    def _entry(self, revision: object) -> Entry:
        if isinstance(revision, str):
            return self._store.find(revision_id=_given(revision))
        named = revision_named(revision)
        if named is None:
            raise UnfitOption(WHICH)
        return self._store.find(**named)


def _given(value: str) -> str:
    if not value.strip():
        raise UnfitOption("A dataset's id, revision and name are texts that are not empty.")
    return value.strip()


def _reference(entry: Entry) -> DatasetReference:
    return DatasetReference(
        entry.dataset_id, entry.revision_id, entry.name, entry.row_count, entry.columns, entry.drift
    )
