"""Reads ELF and object files: headers, sections, symbols, and the functions that are linked."""
