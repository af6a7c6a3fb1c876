"""Two runs of evaluations held against each other, as Python users hold that."""

from collections.abc import Iterable, Sequence

from rulebook.errors import UnfitOption
from rulebook.report.compared import Compared
from rulebook.report.comparison import Comparison
from rulebook.services.evaluation_runs import find_run


class EvaluationComparison:
    """What became of each scorer from the baseline to the candidate; as text it is what the command prints."""

    def __init__(self, baseline: str, candidate: str, confidence: float, lower_is_better: Iterable[str]) -> None:
        """Compare two runs: folders, ids or reports. Raises UnfitOption, NotComparable, UsageError."""
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.5 <= confidence <= 0.9999:
            raise UnfitOption(f"`confidence` is a share from 0.5 to 0.9999; this is {confidence!r:.40}.")
        if isinstance(lower_is_better, str):
            raise UnfitOption(f"`lower_is_better` is a list of scorers: write `[{lower_is_better!r:.40}]`.")
        # an evaluation that is run and compared with none does without
        from rulebook.session.comparing import Asked, compare_runs

        asked = Asked(float(confidence), tuple(lower_is_better))
        self._found: Comparison = compare_runs(find_run(baseline), find_run(candidate), asked)

    @property
    def scorers(self) -> Sequence[Compared]:
        """What became of each scorer that both runs have, in the baseline's order."""
        return self._found.scorers

    def __getitem__(self, name: str) -> Compared:
        """What became of the scorer of that name. Raises KeyError."""
        for each in self.scorers:
            if each.name == name:
                return each
        raise KeyError(name)

    def verdicts(self) -> dict[str, str]:
        """For each scorer `better`, `worse`, `inconclusive` or `not measured`."""
        return {each.name: each.verdict for each in self.scorers}

    def report(self) -> dict[str, object]:
        """The report `rulebook.evaluation-comparison` as plain data."""
        from rulebook.report.comparison_report import comparison_report  # as above

        return comparison_report(self._found)

    def __str__(self) -> str:
        from rulebook.report.comparison_text import render_comparison  # as above

        return render_comparison(self._found)
