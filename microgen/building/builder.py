"""Builds a generated project with CMake and Ninja; a failure is an error of one line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from microgen.base import manifest
from microgen.base.errors import BoardError, BuildError, CapacityError
from microgen.base.files import check_buildable
from microgen.base.manifest import Manifest
from microgen.building import toolchain
from microgen.target import projects
from microgen.target.board import Board

BUILD = "build"
BUILD_SANITIZED = "build-sanitize"
_BUILT_FROM = "built_from"  # in a build folder: the digest of the files that were built there

# Far longer than any model's build (under 20 s): it only bounds hangs.
_SECONDS = 600.0
_SHOWN_ERRORS = 4
_SHOWN_CONTRIBUTORS = 5

# The messages of GNU ld and lld: one line for every section that no longer fits.
_OVERFLOW = re.compile(r"region [`'](\w+)':? overflowed by (\d+) bytes?")
_ERROR = re.compile(
    # Not collect2's line, which says only that ld returned 1.
    r"CMake Error|(?!collect2)"
    r".*(?:\berror:|undefined reference|multiple definition|cannot find|No space left)"
)
_WARNING = re.compile(r".*\bwarning:")  # from the linker, if warnings are fatal
# nm -S: address, size, kind, name.
_SYMBOL = re.compile(r"^[0-9a-f]+ ([0-9a-f]+) ([a-zA-Z]) (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The firmware, the linker's map, and the output of the tools."""

    elf: Path
    map: Path
    log: str


def is_built(project: Path) -> bool:
    """Whether the project has an ELF, however old."""
    return (project / BUILD / "firmware.elf").is_file()


def up_to_date(project: Path, *, sanitize: bool = False) -> Path | None:
    """The project's ELF; None if there is none or it is older than one of the project's files."""
    elf = project / (BUILD_SANITIZED if sanitize else BUILD) / "firmware.elf"
    files = (project / name for name in manifest.load(project).files)
    return elf if elf.is_file() and not any(_is_newer(file, elf) for file in files) else None


def _is_newer(file: Path, than: Path) -> bool:
    return file.is_file() and file.stat().st_mtime_ns > than.stat().st_mtime_ns


def build(
    project: Path,
    *,
    sanitize: bool = False,
    anew: bool = False,
    settings: Mapping[str, str] | None = None,
) -> BuildResult:
    """Build the project into ``project/build``, or with sanitizers (the host only) into
    ``project/build-sanitize``. Object files that were built from other files than the project's are
    not used again, even if their times are newer; with ``anew``, no object file is used again.
    ``settings`` are variables of its ``CMakeLists.txt``.

    Raises ProjectError if it is not a project, BoardError if another build system makes the
    board's firmware, ToolError if a tool is missing, CapacityError if the linker finds that a
    memory is too small, BuildError if anything else fails.
    """
    project = project.resolve()
    record = manifest.load(project)
    check_buildable(project)
    board = projects.of_project(record.board)
    check_is_built_here(board)
    if sanitize and not board.is_host:
        raise BuildError(f"sanitizers run on the host only, not on {board.name}")
    _check_tools(board, record.options.get("toolchain", "gcc"))
    toolchain.check_core(board, record.options.get("toolchain", "gcc"))
    folder = project / (BUILD_SANITIZED if sanitize else BUILD)
    _forget_other_cache(project, folder)
    definitions = [f"-D{name}={value}" for name, value in (settings or {}).items()]
    command = [*_configure(project, folder, sanitize), *definitions]
    log = _run(command, project, folder, board)
    if anew or not _is_folder_of(record, folder):
        # Ninja compares only times, which are meaningless for object files of a project that was
        # replaced.
        log += _run(["ninja", "-C", folder, "-t", "clean"], project, folder, board)
    # Written before Ninja runs, because an interrupted build leaves object files of these sources.
    (folder / _BUILT_FROM).write_text(record.built_from, errors="replace")
    log += _run(["ninja", "-C", folder], project, folder, board)
    return BuildResult(folder / "firmware.elf", folder / "firmware.map", log)


def check_is_built_here(board: Board) -> None:
    """Raise BoardError if the board's firmware is made by a framework that starts it."""
    if board.component:
        raise BoardError(
            f"{board.component} makes the firmware of {board.name}, and the model is a component "
            "of it",
            hint=f"microgen export DIR --as {board.component} -o OUT, build it there, and "
            "`microgen verify DIR --elf FILE --scope model`",
        )


def disassemble(elf: Path, board: Board) -> str:
    """The ELF's code as ``objdump -d`` prints it, with encodings and without omitting zeros.

    Raises ToolError without objdump, BuildError if it refuses the file.
    """
    flags = ("-d", "--disassemble-zeroes", *board.cpu.objdump_flags)
    path = elf.resolve()  # an absolute path is never mistaken for an option
    finished = toolchain.run([f"{board.toolchain}objdump", *flags, path], seconds=_SECONDS)
    if not finished.ok:
        raise BuildError(f"cannot be disassembled: {finished.output}", where=str(elf))
    return finished.output


