"""The ELF symbols of what is emitted besides operators."""

from __future__ import annotations


def prefix(module: str) -> str:
    """``tvmgen_<module>``, which every symbol of a model starts with."""
    return f"tvmgen_{module}"


def arena(module: str, pool: str) -> str:
    """The ELF symbol of a workspace pool."""
    return f"{prefix(module)}_{pool}"


def constant(module: str, name: str) -> str:
    """The ELF symbol of a constant."""
    return f"{prefix(module)}_{name}"
