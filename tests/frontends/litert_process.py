"""LiteRT in a process of its own, because mutated models may crash it.

``python -m tests.frontends.litert_process FOLDER FIRST`` computes the models ``FOLDER/<n>.tflite``
from FIRST on, each with the samples in ``<n>.npz``, and writes the outputs to ``<n>.out.npz``. It
writes none for a model that LiteRT refuses, and ``<n>.begun`` before each model.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Array
from tests.kernels.conformance.litert_oracle import interpreter_of

_SECONDS = 600.0
Sequences = list[list[Array]]  # by sample, by port


def outputs(cases: Sequence[tuple[bytes, Sequences]], folder: Path) -> list[Sequences | None]:
    """The outputs of each model for its samples; None if LiteRT refuses it or crashes."""
    for i, (model, samples) in enumerate(cases):
        (folder / f"{i}.tflite").write_bytes(model)
        _write(folder / f"{i}.npz", samples)
    first = 0
    while first < len(cases):
        command = [sys.executable, "-m", __name__, str(folder), str(first)]
        subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        begun = [int(path.stem) for path in folder.glob("*.begun")]
        assert begun, "LiteRT's process does not start"
        first = max(begun) + 1  # the model after the one that ended the process
    return [_read(folder / f"{i}.out.npz") for i in range(len(cases))]


def _write(path: Path, samples: Sequences) -> None:
    arrays = {f"{i}.{j}": a for i, row in enumerate(samples) for j, a in enumerate(row)}
    np.savez(path, **arrays)  # type: ignore[arg-type]


def _read(path: Path) -> Sequences | None:
    if not path.exists():
        return None
    found: Sequences = []
    with np.load(path) as arrays:
        for name, array in arrays.items():
            sample = int(name.partition(".")[0])
            while len(found) <= sample:
                found.append([])
            found[sample].append(array)
    return found


def _computed(model: bytes, samples: Sequences) -> Sequences:
    interpreter = interpreter_of(model)
    found: Sequences = []
    for row in samples:
        for detail, array in zip(interpreter.get_input_details(), row, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        details = interpreter.get_output_details()
        found.append([interpreter.get_tensor(detail["index"]) for detail in details])
    return found


def _main(folder: Path, first: int) -> None:
    for i in range(first, len(list(folder.glob("*.tflite")))):
        (folder / f"{i}.begun").touch()
        samples = _read(folder / f"{i}.npz")
        assert samples is not None
        try:
            found = _computed((folder / f"{i}.tflite").read_bytes(), samples)
        except (RuntimeError, ValueError):
            continue
        _write(folder / f"{i}.out.npz", found)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
