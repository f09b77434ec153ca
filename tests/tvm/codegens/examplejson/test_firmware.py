"""Firmware in which a text in the blob says what is computed: the guide's graph, random ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import RunError
from microgen.graph.ir.graph import Array
from microgen.relay.module import IRModule
from microgen.running import runner
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV
from tests.tvm.codegens.examplejson.functions import random_module
from tests.tvm.codegens.examplejson.test_codegen import EXAMPLE

CODEGENS = ("examplejsoncompiler", "ccompiler")
NATIVE = pytest.param("native", True, marks=NEEDS_NINJA)
ARM = pytest.param("mps2_an386", True, marks=NEEDS_ARM)
ARM_APART = pytest.param("mps2_an386", False, marks=[NEEDS_ARM, pytest.mark.slow])
RISCV_APART = pytest.param("qemu_riscv32", False, marks=NEEDS_RISCV)


def generated(model: Path | IRModule, board: str, folder: Path, **options: bool) -> Path:
    microgen.generate(model, board, folder, codegen=CODEGENS, **options)
    return folder


def check(folder: Path, *, sanitize: bool) -> None:
    result = microgen.run(folder, compare=True, sanitize=sanitize)
    verdict = result.verdicts[0]
    assert verdict.ok, str(verdict)
    assert "outputs equal" in str(verdict)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "merge"), [NATIVE, ARM, ARM_APART, RISCV_APART])
def test_the_guides_graph(board: str, merge: bool, tmp_path: Path) -> None:
    folder = generated(EXAMPLE, board, tmp_path / "p", merge_regions=merge)
    check(folder, sanitize=board == "native")
    assert microgen.verify(folder).ok


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "merge", "seed"),
    [
        pytest.param(
            *(*board.values, seed),
            marks=[*board.marks, *[pytest.mark.slow] * ((i + seed) % 2)],
        )
        for i, board in enumerate((ARM, RISCV_APART))
        for seed in (1000, 1001)
    ],
)
def test_random_networks(board: str, merge: bool, seed: int, tmp_path: Path) -> None:
    folder = generated(random_module(seed), board, tmp_path / "p", merge_regions=merge)
    check(folder, sanitize=False)


def ran(folder: Path, elf: Path, inputs: dict[str, Array]) -> list[Array]:
    """An ELF's outputs for one sample; ``microgen.run`` would refuse a changed ELF."""
    given = {name: array[np.newaxis] for name, array in inputs.items()}
    return [array[0] for array in runner.run(folder, given, elf=elf).outputs.values()]


@NEEDS_ARM
def test_what_runs_comes_out_of_the_blob(tmp_path: Path) -> None:
    folder = generated(EXAMPLE, "mps2_an386", tmp_path / "p", merge_regions=True)
    rng = np.random.default_rng(1)
    inputs = {f"input{i}": 1 + rng.random((10, 10), np.float32) for i in range(4)}
    elf = microgen.build(folder).elf
    image = elf.read_bytes()
    a, b, c, d = inputs.values()
    for text, value in (("mul", (a + b - c) * d), ("add", a + b - c + d), ("sub", a + b - c - d)):
        elf.write_bytes(image.replace(b"\n  mul 6 inputs", f"\n  {text} 6 inputs".encode()))
        (found,) = ran(folder, elf, inputs)
        np.testing.assert_array_equal(found, np.clip(np.minimum(np.maximum(value, a), b), 0, 6))
    elf.write_bytes(image.replace(b"\n  mul 6 inputs", b"\n  div 6 inputs"))
    with pytest.raises(RunError, match=r"0x0?781|1921"):
        ran(folder, elf, inputs)
    with pytest.raises(RunError, match="module_blob: "):
        microgen.run(folder, inputs)
