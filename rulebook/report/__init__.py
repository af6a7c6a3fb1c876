"""Traces become findings, scores, rewards and reports: one module per output format."""
