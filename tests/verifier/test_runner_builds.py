"""The check ``runner`` follows what each compiler makes of a runner, at each optimization."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import microgen
from microgen.options import Options
from microgen.verifier import CHECKS
from tests.devices.networks import BOTH, dividing
from tests.support.compiling import write_project
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV
from tests.verifier.patched import Built

pytestmark = NEEDS_NINJA
BOARDS = {
    "microbit": NEEDS_ARM,
    "mps2_an386": NEEDS_ARM,
    "mps3_an547": NEEDS_ARM,
    "qemu_riscv32": NEEDS_RISCV,
}
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
INTERFACES = ("c", "packed")
# Each board, toolchain, level and interface in every run; all combinations in the slow ones.
FAST = {
    ("microbit", "gcc", "-Os", "packed"),
    ("mps2_an386", "llvm", "-O1", "packed"),
    ("mps3_an547", "llvm", "-O3", "c"),
    ("mps3_an547", "gcc", "-O3", "packed"),
    ("qemu_riscv32", "llvm", "-O2", "c"),
    ("qemu_riscv32", "gcc", "-O0", "c"),
}


def _build(board: str, toolchain: str, level: str, interface: str) -> object:
    marks = [BOARDS[board]] + [NEEDS_LLVM] * (toolchain == "llvm")
    if (board, toolchain, level, interface) not in FAST:
        marks.append(pytest.mark.slow)
    return pytest.param(board, toolchain, level, interface, marks=marks)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "toolchain", "level", "interface"),
    [_build(*each) for each in itertools.product(BOARDS, ("gcc", "llvm"), LEVELS, INTERFACES)],
)
def test_it_is_followed(
    board: str, toolchain: str, level: str, interface: str, tmp_path: Path
) -> None:
    """Operators that may fail; with the C interface, two of them on devices."""
    is_packed = interface == "packed"
    graph = dividing("", "", "", "") if is_packed else dividing("", "npu0", "npu1", "")
    targets = () if is_packed else BOTH
    options = Options(targets=targets, interface=interface, toolchain=toolchain)
    root = tmp_path / "p"
    write_project(graph, root, options, board)
    cmake = root / "CMakeLists.txt"
    text = cmake.read_text()
    assert text.count('MODEL_OPTIMIZATION "-O2"') == 1
    cmake.write_text(text.replace('MODEL_OPTIMIZATION "-O2"', f'MODEL_OPTIMIZATION "{level}"'))
    microgen.build(root)
    built = Built(root, board)
    finding = CHECKS["runner"](built.subject(built.path))
    assert (finding.status, finding.values["calls"]) == ("ok", 5 if is_packed else 12)
