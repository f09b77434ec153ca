"""A stand-in for a generated project: a network of four operators on eight bytes.

Its ELF is made from ``firmware/`` with the compilers alone, so its instructions can be counted by
hand.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from microgen.base.manifest import (
    FORMAT,
    ArgumentRecord,
    BufferRecord,
    CallRecord,
    EstimateRecord,
    Manifest,
    ModelRecord,
    PlanRecord,
    PoolRecord,
    PortRecord,
    StepRecord,
)
from microgen.target import board as boards

FIRMWARE = Path(__file__).parent / "firmware"
WIDTH = 8
ARM = [
    *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-ffreestanding", "-nostdlib"),
    *(
        "-T",
        str(FIRMWARE / "arm.ld"),
        str(FIRMWARE / "board_host.c"),
        str(FIRMWARE / "arm_network.s"),
    ),
]
RISCV = [
    *("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2", "-O1"),
    *("-ffreestanding", "-nostdlib", "-T", str(FIRMWARE / "riscv.ld")),
    *(str(FIRMWARE / "board_host.c"), str(FIRMWARE / "riscv_network.s")),
]
NATIVE = ["gcc", "-O1", str(FIRMWARE / "native_host.c"), str(FIRMWARE / "native_network.c")]


def make(project: Path, board: str, fault: str = "") -> Path:
    """Makes a built project in ``project``. ``fault`` is a symbol in the network's source.

    Arm and RISC-V have FAIL, HANG, FAULT and SPAWN, Arm has LOCKUP, too. Native has HANG and CRASH.
    """
    project.mkdir()
    (project / "microgen.json").write_bytes(manifest(board).dumps())
    _link(project / "build" / "firmware.elf", board, fault)
    return project


def _link(elf: Path, board: str, fault: str) -> None:
    elf.parent.mkdir()
    command = list({"native": NATIVE, "qemu_riscv32": RISCV}.get(board, ARM))
    if fault:
        command += [f"-Wa,--defsym,{fault}=1", f"-D{fault}"]
    sources = [str(FIRMWARE / "main.c"), str(FIRMWARE / "workspace.s")]
    subprocess.run([*command, *sources, "-o", str(elf)], check=True)


def manifest(board: str) -> Manifest:
    """The manifest of input -> double -> sid_0 -> double -> sid_1 -> copy -> sid_2; sid_2 + sid_1
    -> output."""
    return Manifest(
        format=FORMAT,
        microgen="0",
        module="default",
        model=ModelRecord("standin.tflite", "0", "model/src/default.tflite"),
        board=boards.load(board).to_json(),
        options={},
        inputs=(_port("x", "serving/x:0"),),
        outputs=(_port("y", "serving/y:0"),),
        calls=(
            _call(0, "double", ("input", "x"), ("sid", "sid_0")),
            _call(1, "double", ("sid", "sid_0"), ("sid", "sid_1")),
            _call(2, "copy", ("sid", "sid_1"), ("sid", "sid_2")),
            _call(3, "sum", ("sid", "sid_2"), ("sid", "sid_1"), ("output", "y")),
        ),
        kernels=(),
        plan=PlanRecord(
            algorithm="optimal",
            peak=16,
            lower_bound=16,
            proof="by hand",
            io_bytes=2 * WIDTH,
            alignment=8,
            pools=(
                PoolRecord("global", "tvmgen_default_global_workspace", ".bss.noinit.tvm", 16, 16),
            ),
            buffers=(
                BufferRecord("sid_0", "global", 0, WIDTH, 1, 2, "layer0"),
                BufferRecord("sid_1", "global", 8, WIDTH, 3, 6, "layer1"),
                BufferRecord("sid_2", "global", 0, WIDTH, 5, 6, "layer2"),
            ),
            in_place=(),
        ),
        constants=(),
        estimate=EstimateRecord(0, 0, 0, 0),
        files={},
    )


def _port(name: str, tensor: str) -> PortRecord:
    return PortRecord(name, tensor, (2, 4), "int8", WIDTH, 0.5, -1)


def _call(index: int, op: str, *args: tuple[str, str]) -> CallRecord:
    return CallRecord(
        index=index,
        function=f"tvmgen_default_fused_{op}",
        steps=(
            StepRecord(
                op=op,
                layer=f"model/{op}{index}",
                tensor=f"layer{index}",
                shape=(2, 4),
                dtype="int8",
                kernel="",
                reason="",
                refusals=(),
                argument=len(args) - 1,
            ),
        ),
        args=tuple(ArgumentRecord(*arg) for arg in args),
    )
