"""The result of a judge."""

from rulebook.evidence.scoring import Scoring

__all__ = ["Scoring"]
