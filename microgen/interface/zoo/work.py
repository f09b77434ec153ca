"""The work of a worker: it runs each cell in a process of its own, with a time limit.

A cell that crashes, hangs or takes all memory therefore ends no worker. If a worker is killed, its
cells' processes end with it.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from microgen.base.formats.structuring import structure
from microgen.building import guard, toolchain
from microgen.interface.zoo import identity
from microgen.interface.zoo.results import RESULT, STAGE, TASK, Cell, Stage, failed
from microgen.version import __version__

_PROGRAM = "microgen.interface.zoo.stages"  # a name, because the module imports everything
_ATTEMPTS = 3  # if others end the process, for example because memory is short
_BY_OTHERS = tuple(
    -getattr(signal, name) for name in ("SIGKILL", "SIGTERM") if hasattr(signal, name)
)
# One thread for each cell, because the cells of all workers share the cores.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}

_ended: dict[str, threading.Event] = {}


@dataclass(frozen=True, slots=True)
class Task:
    """A cell to work on. ``run`` names the command's run, and ``microgen`` is ``identity.own()``.
    ``files`` are the contents of the model's files by name, the model itself first. ``options`` are
    keywords of ``generate``."""

    run: str
    microgen: str
    files: Mapping[str, bytes]
    board: str
    options: Mapping[str, Any]
    limit: float


@dataclass(frozen=True, slots=True)
class Done:
    """A cell, and whether another run would give the same result. ``refusal`` says why this worker
    cannot work at all; ``hint`` is the fix."""

    cell: Cell
    is_lasting: bool = True
    refusal: str = ""
    hint: str = ""


def done(task: Task) -> dict[str, Any]:
    """Work on a cell; the result is a ``Done`` as plain data."""
    if task.microgen != identity.own():
        return asdict(
            Done(
                failed("generate", "is not known"),
                refusal=f"a worker has another microgen ({__version__}, or with other files)",
                hint="install the same microgen on every worker",
            )
        )
    start = time.monotonic()
    result = _tried(task)
    seconds = round(time.monotonic() - start, 3)
    return asdict(replace(result, cell=replace(result.cell, seconds=seconds)))


def _tried(task: Task) -> Done:
    # Memory may suffice the next time, when other cells have ended.
    for _ in range(_ATTEMPTS):
        result = _attempt(task)
        if result is not None:
            return result
    return Done(failed("run", f"its process was killed {_ATTEMPTS} times"), is_lasting=False)


def _attempt(task: Task) -> Done | None:
    """The cell; None if another process ended the cell's process."""
    stop = _ended.setdefault(task.run, threading.Event())
    with guard.scratch() as folder:
        _write(task, folder)
        finished = toolchain.run(
            [sys.executable, "-m", _PROGRAM, str(folder)],
            seconds=task.limit,
            cwd=folder,
            env=_ENVIRONMENT,
            stop=stop,
        )
        if stop.is_set():
            return Done(failed("run", "the run was ended"), is_lasting=False)
        return _result(finished.status, task, folder)


def _write(task: Task, folder: Path) -> None:
    for name, data in task.files.items():
        (folder / name).write_bytes(data)
    asked = {"model": next(iter(task.files)), "board": task.board, "options": dict(task.options)}
    (folder / TASK).write_text(json.dumps(asked), encoding="ascii")


def _result(status: int | None, task: Task, folder: Path) -> Done | None:
    with contextlib.suppress(OSError, ValueError):
        return structure(json.loads((folder / RESULT).read_bytes()), Done)
    # Not at the time limit, whose status is None.
    if status in _BY_OTHERS:
        return None
    stage: Stage = "generate"
    with contextlib.suppress(OSError):
        stage = cast("Stage", (folder / STAGE).read_text(encoding="ascii"))
    if status is None:
        return Done(failed(stage, f"did not end within {task.limit:g} s", limit=task.limit))
    how = f"signal {-status}" if status < 0 else f"exit code {status}"
    return Done(failed(stage, f"microgen itself ended with {how}"))


async def end(run: str) -> None:
    """End all cells of a run on this worker."""
    _ended.setdefault(run, threading.Event()).set()


def dask_setup(_worker: object) -> None:
    """Ignore Ctrl-C, which a terminal sends to every process: the command ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
