"""Test programs for the host that share sources with other programs."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from microgen.base import resources
from tests.kernels.conformance.conformance import WARNINGS, host_cc
from tests.support.each_compiled import each_compiled, quick_linker

CRT = resources.folder("crt")
INCLUDES = (f"-I{CRT / 'include'}", f"-I{CRT / 'src'}")


def linked(
    binary: Path, sources: Sequence[Path], options: Sequence[str], compiler: str = ""
) -> Path:
    """The program of these sources, without its objects."""
    compiler = compiler or host_cc()
    with tempfile.TemporaryDirectory(dir=binary.parent) as folder:
        flags = (compiler, *WARNINGS, *options, *INCLUDES)
        made = each_compiled(flags, sources, Path(folder))
        subprocess.run([compiler, *options, *quick_linker(), *made, "-o", binary], check=True)
    return binary
