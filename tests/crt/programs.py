"""Test programs for the host that share sources with other programs."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from microgen import resources
from tests.ops.conformance import WARNINGS, host_cc

CRT = resources.folder("crt")
INCLUDES = (f"-I{CRT / 'include'}", f"-I{CRT / 'src'}")


def objects(command: Sequence[str], sources: Sequence[Path], folder: Path) -> list[Path]:
    """The objects that a compiler, given with its options, makes in ``folder``.

    Each source is compiled by itself. If ccache is installed, it can return an object that another
    test, or an earlier run of the tests, has made.
    """
    launcher = os.environ.get("CMAKE_C_COMPILER_LAUNCHER", "").split()
    made = [folder / f"{source.stem}.o" for source in sources]
    for source, compiled in zip(sources, made, strict=True):
        last = ("-c", str(source), "-o", str(compiled))
        subprocess.run([*launcher, *command, *last], cwd=folder, check=True)
    return made


def linked(
    binary: Path, sources: Sequence[Path], options: Sequence[str], compiler: str = ""
) -> Path:
    """The program of these sources, without its objects."""
    compiler = compiler or host_cc()
    with tempfile.TemporaryDirectory(dir=binary.parent) as folder:
        flags = (compiler, *WARNINGS, *options, *INCLUDES)
        made = objects(flags, sources, Path(folder))
        subprocess.run([compiler, *options, *made, "-o", binary], check=True)
    return binary
