"""The checks of a project's ELF file, one module for each part of the plan."""
