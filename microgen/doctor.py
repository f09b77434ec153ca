"""What of all that microgen uses is installed, what it is for, and what to type when missing."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from dataclasses import dataclass

from microgen import toolchain
from microgen.errors import ToolError

_SECONDS = 10.0

_PACKAGES = (
    ("numpy", "every command"),
    ("cattrs", "every command"),
    ("jinja2", "generate"),
    ("pyelftools", "verify"),
    ("pyyaml", "boards"),
    ("rich", "tables and progress on a terminal"),
    ("tflite", "reading .tflite models"),
    ("ai-edge-litert", "comparing with LiteRT (optional)"),
    ("scikit-learn", "examples/digits (optional)"),
)

_TOOLS = (
    ("cmake", "build"),
    ("ninja", "build"),
    ("arm-none-eabi-gcc", "build, for Arm boards"),
    ("qemu-system-arm", "run, for Arm boards"),
    ("riscv64-unknown-elf-gcc", "build, for RISC-V boards (optional)"),
    ("qemu-system-riscv32", "run, for RISC-V boards (optional)"),
    ("clang", "build of generate --toolchain llvm; generate --emit llvm-ir (optional)"),
    ("ld.lld", "build of generate --toolchain llvm (optional)"),
    ("cc", "build and run on board native; run --profile"),
    ("gdbserver", "run --compare on board native (optional)"),
)


@dataclass(frozen=True, slots=True)
class ToolStatus:
    """One package or program.

    ``found`` is its version, empty if it is missing or does not start; ``install`` is what to
    type then, empty otherwise.
    """

    name: str
    found: str
    needed_for: str
    install: str


def doctor() -> tuple[ToolStatus, ...]:
    """The state of this machine: Python, its packages, then programs. Raises nothing."""
    return (
        ToolStatus("python", platform.python_version(), "every command", ""),
        *(_package(name, needed_for) for name, needed_for in _PACKAGES),
        *(_program(name, needed_for) for name, needed_for in _TOOLS),
        _newlib(),
    )


def version_in(text: str) -> str:
    """The version in what a program prints for ``--version``: the first word of the first line
    that starts with a digit and is not inside parentheses, where distributions put their own."""
    line = re.sub(r"\(.*?\)", "", text.partition("\n")[0])
    match = re.search(r"(?<!\S)\d[\w.+-]*", line)
    return match[0] if match else "unknown version"


def _package(name: str, needed_for: str) -> ToolStatus:
    try:
        return ToolStatus(name, importlib.metadata.version(name), needed_for, "")
    except importlib.metadata.PackageNotFoundError:
        return ToolStatus(name, "", needed_for, f"pip install {name}")


def _program(name: str, needed_for: str) -> ToolStatus:
    try:
        finished = toolchain.run([name, "--version"], seconds=_SECONDS)
    except ToolError as error:
        return ToolStatus(name, "", needed_for, error.hint or error.what)
    if not finished.ok:
        return ToolStatus(name, "", needed_for, f"reinstall it: `{name} --version` fails")
    return ToolStatus(name, version_in(finished.output), needed_for, "")


def _newlib() -> ToolStatus:
    """The C library's headers and archives, which Debian packages apart from the compiler."""
    needed_for = "build, for Arm boards"
    try:
        finished = toolchain.run(["arm-none-eabi-gcc", "-print-file-name=libc.a"], seconds=_SECONDS)
        # GCC prints the bare name back when there is no such file.
        present = finished.ok and "/" in finished.output
    except ToolError:
        present = False
    if present:
        return ToolStatus("newlib", "present", needed_for, "")
    return ToolStatus("newlib", "", needed_for, "apt-get install libnewlib-arm-none-eabi")
