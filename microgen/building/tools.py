"""Every program that a command or a test runs, a way to tell that it works, and Debian's package.

``microgen doctor``, the hints of errors and the tests read ``TOOLS``. ``scripts/bootstrap.sh`` runs
this file by its path before any package is installed, so it uses only the standard library.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 20.0
# A compiler without its headers or libraries is only detected by using it.
_HOSTED = "#include <string.h>\nint main(int c, char **v) { return (int)strlen(v[0]) + c; }\n"
# 32-bit cores divide 64-bit numbers in libgcc, so this links only if libgcc is installed.
_BARE = "long long f(long long a, long long b);\n"
_BARE += "long long f(long long a, long long b) { return a / b; }\n"


@dataclass(frozen=True, slots=True)
class Tool:
    """A program, or a part of it that distributions package separately.

    ``package`` is Debian's name or names; ``{major}`` in it is the first number of the version of
    ``program``, which is called ``name`` unless stated. ``links`` are the options with which it has
    to link ``source``; without any it only has to start. ``also`` are programs that come with it.
    ``required``: generate, build, verify and run need it for Arm boards or ``native``.
    """

    name: str
    package: str
    needed_for: str
    required: bool = False
    program: str = ""
    links: tuple[str, ...] = ()
    source: str = _HOSTED
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolState:
    """A tool's version or "present". If it does not work, ``found`` is empty, and ``packages`` are
    the packages to install."""

    found: str
    packages: tuple[str, ...]


TOOLS = (
    Tool("cmake", "cmake", "build", required=True),
    Tool("ninja", "ninja-build", "build", required=True),
    Tool(
        "cc",
        "gcc libc6-dev",
        "build and run on board native; run --profile",
        required=True,
        links=("-lm",),
        also=("gcc",),
    ),
    Tool("objdump", "binutils", "verify, for board native", required=True, also=("ar", "nm")),
    Tool("arm-none-eabi-gcc", "gcc-arm-none-eabi", "build, for Arm boards", required=True),
    Tool(
        "newlib",
        "libnewlib-arm-none-eabi",
        "build, for Arm boards",
        required=True,
        program="arm-none-eabi-gcc",
        links=("-mcpu=cortex-m4", "-mthumb", "--specs=nosys.specs"),
    ),
    Tool(
        "arm-none-eabi-objdump",
        "binutils-arm-none-eabi",
        "verify, for Arm boards",
        required=True,
        also=("arm-none-eabi-nm", "arm-none-eabi-objcopy", "arm-none-eabi-size"),
    ),
    Tool("qemu-system-arm", "qemu-system-arm", "run, for Arm boards", required=True),
    Tool(
        "riscv64-unknown-elf-gcc",
        "gcc-riscv64-unknown-elf",
        "build, for RISC-V boards",
        links=("-march=rv32imac", "-mabi=ilp32", "-nostdlib", "-lgcc"),
        source=_BARE,
    ),
    Tool(
        "riscv64-unknown-elf-objdump",
        "binutils-riscv64-unknown-elf",
        "verify, for RISC-V boards",
        also=("riscv64-unknown-elf-nm",),
    ),
    Tool("qemu-system-riscv32", "qemu-system-misc", "run, for RISC-V boards"),
    Tool("gdbserver", "gdbserver", "run --compare on board native"),
    Tool(
        "clang",
        "clang",
        "build of generate --toolchain llvm; generate --emit llvm-ir",
        links=("-lm",),
    ),
    Tool("ld.lld", "lld", "build of generate --toolchain llvm"),
    Tool(
        "compiler-rt",
        "libclang-rt-{major}-dev",
        "run --sanitize of generate --toolchain llvm",
        program="clang",
        links=("-fsanitize=address,undefined",),
    ),
    Tool("llvm-objdump", "llvm", "tests of what verify reads from objdump"),
    Tool("g++", "g++", "tests of the headers in C++", links=("-lm",)),
    Tool("make", "make", "tests of exported components"),
    Tool("meson", "meson", "tests of exported components"),
    Tool("openocd", "openocd", "run --on openocd:CONFIG"),
    Tool("ccache", "ccache", "quicker tests"),
    Tool("git", "git", "west init; scripts/bare_machine.sh"),
)


def search_path() -> str:
    """The search path for programs: PATH, then the folder of this Python, because CMake and Ninja
    may come from a virtual environment that is not active."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))


def version_in(text: str) -> str:
    """The version in the output of ``--version``: the first word of the first line that starts with
    a digit and is not inside parentheses, where distributions put their own version."""
    line = re.sub(r"\(.*?\)", "", text.partition("\n")[0])
    match = re.search(r"(?<!\S)\d[\w.+-]*", line)
    return match[0] if match else "unknown version"


def packages_of(program: str) -> str:
    """Debian's packages for a program, or empty if the list does not have it. A compiler's packages
    include the packages of its library."""
    rows = [t for t in TOOLS if program in (t.name, t.program, *t.also) and "{" not in t.package]
    return " ".join(dict.fromkeys(word for tool in rows for word in tool.package.split()))


def named(name: str) -> Tool:
    """The row of ``TOOLS`` with this name. Raises KeyError."""
    return {tool.name: tool for tool in TOOLS}[name]


def state(tool: Tool) -> ToolState:
    """The state of the tool, found by using it. Raises nothing."""
    program = tool.program or tool.name
    printed = _run([program, "--version"])
    if printed is None:
        missing = packages_of(program) if "{" in tool.package else tool.package
        return ToolState("", tuple(missing.split()))
    version = version_in(printed)
    if tool.links and not _links(program, tool):
        return ToolState("", tuple(tool.package.format(major=version.partition(".")[0]).split()))
    return ToolState("present" if tool.program else version, ())


def states() -> dict[str, ToolState]:
    """The state of every tool by its name. Raises nothing."""
    # Threads are enough, because they only wait for the processes that they start.
    with ThreadPoolExecutor() as pool:
        return dict(zip((tool.name for tool in TOOLS), pool.map(state, TOOLS), strict=True))


def _links(program: str, tool: Tool) -> bool:
    with tempfile.TemporaryDirectory(prefix="microgen-") as folder:
        source = Path(folder) / "used.c"
        source.write_text(tool.source, encoding="ascii")
        made = _run([program, str(source), *tool.links, "-o", str(Path(folder) / "used")])
    return made is not None


def _run(command: list[str]) -> str | None:
    """A program's output, or None if it is missing, fails or takes too long."""
    program = shutil.which(command[0], path=search_path())
    try:
        done = subprocess.run(
            [program or "", *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env={**os.environ, "PATH": search_path(), "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def main() -> None:
    """Print a line per package to install: "required" or "extra", and its name."""
    found = states()
    for kind, required in (("required", True), ("extra", False)):
        rows = [tool for tool in TOOLS if tool.required == required]
        for package in dict.fromkeys(p for tool in rows for p in found[tool.name].packages):
            print(kind, package)


if __name__ == "__main__":
    main()
