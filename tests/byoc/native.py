"""Firmware of several models and codegens as one program for the host, with sanitizers.

Each model is a translation unit. The runtimes are compiled once for all programs of a process.
"""

from __future__ import annotations

from pathlib import Path

from microgen.project.firmware.compiled import Firmware
from tests.differential import program
from tests.support import runtimes

_FLAGS = ("-std=c99", "-O0", *program.SANITIZERS)
_HOST = "model/codegen/host/src"
_INCLUDED = ("crt/include", "crt/src", _HOST, "model/codegen/host/include")


def _unit(module: str, folder: Path) -> str:
    """The sources of a model without the loaders, which all models share."""
    own = sorted(path.name for path in (folder / "p" / _HOST).glob(f"{module}_*.c"))
    lines = [f'#include "{name}"\n' for name in own if not name.endswith("_loaders.c")]
    (folder / f"{module}.c").write_text("".join(lines))
    return f"{module}.c"


def built(firmware: Firmware, folder: Path, samples: int = 1) -> program.Program:
    """The program, whose sources are in ``folder``. Raises ProgramError."""
    firmware.files.write_to(folder / "p", force=True)
    units = [_unit(compiled.program.module, folder) for compiled in firmware.models]
    others = [*(folder / "p" / _HOST).glob("*_loaders.c"), *(folder / "p" / _HOST).glob("*.S")]
    words = [*_FLAGS, *(f"-Ip/{part}" for part in _INCLUDED), *units, *map(str, sorted(others))]
    return program.linked(firmware.models, folder, samples, [*words, str(runtimes.archive())])
