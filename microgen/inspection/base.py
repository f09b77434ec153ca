"""What every kind of finding is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table

_NUMBERS = ("bytes", "offset", "constants", "address", "workspace", "inputs and outputs")


@dataclass(frozen=True, slots=True)
class Inspected:
    """The same findings twice."""

    data: dict[str, Any]
    text: RenderableType


def columns(*headings: str) -> Table:
    """An empty table; columns of numbers stand to the right."""
    made = Table(box=None, pad_edge=False)
    for heading in headings:
        made.add_column(heading, justify="right" if heading in _NUMBERS else "left")
    return made
