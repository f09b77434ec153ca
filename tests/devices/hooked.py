"""Firmware whose hooks are traced and made to fail by number, and the calls that must follow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from microgen.base import manifest
from microgen.building import toolchain
from microgen.planner.program.types import Program
from microgen.target import projects
from tests.devices import sequences

FAILURES = "microgen_devices.txt"


def run(project: Path, failing: Mapping[int, int], folder: Path) -> tuple[list[str], int]:
    """The calls, and what run returned. ``failing`` maps a hook's number to its status."""
    pairs = "".join(f"{number} {status}\n" for number, status in failing.items())
    if pairs:
        (folder / FAILURES).write_text(pairs)
    board = projects.of_project(manifest.load(project).board)
    elf = project / "build" / "firmware.elf"
    command: list[str | Path] = [elf]
    if board.qemu:
        command = [board.qemu.system, "-M", board.qemu.machine, *board.qemu.args, "-nographic"]
        command += ["-semihosting-config", "enable=on,target=native", "-kernel", elf]
    output = toolchain.run(command, seconds=20, cwd=folder).output
    called = re.findall(r"^microgen: (?:device|operator) ([\w-]+(?: [A-Z]\w+)?)", output, re.M)
    (status,) = re.findall(r"^microgen: status=(-?\d+)", output, re.M)
    return called, int(status)


def expected(program: Program, failing: Mapping[int, int]) -> tuple[list[str], int]:
    """The same, by the model of tests/devices/sequences.py. That model numbers operators, too."""
    devices = [d.target for d in program.devices]
    operators = [(call.function, call.device) for call in program.calls]
    called: list[str] = []
    numbers: dict[int, int] = {}
    for number, status in sorted(failing.items()):  # its number there depends on the hooks before
        called = sequences.run(devices, operators, numbers).called
        hooks = [i for i, what in enumerate(called, 1) if " " in what]
        if number <= len(hooks):
            numbers[hooks[number - 1]] = status
    ran = sequences.run(devices, operators, numbers)
    return ran.called, ran.status
