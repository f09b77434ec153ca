"""Skips tests that need a missing program, and names the package to install."""

from __future__ import annotations

import functools
import platform

import pytest

from microgen.base.errors import ToolError
from microgen.building import tools


@functools.cache
def _packages() -> dict[str, str]:
    """The packages to install for each tool that does not work on this machine."""
    return {name: " ".join(s.packages) for name, s in tools.states().items() if not s.found}


def needs(*names: str) -> pytest.MarkDecorator:
    """A mark that skips the test unless all of these tools of ``tools.TOOLS`` work."""
    missing = [name for name in map(_row, names) if name in _packages()]
    return pytest.mark.skipif(bool(missing), reason=_reason(missing))


def skip_without(name: str) -> None:
    """Skips the running test unless the tool works."""
    if _row(name) in _packages():
        pytest.skip(_reason([_row(name)]))


def skip_if_caused(error: ToolError | FileNotFoundError) -> None:
    """Skips the running test if a tool that is missing here caused this error."""
    said = error.filename if isinstance(error, FileNotFoundError) else str(error)
    missing = [name for name in _packages() if name in str(said).split()]
    if missing:
        pytest.skip(_reason(missing))


def _row(program: str) -> str:
    """The name of the program's row in the list. A program without a row is an error."""
    return next(tool.name for tool in tools.TOOLS if program in (tool.name, *tool.also))


def _reason(missing: list[str]) -> str:
    packages = dict.fromkeys(_packages()[name] for name in missing)
    return f"{', '.join(missing)} missing: apt-get install {' '.join(packages)}"


NEEDS_CC = needs("cc")
NEEDS_CXX = needs("g++")
NEEDS_OPENOCD = needs("openocd")
NEEDS_NINJA = needs("cmake", "ninja", "cc")
NEEDS_ARM_GCC = needs("arm-none-eabi-gcc", "newlib")
NEEDS_ARM = needs("arm-none-eabi-gcc", "newlib", "qemu-system-arm")
NEEDS_RISCV_GCC = needs("riscv64-unknown-elf-gcc")
NEEDS_RISCV = needs("riscv64-unknown-elf-gcc", "qemu-system-riscv32")
NEEDS_CLANG = needs("clang")
NEEDS_LLVM = needs("clang", "ld.lld")
NEEDS_CLANG_SANITIZERS = needs("clang", "ld.lld", "compiler-rt")
NEEDS_GDBSERVER = (
    needs("cc", "gdbserver")
    if platform.machine() == "x86_64"
    else pytest.mark.skip(reason="only x86-64 hosts can read layers under gdbserver")
)
