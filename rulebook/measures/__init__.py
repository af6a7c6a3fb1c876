"""The arithmetic of the scorers: pure functions from a candidate, a reference and options to a score and its metadata.

A score lies in 0..1. Metadata is JSON data and never holds a number that JSON has not. Nothing here reads evidence,
raises for what stands in a column, or keeps anything between two calls, so a million rows cost what their texts cost.
Checks read their texts from evidence and ask here; so do the scorers of an evaluation with the columns of a row.
"""
