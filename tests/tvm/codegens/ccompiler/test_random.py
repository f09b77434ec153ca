"""Random functions on the host, with sanitizers, equal to numpy bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.compiler.codegens.external import CSource
from microgen.graph.ir.graph import Array
from microgen.target import board as boards
from microgen.tvm.codegens.ccompiler import CODEGEN
from tests.compiler.codegens import native
from tests.support.tools import skip_without
from tests.tvm.codegens.ccompiler.random_functions import Made, made

BOARD = boards.load("native")
PER_SOURCE = 100


def _compiled(functions: list[Made]) -> tuple[CSource, list[native.Case]]:
    (source,) = CODEGEN.compile([m.function for m in functions], BOARD)
    assert isinstance(source, CSource)
    inputs = {m.function.symbol: m.inputs for m in functions}
    return source, native.cases(source, [m.function for m in functions], inputs)


def _same(found: Array, expected: Array) -> bool:
    """Whether arrays are equal bit for bit; all NaNs are equal."""
    if found.dtype == np.float32 and np.isnan(expected).any():
        nan = np.isnan(expected)
        return np.array_equal(np.isnan(found), nan) and _same(found[~nan], expected[~nan])
    return found.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (150, 300, 450))]
)
def test_random_functions_equal_numpy_bit_for_bit(first: int, tmp_path: Path) -> None:
    seeds = range(first, first + 150)
    every = [made(f"tvmgen_default_ccompiler_main_{seed}", seed) for seed in seeds]
    parts = [every[i : i + PER_SOURCE] for i in range(0, len(every), PER_SOURCE)]
    outputs = native.run([_compiled(part) for part in parts], tmp_path)
    assert len(outputs) == len(every)
    for seed, m, found in zip(seeds, every, outputs, strict=True):
        for number, (array, expected) in enumerate(zip(found, m.outputs, strict=True)):
            assert _same(array, expected), f"seed {seed}, output {number}: {array} {expected}"


def test_the_random_functions_have_what_they_should() -> None:
    every = [made(f"f{seed}", seed) for seed in range(600)]
    (source,) = CODEGEN.compile([m.function for m in every], BOARD)
    assert isinstance(source, CSource)
    assert sum(bool(f.constants) for f in source.functions) > 50
    assert sum(bool(f.scratch) for f in source.functions) > 200
    assert sum(len(m.outputs) > 1 for m in every) > 150
    for macro in ("BINARY_OP_1D", "BINARY_OP_2D_S32", "CHOICE_OP_1D_S32", "UNARY_OP_2D", "memcpy"):
        assert source.code.count(macro) > 10


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "command",
    [
        ("gcc", "-O2"),
        ("clang", "-O2"),
        ("arm-none-eabi-gcc", "-O2", "-mcpu=cortex-m4", "-mthumb", "-ffreestanding"),
    ],
    ids=lambda command: str(command[0]),
)
def test_compilers_have_nothing_to_warn_of(command: tuple[str, ...], tmp_path: Path) -> None:
    skip_without(command[0])
    source, cases = _compiled([made(f"f{seed}", seed) for seed in range(1000, 1060)])
    native.compiled(native.source_text(source, cases), tmp_path, *command)
