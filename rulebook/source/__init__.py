"""Text becomes plain data in which every key and value knows its place."""
