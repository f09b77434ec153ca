"""What every kind of finding is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

_NUMBERS = ("bytes", "offset", "constants", "address", "workspace", "inputs and outputs")


@dataclass(frozen=True, slots=True)
class Inspected:
    """The same findings twice; ``payloads`` are what can be extracted, by file name."""

    data: dict[str, Any]
    text: RenderableType
    payloads: Mapping[str, bytes] = field(default_factory=dict)


def columns(*headings: str) -> Table:
    """An empty table; columns of numbers stand to the right."""
    made = Table(box=None, pad_edge=False)
    for heading in headings:
        made.add_column(heading, justify="right" if heading in _NUMBERS else "left")
    return made


def plain(text: str) -> Text:
    """Text of somebody's file for a terminal: no markup, no control characters."""
    return Text("".join(c if c.isprintable() else "?" for c in text))
