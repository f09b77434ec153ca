"""Generates and compiles again, and compares the result with the ELF file."""
