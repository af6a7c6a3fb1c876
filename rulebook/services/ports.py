"""The ports, as this machine has them."""

import os

from rulebook.ports import Ports
from rulebook.services.chance import MachineChance
from rulebook.services.clock import MachineClock
from rulebook.services.files import MachineFiles
from rulebook.services.git import MachineGit
from rulebook.services.models import MachineModels
from rulebook.services.patterns import PatternSearch
from rulebook.services.processes import MachineProcesses
from rulebook.services.workspaces import MachineWorkspaces


def machine_ports(rules: str | None = None) -> Ports:
    """The real world: this machine's files, programs, git, clock, throw-away folders, models and chance.

    `rules` is the rule file that will be run: providers of models are looked for from its folder upward; None: from
    the current one.
    """
    processes, files = MachineProcesses(), MachineFiles()
    return Ports(
        files=files,
        processes=processes,
        git=MachineGit(processes),
        patterns=PatternSearch(),
        clock=MachineClock(),
        workspaces=MachineWorkspaces(),
        models=MachineModels(os.path.dirname(rules or ""), files),
        chance=MachineChance(),
    )
