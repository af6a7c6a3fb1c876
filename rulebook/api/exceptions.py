"""The exceptions that judges and hooks raise, under the names by which Python authors know them."""

from rulebook.errors import MisbehaviorError as StudentMisbehaviorError
from rulebook.errors import Missing as UnmeasuredError

__all__ = ["StudentMisbehaviorError", "UnmeasuredError"]