def _check_tools(board: Board, kind: str) -> None:
    """Raise ToolError if a tool is missing. LLVM's cross builds also need GCC, for libgcc."""
    own = [f"{board.toolchain}gcc"] if board.toolchain else []
    compilers = ["clang", "ld.lld", *own] if kind == "llvm" else own or ["cc"]
    for program in ("cmake", "ninja", *compilers):
        toolchain.find(program)


def _configure(project: Path, folder: Path, sanitize: bool) -> list[str | Path]:
    return [
        "cmake",
        *("-S", project, "-B", folder, "-G", "Ninja"),
        f"-DCMAKE_MAKE_PROGRAM={toolchain.find('ninja')}",
        # Otherwise variables of Zephyr in the environment would make CMakeLists.txt build for
        # Zephyr.
        "-DMICROGEN_ZEPHYR=OFF",
        *(["-DMICROGEN_SANITIZE=ON"] if sanitize else []),
    ]


def _forget_other_cache(project: Path, folder: Path) -> None:
    """Remove CMake's cache if it is for another source directory, or Zephyr's, made by west: CMake
    would refuse it. So a project that was copied or renamed, or built by west, starts afresh."""
    cache = folder / "CMakeCache.txt"
    if not cache.is_file():
        return
    text = cache.read_text(encoding="utf-8", errors="replace")
    home = f"CMAKE_HOME_DIRECTORY:INTERNAL={project}\n"
    if home not in text or "\nWEST_PYTHON:" in text:
        shutil.rmtree(folder)


def _is_folder_of(record: Manifest, folder: Path) -> bool:
    """Whether the object files in a build folder, if there are any, are of the project's files."""
    try:
        return (folder / _BUILT_FROM).read_text(errors="replace") == record.built_from
    except OSError:
        return False


def _run(command: list[str | Path], project: Path, folder: Path, board: Board) -> str:
    finished = toolchain.run(command, seconds=_SECONDS)
    if finished.ok:
        return finished.output
    if finished.status is None:
        raise BuildError(f"{command[0]} did not end within {_SECONDS:.0f} s", where=str(project))
    overflow = _overflow(finished.output)
    if overflow:
        raise _capacity_error(project, folder, board, overflow)
    raise BuildError(
        f"{command[0]} failed: {_essence(finished.output, project)}",
        where=str(project),
        hint=f"all it says: ninja -C {folder}",
    )


def _essence(output: str, project: Path) -> str:
    """The first lines with errors, with paths relative to the project."""
    lines = [line.strip() for line in output.splitlines()]
    errors = [line for line in lines if _ERROR.match(line)]
    errors = errors or [line for line in lines if _WARNING.match(line)]
    errors = errors or [line for line in lines if line][-1:]
    return " | ".join(errors[:_SHOWN_ERRORS]).replace(f"{project}/", "")


def _overflow(output: str) -> dict[str, int]:
    """Region -> the number of bytes that it lacks: the largest that the linker reports."""
    found: dict[str, int] = {}
    for region, excess in _OVERFLOW.findall(output):
        found[region] = max(found.get(region, 0), int(excess))
    return found


def _capacity_error(
    project: Path, folder: Path, board: Board, overflow: dict[str, int]
) -> CapacityError:
    """The error with the bytes that each region lacks, its largest symbols, and advice."""
    sizes = _symbol_sizes(folder, board)
    parts = []
    for region, excess in overflow.items():
        there = board.memory(region).length
        largest = ", ".join(f"{name} {size}" for size, name in _contributors(sizes, board, region))
        parts.append(
            f"{region} of {board.name} needs {there + excess} bytes and has {there} "
            f"(largest: {largest})"
        )
    return CapacityError(
        "; ".join(parts),
        where=str(project),
        hint=_advice(set(overflow), board),
    )


def _advice(regions: set[str], board: Board) -> str:
    help_for = {
        board.constants: "a model with fewer weights",
        board.flash: "a model with fewer weights",
        board.ram: "a smaller input or fewer channels in the widest layers",
    }
    return " and ".join(sorted(help_for[r] for r in regions)) + " would help, or a larger board"


def _contributors(
    sizes: list[tuple[int, str, str]], board: Board, region: str
) -> list[tuple[int, str]]:
    """(bytes, symbol), largest first. nm's kinds b and d are in RAM, all others in flash."""
    in_ram = region == board.ram
    found = {(size, name) for size, kind, name in sizes if (kind.lower() in "bd") == in_ram}
    if in_ram:
        # The linker script reserves the stack, so no object file has a symbol for it.
        found.add((board.stack_bytes, "stack"))
    return sorted(found, key=lambda entry: (-entry[0], entry[1]))[:_SHOWN_CONTRIBUTORS]


def _symbol_sizes(folder: Path, board: Board) -> list[tuple[int, str, str]]:
    """(bytes, nm's kind, name) of every symbol in the project's object files."""
    objects = sorted(folder.rglob("*.obj")) + sorted(folder.rglob("*.o"))
    finished = toolchain.run([f"{board.toolchain}nm", "-S", *objects], seconds=_SECONDS)
    return [(int(size, 16), kind, name) for size, kind, name in _SYMBOL.findall(finished.output)]
