"""The command line: one module per command, and the only code that prints."""
