"""The records of results that are computed row by row, and of inputs that are passed row by row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowsRecord:
    """How a call computes a result row by row: the ELF symbol ``function`` computes ``rows`` rows
    each time, the last time perhaps fewer, and writes them where argument number ``argument``
    points. That happens ``count`` times, in step ``first`` of the call and then every ``period``
    steps. If it ``is_last``, the last time writes the final result, and the times before write
    parts of it."""

    function: str
    argument: int
    rows: int
    first: int
    period: int
    count: int
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class FeedRecord:
    """How an input is fed: ``rows`` rows of ``nbytes`` bytes at a time, ``count`` times in an
    inference; the last time there may be fewer rows."""

    rows: int
    nbytes: int
    count: int

    def __post_init__(self) -> None:
        if min(self.rows, self.nbytes, self.count) < 1:
            raise ValueError(f"{self.rows} rows of {self.nbytes} bytes are fed {self.count} times")

    def __str__(self) -> str:
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        return f"the input is fed {rows} at a time: {self.nbytes:,} bytes, {self.count:,} times"
