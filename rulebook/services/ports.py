"""The ports, as this machine has them."""

import os
from collections.abc import Callable
from typing import Any, cast

from rulebook.model_port import Models
from rulebook.ports import Git, Ports, Processes, Tables, Workspaces
from rulebook.services.chance import MachineChance
from rulebook.services.clock import MachineClock
from rulebook.services.files import MachineFiles
from rulebook.services.patterns import PatternSearch


class _Late:
    """A port that is made when it is first used: a check of transcripts alone loads neither git nor processes."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        made = self._make()
        self.__dict__.update({key: getattr(made, key) for key in dir(made) if not key.startswith("_")})
        return getattr(made, name)


def machine_ports(rules: str | None = None, cache: str | None = None) -> Ports:
    """The real world: this machine's files, programs, git, clock, throw-away folders, models and chance.

    `rules` is the rule file that will be run: providers of models are looked for from its folder upward; None: from
    the current one. `cache` is the folder for kept answers of models; None: the usual one.
    """
    files = MachineFiles()
    processes = cast(Processes, _Late(_processes))
    return Ports(
        files=files,
        processes=processes,
        git=cast(Git, _Late(lambda: _git(processes))),
        patterns=PatternSearch(),
        clock=MachineClock(),
        workspaces=cast(Workspaces, _Late(_workspaces)),
        models=cast(Models, _Late(lambda: _models(os.path.dirname(rules or ""), files, cache))),
        chance=MachineChance(),
        tables=cast(Tables, _Late(_tables)),
    )


def _processes() -> Processes:
    from rulebook.services.processes import MachineProcesses

    return MachineProcesses()


def _git(processes: Processes) -> Git:
    from rulebook.services.git import MachineGit

    return MachineGit(processes)


def _workspaces() -> Workspaces:
    from rulebook.services.workspaces import MachineWorkspaces

    return MachineWorkspaces()


def _tables() -> Tables:
    from rulebook.services.row_scores import RowTables

    return RowTables()


def _models(folder: str, files: MachineFiles, cache: str | None) -> Models:
    from rulebook.services.models import MachineModels

    return MachineModels(folder, files, cache)
