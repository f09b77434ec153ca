"""Firmware of several models and codegens as one program for the host, with sanitizers.

A translation unit for each model; the runtimes are compiled once for all programs of a process.
"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from microgen import project, resources
from microgen.compiled import Firmware
from tests.differential import program

_FLAGS = ("-std=c99", "-O0", *program.SANITIZERS)
CRT = resources.folder("crt")
_HOST = "model/codegen/host/src"


@functools.cache
def _runtimes() -> tempfile.TemporaryDirectory[str]:
    """Every runtime with the loader, in ``runtimes.a``."""
    folder = tempfile.TemporaryDirectory()
    headers = sorted(path.name for path in (CRT / "src").glob("runtime_*.h"))
    text = "".join(f'#include "{name}"\n' for name in headers)
    sources = [CRT / n for n in sorted(project._closure([text.encode()], ())) if n[-2:] == ".c"]
    command = ["cc", *_FLAGS, f"-I{CRT}/include", f"-I{CRT}/src", "-c"]
    subprocess.run([*command, *map(str, sources)], check=True, cwd=folder.name)
    objects = sorted(path.name for path in Path(folder.name).glob("*.o"))
    subprocess.run(["ar", "cr", "runtimes.a", *objects], check=True, cwd=folder.name)
    return folder


def _unit(module: str, folder: Path) -> str:
    """The sources of a model, but for the loaders, which all models share."""
    own = sorted(path.name for path in (folder / "p" / _HOST).glob(f"{module}_*.c"))
    lines = [f'#include "{name}"\n' for name in own if not name.endswith("_loaders.c")]
    (folder / f"{module}.c").write_text("".join(lines))
    return f"{module}.c"


def built(firmware: Firmware, folder: Path, samples: int = 1) -> program.Program:
    """The program; its sources are in ``folder``. ProgramError."""
    firmware.files.write_to(folder / "p", force=True)
    units = [_unit(compiled.program.module, folder) for compiled in firmware.models]
    others = [*(folder / "p" / _HOST).glob("*_loaders.c"), *(folder / "p" / _HOST).glob("*.s")]
    parts: Sequence[str] = ("crt/include", "crt/src", _HOST, "model/codegen/host/include")
    words = [*_FLAGS, *(f"-Ip/{part}" for part in parts), *units, *map(str, sorted(others))]
    words.append(f"{_runtimes().name}/runtimes.a")
    return program.linked(firmware.models, folder, samples, words)
