"""Runs a network by TensorFlow Lite Micro in QEMU."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import RunError
from scripts.bench.tflm import building, sources

_SECONDS = 600.0


@dataclass(frozen=True)
class Run:
    """Instructions of an inference with those of the interpreter; bytes of the arena, and of its
    head, which lacks the interpreter's own structures; the schema's name and the instructions of
    each operator in order. These are multiples of a tick's, so those of small ones are rough."""

    instructions: int
    arena: int
    head: int
    operators: tuple[tuple[str, int], ...]


def of(content: bytes, core: str) -> Run:
    """Run the network once. Raises UsageError without sources, ToolError if they cannot be built,
    RunError if TensorFlow Lite Micro refuses the network or the program does not end."""
    elf = building.program(sources.folder(), core)
    with tempfile.TemporaryDirectory(prefix="microgen-tflm-") as folder:
        model = Path(folder) / "model.tflite"
        model.write_bytes(content)
        ran = _started(elf, model, building.CORES[core])
    # QEMU warns that the board's network has no cable.
    printed = re.sub(r"^qemu-system.*\n", "", ran.stdout + ran.stderr, flags=re.MULTILINE)
    found = dict(re.findall(r"^(total|arena|head) (\d+)$", printed, re.MULTILINE))
    if ran.returncode or len(found) < 3:
        raise RunError(f"TensorFlow Lite Micro ended without a result: {printed.strip()[:200]}")
    rows = re.findall(r"^([A-Z0-9_]+) (\d+)$", printed, re.MULTILINE)
    tick = building.CORES[core].tick
    return Run(
        round(int(found["total"]) * tick),
        *(int(found["arena"]), int(found["head"])),
        tuple((name, round(int(ticks) * tick)) for name, ticks in rows),
    )


def _started(elf: Path, model: Path, core: building.Core) -> subprocess.CompletedProcess[str]:
    command = [
        *(*core.emulator.split(), "-nodefaults", "-display", "none"),
        # A nanosecond an instruction.
        *("-icount", "shift=0", "-semihosting-config", "enable=on,target=native"),
        *("-kernel", str(elf)),
        *("-device", f"loader,file={model},addr={core.memory.model:#x},force-raw=on"),
    ]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise RunError(f"TensorFlow Lite Micro runs longer than {_SECONDS:g} s") from error
