"""Kernels whose out-of-line forms several models call, each once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from microgen.planner.program.types import Program
from microgen.project.firmware import crt_files


def written(programs: Iterable[Program], folder: Path) -> list[Path]:
    """Writes a source for each kernel, and returns their paths. A project has one source for all
    kernels of a header, which is another for other models; these are always the same."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for kernel in sorted({kernel for program in programs for kernel in program.shared_kernels}):
        ((_, text),) = crt_files.kernel_sources([kernel]).items()
        path = folder / f"{kernel.symbol}.c"
        path.write_text(text)
        made.append(path)
    return made
