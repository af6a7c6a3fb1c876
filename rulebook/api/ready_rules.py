"""An evaluation of built-in scorers over rows that have their outputs: ready to run, though its file is not read."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from rulebook.api import data_scorers, text_scorers
from rulebook.api.evaluations import check_columns, dataset_of
from rulebook.api.row_scorers import row_scorer
from rulebook.api.runnable_evaluation import RunnableEvaluation
from rulebook.evidence.row_columns import Kind
from rulebook.measures.row_scores import RowScorer
from rulebook.ports import Ports
from rulebook.services.datasets import Dataset
from rulebook.spec.ready_evaluation import ReadyEvaluation, StoredDataset

_DECLARED: Mapping[str, Callable[..., object]] = {
    "exact_match": text_scorers.exact_match,
    "contains": text_scorers.contains,
    "levenshtein": text_scorers.levenshtein,
    "string_similarity": text_scorers.string_similarity,
    "regex_match": data_scorers.regex_match,
    "json_valid": data_scorers.json_valid,
    "json_match": data_scorers.json_match,
    "numeric_close": data_scorers.numeric_close,
}


class ReadyRules(RunnableEvaluation):
    """Such an evaluation, loaded."""

    def __init__(self, path: str, ready: ReadyEvaluation, ports: Ports) -> None:
        """Raises DatasetError and UnfitOption for what is not there or does not fit."""
        dataset = dataset_named(ready.dataset, os.path.dirname(os.path.abspath(path)))
        scorers = [
            built_in(each.kind, each.name, each.inputs, each.options, lambda: dataset.columns) for each in ready.scorers
        ]
        thresholds = {each.name: each.threshold for each in ready.scorers}
        super().__init__(path, ready.name, ready.digest, dataset, scorers, thresholds, ready.gates, ports)
        self._told = {each.name: each.told for each in ready.scorers}
        check_columns(None, scorers, dataset, has_task=False)

    def told_options(self) -> Mapping[str, Mapping[str, object]]:
        """As they were kept."""
        return self._told


def built_in(
    kind: str,
    name: str,
    inputs: Sequence[str] | None,
    options: Mapping[str, object],
    columns: Callable[[], Mapping[str, Kind]],
) -> RowScorer:
    """The scorer of rows that a rule file's options declare, for any kind but functions and what asks models.

    `columns` gives the dataset's with `output`, where SQL asks.
    """
    if kind == "sql":
        from rulebook.api.sql_scorer import SqlScorer  # only SQL pays for it

        return row_scorer(SqlScorer(name, str(options["expression"])), columns)
    given = cast("dict[str, object]", dict(options))
    if "paths" in given:
        given["paths"] = tuple(cast("list[str]", given["paths"]))
    return row_scorer(_DECLARED[kind](name=name, inputs=inputs, **given), columns)


def dataset_named(named: str | Sequence[Mapping[str, object]] | StoredDataset, folder: str) -> Dataset:
    """The dataset that a rule file in `folder` names. Raises DatasetError."""
    match named:
        case str():
            return dataset_of(os.path.join(folder, named))
        case StoredDataset():
            return dataset_of({"dataset_name": named.name, "revision_id": named.revision})
        case _:
            return dataset_of(list(named))
