"""Every runtime of modules and the loader, compiled once for all tests of a process."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

from microgen.base import resources
from microgen.project.firmware import crt_files
from tests.support.each_compiled import each_compiled

CRT = resources.folder("crt")
_FLAGS = ("-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def archive() -> Path:
    """A library to be linked after its callers."""
    return Path(_compiled().name) / "runtimes.a"


@functools.cache
def _compiled() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory()
    headers = sorted(path.relative_to(CRT / "src") for path in CRT.glob("src/*/runtime_*.h"))
    text = "".join(f'#include "{name}"\n' for name in headers)
    sources = [CRT / n for n in sorted(crt_files.closure([text.encode()])) if n[-2:] == ".c"]
    command = ("cc", *_FLAGS, f"-I{CRT}/include", f"-I{CRT}/src")
    made = each_compiled(command, sources, Path(folder.name))
    objects = sorted(path.name for path in made)
    subprocess.run(["ar", "cr", "runtimes.a", *objects], check=True, cwd=folder.name)
    return folder
