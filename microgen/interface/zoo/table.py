"""The table of a run: as plain data, as Markdown and for a terminal. It has no times, so equal
results give equal bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microgen.base.output.text_layout import Column, Part, Table
from microgen.base.printable import printable
from microgen.interface.zoo.results import STATUSES, Cell
from microgen.interface.zoo.runs import ModelRow
from microgen.version import __version__

_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,.]*\d|(?<![\w.])-?\d")
_LAYER = re.compile(r'^layer "\.\.\." ')
_MARKDOWN = re.compile(r"([\\`*\[\]<>|&~#])")
_SHOWN = 3  # models of a cause


@dataclass(frozen=True, slots=True)
class Cause:
    """Cells that ended for the same reason. ``text`` is their cause, in which dots replace names
    and N replaces numbers, and ``cells`` are pairs of a model and a board."""

    status: str
    stage: str
    text: str
    cells: tuple[tuple[str, str], ...]


def causes(rows: Sequence[ModelRow]) -> list[Cause]:
    """The causes of all refusals and failures: failures first, then the most frequent first."""
    by_kind: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for row in rows:
        for board, cell in row.cells.items():
            if cell.status != "ok":
                kind = (cell.status, cell.stage, general(cell.cause))
                by_kind.setdefault(kind, []).append((row.entry.name, board))
    # Rows of one cause are together, so a defect that hits many models is seen at once.
    made = [Cause(*kind, tuple(cells)) for kind, cells in by_kind.items()]
    # "failed" sorts before "refused".
    return sorted(made, key=lambda c: (c.status, -len(c.cells), c.stage, c.text))


def general(cause: str) -> str:
    """The cause without quoted names and numbers, which differ from model to model."""
    return _LAYER.sub("", _NUMBER.sub("N", _QUOTED.sub('"..."', cause)))


def counts(rows: Sequence[ModelRow]) -> dict[str, dict[str, int]]:
    """The number of cells of each status, by board."""
    boards = rows[0].cells if rows else ()
    return {
        board: {s: sum(row.cells[board].status == s for row in rows) for s in STATUSES}
        for board in boards
    }


def data(rows: Sequence[ModelRow], options: Mapping[str, Any]) -> dict[str, Any]:
    """The whole table as plain data."""
    return {
        "microgen": __version__,
        "options": dict(options),
        "counts": counts(rows),
        "causes": [
            {
                "status": cause.status,
                "stage": cause.stage,
                "cause": cause.text,
                "cells": [{"model": model, "board": board} for model, board in cause.cells],
            }
            for cause in causes(rows)
        ],
        "models": [
            {
                "model": row.entry.name,
                "sha256": row.sha256,
                "cells": {board: cell.to_json() for board, cell in row.cells.items()},
            }
            for row in rows
        ],
    }


def seconds(rows: Sequence[ModelRow]) -> list[dict[str, Any]]:
    """The time that each cell took when it was done."""
    return [
        {"model": row.entry.name, "board": board, "seconds": cell.seconds}
        for row in rows
        for board, cell in row.cells.items()
    ]


def text(rows: Sequence[ModelRow]) -> list[Part]:
    """For a terminal: the number of cells by board, and the causes."""
    numbers = [Column(status, right=True) for status in STATUSES]
    boards = Table([Column("board"), *numbers])
    for board, by_status in counts(rows).items():
        boards.add(board, *(f"{by_status[status]:,}" for status in STATUSES))
    reasons = Table(
        [
            *(Column("status"), Column("stage"), Column("cells", right=True), Column("cause")),
            Column("for example", shorten=True),
        ]
    )
    for cause in causes(rows):
        example = cause.cells[0][0]
        reasons.add(cause.status, cause.stage, f"{len(cause.cells):,}", cause.text, example)
    return [boards, "", reasons, ""] if reasons.rows else [boards, ""]


def markdown(rows: Sequence[ModelRow]) -> str:
    """The whole table as Markdown."""
    return "\n".join([*_head(rows), *_by_cause(rows), *_by_model(rows), ""])


def _head(rows: Sequence[ModelRow]) -> Iterator[str]:
    yield from (f"# The zoo of microgen {__version__}", "", f"{len(rows)} models")
    yield from ("", *_line("board", *STATUSES), *_rule(1, len(STATUSES)))
    for board, by_status in counts(rows).items():
        yield from _line(board, *(f"{by_status[status]:,}" for status in STATUSES))


def _by_cause(rows: Sequence[ModelRow]) -> Iterator[str]:
    groups = causes(rows)
    if not groups:
        return
    yield from ("", "## By cause", "")
    yield from (*_line("status", "stage", "cause", "models", "cells"), *_rule(4, 1))
    for cause in groups:
        models = list(dict.fromkeys(model for model, _ in cause.cells))
        more = f" and {len(models) - _SHOWN} more" if len(models) > _SHOWN else ""
        shown = f"{', '.join(models[:_SHOWN])}{more}"
        yield from _line(cause.status, cause.stage, cause.text, shown, f"{len(cause.cells):,}")


def _by_model(rows: Sequence[ModelRow]) -> Iterator[str]:
    numbers = ("flash", "RAM", "workspace", "instructions")
    yield from ("", "## By model", "")
    yield from (*_line("model", "board", "status", "cause", *numbers), *_rule(4, len(numbers)))
    for row in rows:
        for board, cell in row.cells.items():
            sizes = (cell.sizes.get(name) for name in ("flash", "ram", "workspace"))
            known = [*sizes, cell.instructions]
            shown = ["" if number is None else f"{number:,}" for number in known]
            yield from _line(row.entry.name, board, _status(cell), cell.cause, *shown)


def _status(cell: Cell) -> str:
    if cell.status != "ok":
        return f"{cell.status} ({cell.stage})"
    skipped = [name for name, status in cell.compared.items() if status == "n/a"]
    return f"ok (not compared: {', '.join(skipped)})" if skipped else "ok"


def _line(*cells: str) -> Iterator[str]:
    escaped = (_MARKDOWN.sub(r"\\\1", printable(cell)) for cell in cells)
    yield f"| {' | '.join(escaped)} |"


def _rule(texts: int, numbers: int) -> Iterator[str]:
    yield f"|{'---|' * texts}{'--:|' * numbers}"
