"""The options of an operator."""

from __future__ import annotations

from typing import Any

from microgen.frontends.tflite.reader import Reader


class LayerOptions:
    """The options table of an operator; ``name`` is the schema accessor's name, such as
    ``StrideH``.

    If an optional table is absent, numbers are 0 and vectors are empty, as in the schema.
    """

    def __init__(self, reader: Reader, table: Any | None) -> None:
        self._reader = reader
        self._table = table

    def number(self, name: str) -> Any:
        """A scalar field."""
        return 0 if self._table is None else self._reader.get(self._table, name)

    def integers(self, name: str) -> tuple[int, ...]:
        """A vector field."""
        return () if self._table is None else self._reader.integers(self._table, name)
