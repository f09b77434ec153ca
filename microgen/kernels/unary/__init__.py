"""Functions of one element."""
