"""What probing a task found, as Python users hold it."""

from collections.abc import Sequence

from rulebook.report.probe_report import probe_report
from rulebook.report.probe_scores import Played, Probed, StepProbed
from rulebook.report.probe_text import render_probe


class ProbeReport:
    """What students who misbehave, and the oracle, got from a task's judges."""

    def __init__(self, probed: Probed) -> None:
        self._probed = probed

    @property
    def passed(self) -> bool:
        """Whether nobody got reward that it should not, the oracle passed, and every judge could be probed."""
        return self._probed.passed

    @property
    def holes(self) -> Sequence[tuple[StepProbed, Played]]:
        """Every student who got reward without the work, with the step and case in which it did."""
        return self._probed.holes

    @property
    def steps(self) -> Sequence[StepProbed]:
        """Every step of every case, with everybody who was played against it."""
        return self._probed.steps

    def as_dict(self) -> dict[str, object]:
        """The report as plain data: `rulebook.probe-report`, version 1."""
        return probe_report(self._probed)

    def __str__(self) -> str:
        return render_probe(self._probed)
