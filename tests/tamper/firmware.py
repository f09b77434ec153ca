"""Firmware of a small network for the tamper suite, built once for each board."""

from __future__ import annotations

import atexit
import functools
import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import microgen
from microgen import verifier
from microgen.base.errors import ProjectError
from tests.support.places import DIGITS, SMALL
from tests.tamper.tampers import UNREADABLE

BOARDS = ("mps2_an385", "mps3_an547", "qemu_riscv32")


@functools.cache
def firmware(board: str, toolchain: str = "gcc") -> Path:
    """A built project: read it only. Its main has initialised data, which start-up code copies."""
    folder = Path(tempfile.mkdtemp(prefix="microgen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    project = folder / "project"
    # Enough stack for any optimization: with -O3, code takes more than what is expected of -O2.
    microgen.generate(DIGITS, board, project, toolchain=toolchain, stack=4096)
    main = project / "src" / "main.c"
    text, count = re.subn(
        r"int main\(void\)\n\{\n((?:    \w+ \w+(?: = 0)?;\n)+)",
        "static volatile int32_t tuned[8] = {3, 1};\n\nint main(void)\n{\n\\1\n    tuned[1]++;\n",
        main.read_text(),
    )
    assert count == 1
    main.write_text(text)
    microgen.build(project)
    return project


@functools.cache
def two_models(board: str) -> Path:
    """A built project of one network twice, which share their workspace: read it only."""
    folder = Path(tempfile.mkdtemp(prefix="microgen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    models = [(SMALL, "first"), (SMALL, "second")]
    microgen.generate_models(models, board, folder / "project", shared_workspace=True)
    microgen.build(folder / "project")
    return folder / "project"


def failed(project: Path, elf: Path, *checks: str) -> list[str]:
    """Which of these checks fail for an ELF file; without names, which of all."""
    try:
        if not checks:
            report = verifier.verify(project, elf=elf, project_files=False)
            return [check.name for check in report.failed]
        subject = replace(verifier._subject(project, elf), with_project_files=False)
        known = [name for name in checks if name != UNREADABLE]
        found = {name: verifier._run(verifier.CHECKS[name], subject) for name in known}
        return [name for name, check in found.items() if check.status == "failed"]
    except ProjectError:
        return [UNREADABLE]


def rebuilt(project: Path, folder: Path, level: str) -> Path:
    """The ELF file of the same sources with another optimisation."""
    copy = folder / "rebuilt"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("build"))
    flags = [f"-DMICROGEN_MODEL_OPTIMIZATION={level}", f"-DMICROGEN_RUNTIME_OPTIMIZATION={level}"]
    configure = ["cmake", "-S", str(copy), "-B", str(copy / "build"), "-G", "Ninja", *flags]
    for command in (configure, ["ninja", "-C", str(copy / "build")]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return copy / "build" / "firmware.elf"
