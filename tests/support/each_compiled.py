"""C compiled to objects one source at a time, so that ccache can keep them."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

# For ``-include``, if kernels are compiled without optimization.
NOT_INLINED = Path(__file__).with_name("not_inlined.h")
# The sanitizers see every access without optimization, and compiling takes a fraction of the time.
UNOPTIMIZED = ("-O0", f"--include={NOT_INLINED}")


def each_compiled(command: Sequence[str], sources: Sequence[Path], folder: Path) -> list[Path]:
    """The objects that a compiler, given with its options, makes in ``folder``.

    If ccache is installed, it returns what another test, or an earlier run of the tests, has
    compiled from the same text with the same options. Raises CalledProcessError with what the
    compiler said.
    """
    launcher = os.environ.get("CMAKE_C_COMPILER_LAUNCHER", "").split()
    listed = ["-MD"] if launcher else []  # then ccache need not preprocess
    made = [folder / f"{source.stem}.o" for source in sources]
    assert len({*made}) == len(made), "two sources have one name"
    for source, compiled in zip(sources, made, strict=True):
        last = (*listed, "-c", str(source), "-o", compiled.name)
        _run([*launcher, *command, *last], folder)
    return made


@functools.cache
def quick_linker() -> tuple[str, ...]:
    """The option for GNU gold if it is installed. Programs with sanitizers, whose libraries are
    large, are linked by it in a third of the time."""
    return ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        error.add_note(error.stderr)
        raise
