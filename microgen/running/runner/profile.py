"""Counts retired instructions of the shipped ELF with a TCG plugin for QEMU.

The plugin (``plugin/profile.c``, whose comment defines the counts) is compiled once with the host's
C compiler and kept in the user's cache. Instructions are not cycles; ``costs`` models these from
the executions of blocks that the plugin counts, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import RunError, ToolError
from microgen.base.manifest import CallRecord, Manifest, ModuleRecord
from microgen.building import toolchain
from microgen.running.runner.image import Image
from microgen.running.timing import CoreTimings, Flash
from microgen.target.board import Board

_SOURCE = Path(__file__).parent / "plugin" / "profile.c"
# Only the plugin's own symbols that QEMU looks up are visible, so that none hides QEMU's.
_FLAGS = ("-std=c99", "-O2", "-shared", "-fPIC", "-fvisibility=hidden")
_COMPILERS = ("cc", "gcc", "clang")
_COMPILE_SECONDS = 60.0
_VERSION_SECONDS = 10.0
_PLAN = "profile_plan.txt"
_COUNTS = "profile_counts.txt"
BLOCKS = "profile_blocks.txt"


@dataclass(frozen=True, slots=True)
class FlashPlan:
    """The flash of a board for the plugin: (first address, bytes) of each region, and the sizes of
    the caches whose misses are counted, None if misses are not counted."""

    regions: tuple[tuple[int, int], ...] = ()
    caches: Flash | None = None


_NO_FLASH = FlashPlan()


def flash_plan(board: Board, core: CoreTimings | None) -> FlashPlan:
    """The regions of a board for code and constants. Misses matter if there are wait states."""
    # The same memory can have all three roles; its accesses are then counted once.
    names = dict.fromkeys((board.flash, board.constants, board.large_constants))
    regions = tuple(
        (memory.origin, memory.length) for memory in board.memories if memory.name in names
    )
    return FlashPlan(regions, core.flash if core and board.flash_wait_states else None)


def prepare(
    directory: Path,
    image: Image,
    manifest: Manifest,
    emulator: str,
    flash: FlashPlan = _NO_FLASH,
    returned_to: Collection[int] = (),
) -> str:
    """Write the plugin's plan into ``directory``, the run's current directory, and return QEMU's
    ``-plugin`` argument. ``emulator`` is the program that will load the plugin. ``returned_to``:
    the addresses to which the run functions return, in a program that is not the project's main.
    With these addresses an inference is a call of a run function, not the code between the timers'
    calls.

    Raises ToolError if there is no C compiler, RunError if the ELF lacks a symbol.
    """
    (directory / _PLAN).write_text(_plan(image, manifest, flash, returned_to))
    library = str(_library(directory, _api_version(emulator)))
    # In QEMU's argument a single comma would end the file's name.
    return f"{library.replace(',', ',,')},plan={_PLAN},out={_COUNTS},blocks={BLOCKS}"


def _plan(image: Image, manifest: Manifest, flash: FlashPlan, returned_to: Collection[int]) -> str:
    # profile.c reads these numbers in this order, in hexadecimal, one a line.
    markers = ("TVMPlatformTimerStart", "TVMPlatformTimerStop")
    # No address of a marker: the plugin then counts between the entries and returns in ``runs``.
    numbers = [0, 0] if returned_to else [image.address(name) for name in markers]
    numbers.append(len(manifest.modules))
    for module in manifest.modules:
        numbers += [module.intervals, *image.extent(_runner(module)), len(module.calls)]
        numbers += [image.address(call.function) for call in module.calls]
        for call in module.calls:
            numbers += _inside(image, call)
    # Caches of no lines: the plugin then counts no misses.
    caches = flash.caches or Flash(1, 0, 0)
    numbers += [caches.line_bytes, caches.code_lines, caches.data_sets, len(flash.regions)]
    numbers += [number for region in flash.regions for number in region]
    runs = [image.address(module.entry) for module in manifest.modules] if returned_to else []
    numbers += [len(runs), *runs, len(returned_to), *sorted(returned_to)]
    return "".join(f"{number:x}\n" for number in numbers)


def _inside(image: Image, call: CallRecord) -> list[int]:
    """The functions of an operator with loops or branches: those that call others, and that of
    each of its layers."""
    layers = call.inner_layers
    callers = [call.function, *call.inner_callers] if layers else []
    extents = [number for name in callers for number in image.extent(name)]
    entries = [image.address(each.function) for each in layers]
    return [len(extents), *extents, len(entries), *entries]


def _runner(module: ModuleRecord) -> str:
    """The function that calls all operators."""
    is_graph = module.options.get("executor") == "graph"
    return "TVMGraphExecutor_RunNode" if is_graph else f"{module.prefix}___tvm_main__"


def _api_version(emulator: str) -> int:
    """The version of QEMU's plugin interface: 9.0 dropped version 1."""
    printed = toolchain.run([emulator, "--version"], seconds=_VERSION_SECONDS).output
    version = re.search(r"version (\d+)\.", printed)
    # The newer version is assumed if the version is not readable.
    return 1 if version and int(version[1]) < 9 else 2


