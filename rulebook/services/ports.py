"""The ports, as this machine has them."""

from rulebook.ports import Ports
from rulebook.services.clock import MachineClock
from rulebook.services.files import MachineFiles
from rulebook.services.git import MachineGit
from rulebook.services.patterns import PatternSearch
from rulebook.services.processes import MachineProcesses
from rulebook.services.workspaces import MachineWorkspaces


def machine_ports() -> Ports:
    """The real world: this machine's files, programs, git, clock and throw-away folders."""
    processes = MachineProcesses()
    return Ports(
        files=MachineFiles(),
        processes=processes,
        git=MachineGit(processes),
        patterns=PatternSearch(),
        clock=MachineClock(),
        workspaces=MachineWorkspaces(),
    )
