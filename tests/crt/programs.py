"""Test programs for the host that share sources with other programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from microgen import resources
from tests.ops.conformance import WARNINGS, host_cc

CRT = resources.folder("crt")
INCLUDES = (f"-I{CRT / 'include'}", f"-I{CRT / 'src'}")


def linked(
    binary: Path, sources: Sequence[Path], options: Sequence[str], compiler: str = ""
) -> Path:
    """The program of these sources.

    Each source is compiled by itself. If ccache is installed, it can return an object that another
    test has made.
    """
    compiler = compiler or host_cc()
    launcher = os.environ.get("CMAKE_C_COMPILER_LAUNCHER", "").split()
    objects = [binary.with_name(f"{binary.name}_{source.stem}.o") for source in sources]
    for source, compiled in zip(sources, objects, strict=True):
        flags = (*WARNINGS, *options, *INCLUDES)
        command = [*launcher, compiler, *flags, "-c", str(source), "-o", str(compiled)]
        subprocess.run(command, check=True)
    subprocess.run([compiler, *options, *objects, "-o", binary], check=True)
    return binary
