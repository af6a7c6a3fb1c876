"""How a run of a task is configured, as steps see it in `self.config`."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field


class EvaluationRunConfig(Struct, frozen=True):
    """What a harness says of one run. `transcript_file` is where its transcript will lie, and beside it its artifacts.

    `extra_config` is whatever else the task's author asks for by name.
    """

    run_id: str = "run"
    task_id: str = ""
    model: str | None = None
    use_hints: bool = True
    transcript_file: str | None = None
    save_artifacts: bool = True
    extra_config: Mapping[str, Any] = field(default_factory=dict)
