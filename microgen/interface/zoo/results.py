"""A cell of the table: one model on one board, and the stage that it reached."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from microgen.base.errors import ProjectError, cut, one_line
from microgen.base.files import write_whole
from microgen.base.formats.structuring import structure

Status: TypeAlias = Literal["ok", "refused", "failed"]
Stage: TypeAlias = Literal["read", "generate", "build", "verify", "run", "compare"]
STATUSES: tuple[Status, ...] = get_args(Status)
_FOLDER = "cells"

# The files of a cell's own process: see ``stages``.
TASK = "task.json"
STAGE = "stage.txt"
RESULT = "result.json"


@dataclass(frozen=True, slots=True)
class Cell:
    """The result of one model on one board.

    ``stage`` is the stage at which the cell ended, which is the last stage if the cell is ok.
    ``cause`` is one line without paths, and ``hint`` is the advice. ``sizes`` are bytes by name.
    ``instructions`` are the instructions of the first sample, or None if nothing counted them.
    ``compared`` is the verdict by the name of its source. ``lacking`` names the packages that are
    not installed. ``limit`` is the time limit in seconds if the cell ended at it, otherwise 0.
    ``seconds`` is the time that the cell took.
    """

    status: Status
    stage: Stage
    cause: str = ""
    hint: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    instructions: int | None = None
    compared: Mapping[str, Literal["ok", "failed", "n/a"]] = field(default_factory=dict)
    lacking: str = ""
    limit: float = 0.0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data without the seconds, which differ from run to run."""
        hidden = ("seconds", "limit")
        return {name: value for name, value in asdict(self).items() if name not in hidden}


def failed(stage: Stage, cause: str, hint: str = "", **more: Any) -> Cell:
    """A failed cell."""
    return Cell("failed", stage, one_line(cut(cause)), one_line(cut(hint)), **more)


@dataclass(frozen=True, slots=True)
class Store:
    """Finished cells in the output directory, a file for each, written as they come."""

    root: Path

    def open(self) -> None:
        """Make the directory. Raises ProjectError if the directory has foreign files, or if the
        file system refuses."""
        try:
            if self.root.exists() and not self._folder.is_dir():
                foreign = next((entry.name for entry in self.root.iterdir()), "")
                if foreign:
                    raise ProjectError(
                        f"contains {foreign!r} and no results of `microgen zoo`",
                        where=str(self.root),
                        hint="choose another -o",
                    )
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProjectError(
                f"cannot write there: {error.strerror}",
                where=str(self.root),
                hint="choose another -o",
            ) from error

    def get(self, key: str, limit: float) -> Cell | None:
        """The cell of a key. None if there is no valid cell, or if the cell ended at a time limit
        that was below ``limit``."""
        # A damaged file is treated as missing, so the cell is computed again.
        with contextlib.suppress(OSError, ValueError, RecursionError):
            cell = structure(json.loads((self._folder / f"{key}.json").read_bytes()), Cell)
            # More time may end in another result.
            return None if cell.limit and cell.limit < limit else cell
        return None

    def put(self, key: str, cell: Cell) -> None:
        """Write a cell, completely or not at all."""
        self.write(f"{_FOLDER}/{key}.json", asdict(cell))

    def write(self, name: str, data: Any) -> None:
        """Write plain data as JSON in ASCII."""
        # Sorted, so that equal results give equal bytes.
        text = json.dumps(data, indent=2, sort_keys=True)
        self.write_text(name, f"{text}\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a file, completely or not at all. Raises ProjectError."""
        try:
            write_whole(self.root / name, text.encode())
        except OSError as error:
            raise ProjectError(
                f"cannot be written: {error.strerror}", where=str(self.root / name)
            ) from error

    @property
    def _folder(self) -> Path:
        return self.root / _FOLDER
