"""Commands for west, Zephyr's tool. They need ``west``, the rest of microgen does not."""

from __future__ import annotations

from pathlib import Path


def source() -> bytes:
    """The Python file with all commands, which generated projects ship."""
    return (Path(__file__).parent / "commands.py").read_bytes()