def check_loaded(directory: Path, diagnostics: str) -> None:
    """Raise ToolError if QEMU did not start the plugin, which opens its output at once."""
    if not (directory / _COUNTS).exists():
        messages = " ".join(diagnostics.split())[:200]
        raise ToolError(
            f"QEMU cannot run the plugin that counts instructions: {messages}",
            hint="run without --profile, or use a QEMU with plugins enabled",
        )


def counts(
    directory: Path, calls: Sequence[int], samples: int
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each sample and module (with its number of ``calls``): the instructions of the whole
    inference, then of each call. Raises RunError if the counts do not fit the plan."""
    rows = _counted(directory)
    _check(rows, calls, samples)
    # One row for each model of a sample, in the order of the manifest.
    width = len(calls)
    return tuple(tuple(rows[i : i + width]) for i in range(0, len(rows), width))


def counts_of_runs(
    directory: Path, modules: Sequence[ModuleRecord], names: Sequence[str]
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The counts of a program that is not the project's main. ``names`` are the modules in the
    order in which it ran them. Each complete inference of a module is a sample. Raises RunError if
    the counts are of other inferences."""
    rows, names = _counted(directory), _whole(modules, names)
    if len(rows) != len(names):
        raise RunError(
            f"{len(rows)} inferences were counted, and {len(names)} under the debugger",
            hint="only a program that always runs the same inferences can be profiled",
        )
    complete: dict[str, list[tuple[int, ...]]] = {module.module: [] for module in modules}
    calls = {module.module: len(module.calls) for module in modules}
    for name, row in zip(names, rows, strict=True):
        if len(row) == calls[name] + 1:  # the others returned an error
            complete[name].append(row)
    # A sample is complete if all models ran, so the shortest list decides.
    return tuple(zip(*complete.values(), strict=False))


def _counted(directory: Path) -> list[tuple[int, ...]]:
    """The counts of each inference: its total, then the counts of its calls."""
    lines = (directory / _COUNTS).read_text().splitlines()
    return [tuple(int(each) for each in line.split() if ":" not in each) for line in lines]


def inside(directory: Path) -> list[dict[tuple[int, int], tuple[int, int]]]:
    """The counts of layers that operators compute by calls of functions, of each inference: (number
    of the call, number in its ``inner_layers`` from 1) -> (times, instructions)."""
    found = []
    for line in (directory / _COUNTS).read_text().splitlines():
        parts = [list(map(int, each.split(":"))) for each in line.split() if ":" in each]
        found.append({(call, share): (times, n) for call, share, times, n in parts})
    return found


def _whole(modules: Sequence[ModuleRecord], names: Sequence[str]) -> list[str]:
    """The module of each complete inference. An inference may need several calls of the run
    function."""
    intervals = {module.module: module.intervals for module in modules}
    seen = dict.fromkeys(intervals, 0)
    whole = []
    for name in names:
        seen[name] += 1
        # The last call of an inference, after all rows were fed.
        if seen[name] % intervals[name] == 0:
            whole.append(name)
    return whole


def _check(rows: Sequence[Sequence[int]], calls: Sequence[int], samples: int) -> None:
    wanted = samples * len(calls)
    if len(rows) != wanted:
        raise RunError(f"{len(rows)} inferences ran between the timers, expected {wanted}")
    for number, row in enumerate(rows):
        sample, module = divmod(number, len(calls))
        if len(row) != calls[module] + 1:
            raise RunError(
                f"sample {sample} called {len(row) - 1} of {calls[module]} operators",
                hint="run `microgen verify`: this is not the program that was planned",
            )


def _library(directory: Path, api: int) -> Path:
    """The compiled plugin, in the user's cache, or in ``directory`` if the cache is not
    writable."""
    flags = (*_FLAGS, f"-DAPI_VERSION={api}")
    # A plugin with another source or other flags gets another name, so an old one is never loaded.
    key = hashlib.sha256(_SOURCE.read_bytes() + " ".join(flags).encode()).hexdigest()[:16]
    name = f"profile-{platform.machine()}-{key}.so"
    cache = _cache()
    if cache is None:
        return _compile(directory / name, flags)
    return cache / name if (cache / name).is_file() else _compile(cache / name, flags)


def _cache() -> Path | None:
    # HOME may be unset, and the folder may be on a file system that is not writable.
    with contextlib.suppress(OSError, RuntimeError):
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "microgen"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder.resolve()
    return None


def _compile(library: Path, flags: Sequence[str]) -> Path:
    compiler = next(filter(toolchain.has, _COMPILERS), None)
    if compiler is None:
        raise ToolError(
            "a QEMU plugin counts instructions, and there is no C compiler to build it",
            hint="install one (Debian: apt-get install gcc), or run without --profile",
        )
    # Compiled elsewhere and renamed, so that a simultaneous run never loads half a file.
    with tempfile.TemporaryDirectory(dir=library.parent) as aside:
        made = Path(aside) / library.name
        command = [compiler, *flags, str(_SOURCE), "-o", str(made)]
        done = toolchain.run(command, seconds=_COMPILE_SECONDS)
        if not done.ok:
            # The first line of a compiler's output names the error; the others are its context.
            first = (done.output.splitlines() or ["no message"])[0]
            raise ToolError(f"the host's C compiler refused QEMU's plugin: {first}")
        os.replace(made, library)
    return library
