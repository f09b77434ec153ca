"""The result of an inspection, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from microgen.base.output.text_layout import Column, Part, Table

_NUMBERS = (
    *("bytes", "offset", "constants", "address", "workspace", "inputs and outputs"),
    *("channels left", "of", "weights saved", "products saved"),
)
_NAMES = ("layer", "section", "largest symbols", "name", "argument", "parameter", "file", "target")
_OPTIONAL = ("output",)


@dataclass(frozen=True, slots=True)
class Inspected:
    """The findings as data and as text. ``payloads`` are the files that can be extracted, by
    name."""

    data: dict[str, Any]
    text: Sequence[Part]
    payloads: Mapping[str, bytes] = field(default_factory=dict)


def columns(*headings: str) -> Table:
    """An empty table; columns of numbers are aligned to the right."""
    return Table(
        [Column(name, name in _NUMBERS, name in _NAMES, name in _OPTIONAL) for name in headings]
    )
