"""Chance, as the machine has it."""

import os


class MachineChance:
    """Draws from the system's own generator; implements `ports.Chance`."""

    def token(self) -> str:
        """32 hex digits: 128 bits that no student can guess."""
        return os.urandom(16).hex()
