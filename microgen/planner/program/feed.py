"""An input that the caller has a few rows at a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Feed:
    """The caller feeds ``rows`` rows of the model's input at a time, of ``row_bytes`` bytes each,
    until it has fed all ``height`` rows of an inference; the last time there may be fewer. The
    function that reads them goes ``steps`` steps further each time, and the last time to its end.
    """

    rows: int
    height: int
    row_bytes: int
    steps: int

    @property
    def count(self) -> int:
        """How many times rows are fed in an inference."""
        return -(-self.height // self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows that are fed at a time."""
        return self.rows * self.row_bytes

    @property
    def last_step(self) -> int:
        """The step of the function in which it begins the last time."""
        return (self.count - 1) * self.steps
