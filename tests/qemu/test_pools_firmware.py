"""Pools in several memories, pools of the caller's, and buffers too large for the fast memory.

They are built, verified, run and compared layer by layer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.base.errors import BoardError, CapacityError, RunError
from microgen.interface import api
from microgen.verifier.elf.elf import load
from tests.support.places import SMALL
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]


def _run(project: Path) -> None:
    result = microgen.run(project, compare=True)
    assert not result.checks.failed
    for verdict in result.verdicts:
        assert verdict.is_skipped or (verdict.ok and verdict.layers), str(verdict)


def _addresses(project: Path) -> dict[str, int]:
    return {s.name: s.address for s in load(project / "build" / "firmware.elf").symbols}


def _too_small(name: str) -> str:
    """A pool in which all buffers but the last few have a place."""
    return f"{name}:{api.plan(SMALL, 'mps2_an386').plan.peak - 1}"


def test_two_pools_in_two_memories(tmp_path: Path) -> None:
    pool = (_too_small("fast"), "slow:*:memory=psram:align=32")
    done = microgen.generate(SMALL, "mps2_an386", tmp_path / "p", pool=pool)
    assert [p.nbytes > 0 for p in done.plan.pools] == [True, True]
    _run(tmp_path / "p")
    where = _addresses(tmp_path / "p")
    for placed in done.plan.placements:
        assert where[placed.name] >> 24 == (0x20 if placed.pool == "fast" else 0x21)
    report = {check.name: check for check in microgen.verify(tmp_path / "p").checks}
    assert ".bss.noinit.tvm.psram" in report["arena"].expected


def test_pools_of_the_callers(tmp_path: Path) -> None:
    pool = (_too_small("fast"), "dram:*:external:memory=psram", "weights:*:external:const")
    done = microgen.generate(SMALL, "mps2_an386", tmp_path / "p", pool=pool)
    _run(tmp_path / "p")  # compares layers in dram, which are in main's array
    where = _addresses(tmp_path / "p")
    assert where["pool_dram"] >> 24 == 0x21
    outside = {p.name for p in done.plan.placements if p.pool == "dram"}
    assert outside
    assert not outside & where.keys()
    assert not [name for name in where if name.startswith("tvmgen_default_p")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("pool", [(), ("dram:*:external",)], ids=["inside", "outside"])
def test_inputs_and_outputs_in_the_workspace(pool: tuple[str, ...], tmp_path: Path) -> None:
    done = microgen.generate(SMALL, "mps2_an386", tmp_path / "p", pool=pool, workspace_io=True)
    assert done.manifest.plan.io_bytes == 0
    _run(tmp_path / "p")


def test_a_pool_that_is_elsewhere_than_planned_fails_verify(tmp_path: Path) -> None:
    pool = ("slow:*:memory=psram",)
    microgen.generate(SMALL, "mps2_an386", tmp_path / "p", pool=pool)
    script = tmp_path / "p" / "boards" / "mps2_an386.ld"
    script.write_text(script.read_text().replace("> psram AT> psram", "> ram AT> ram"))
    microgen.build(tmp_path / "p")
    failed = {check.name: check.found for check in microgen.verify(tmp_path / "p").failed}
    assert "is not in psram" in failed["arena"]


def test_constants_of_a_pool_with_another_byte_fail_verify(tmp_path: Path) -> None:
    microgen.generate(SMALL, "mps2_an386", tmp_path / "p", pool=("w:*:external:const",))
    header = next((tmp_path / "p").rglob("tvmgen_default.h"))
    head, data = header.read_text().split("W_CONSTANT_POOL_DATA \\\n    0x")
    header.write_text(f"{head}W_CONSTANT_POOL_DATA \\\n    0x{int(data[:2], 16) ^ 1:02x}{data[2:]}")
    with pytest.raises(RunError, match=r"constants_bytes: .* w \+ 0: byte 0 is"):
        microgen.run(tmp_path / "p")


@pytest.mark.parametrize(
    ("board", "pool", "message"),
    [
        (
            "mps2_an386",
            "a:*:memory=sdram",
            "no memory 'sdram' for this pool; choose from ram, psram",
        ),
        (
            "mps2_an386",
            "a:*:const:memory=psram",
            "no memory 'psram' for this pool; choose from flash",
        ),
        ("native", "a:*:memory=ram", "leave memory= out for the host"),
    ],
)
def test_memories_that_a_board_has_not(board: str, pool: str, message: str) -> None:
    with pytest.raises(BoardError, match=message):
        microgen.compile_model(SMALL, board, pool=(pool,))


def _wide(channels: int, side: int = 56) -> bytes:
    """ABS, NEG and ADD, float32 [1,side,side,channels] throughout."""
    shape = (1, side, side, channels)
    tensors = [TensorSpec(name, shape, "float32") for name in ("x", "a", "b", "y")]
    operators = [
        OperatorSpec("ABS", ["x"], ["a"], "AbsOptions", {}),
        OperatorSpec("NEG", ["x"], ["b"], "NegOptions", {}),
        OperatorSpec("ADD", ["a", "b"], ["y"], "AddOptions", {}),
    ]
    return build_model(tensors, operators, ["x"], ["y"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("channels", "moved"),
    [
        (4, {"arena": "ram", "buffers": "ram"}),
        (12, {"arena": "ram", "buffers": "sram"}),  # 150,528 bytes each, and four do not fit
        # 401,408 bytes each, 802,816 between the layers
        (32, {"arena": "sram", "buffers": "sram"}),
    ],
)
def test_what_the_fast_memory_cannot_hold_moves(
    channels: int, moved: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "m.tflite").write_bytes(_wide(channels))
    done = microgen.generate(tmp_path / "m.tflite", "mps3_an547", tmp_path / "p")
    assert {key: done.manifest.board[key] for key in moved} == moved
    result = microgen.run(tmp_path / "p", compare=channels == 12)
    assert not result.checks.failed
    where = _addresses(tmp_path / "p")
    tops = {"ram": 0x20, "sram": 0x21}
    assert where["tvmgen_default_global_workspace"] >> 24 == tops[moved["arena"]]
    assert where["output_buffer"] >> 24 == tops[moved["buffers"]]


def test_what_no_memory_can_hold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(_wide(200))
    with pytest.raises(CapacityError, match=r"of RAM, but mps3_an547's ram has"):
        microgen.compile_model(tmp_path / "m.tflite", "mps3_an547")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "options"),
    [
        ("mps2_an386", {"input_consumed": True, "input_headroom": 64}),
        ("microbit", {"output_overlay": True}),
        ("qemu_riscv32", {"optimize": "ram", "input_consumed": True, "toolchain": "llvm"}),
    ],
    ids=["inputs", "one buffer", "both"],
)
def test_tensors_in_inputs_and_outputs(board: str, options: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(_wide(1, side=16))
    done = microgen.generate(tmp_path / "m.tflite", board, tmp_path / "p", **options)
    inside = [p for p in done.plan.placements if p not in done.plan.workspace]
    assert len(inside) > len(done.plan.port_pools) > 0
    assert done.plan.peak <= 1024 < microgen.compile_model(tmp_path / "m.tflite", board).plan.peak
    _run(tmp_path / "p")  # compares layers in the caller's buffers, of several samples
    assert not {p.name for p in inside} & _addresses(tmp_path / "p").keys()


def test_tensors_in_the_inputs_of_several_models(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(_wide(1, side=16))
    pairs = [(tmp_path / "m.tflite", name) for name in ("a", "b")]
    done = microgen.generate_models(pairs, "mps2_an386", tmp_path / "p", input_consumed=True)
    assert all(model.plan.port_pools for model in done.models)
    _run(tmp_path / "p")
