import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.base import resources
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.division.divide import OP, DivideAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import broadcasting


def _make(activation: Activation) -> DivideAttrs:
    return DivideAttrs(activation, shifts_wrap=True)


NONE = _make(Activation.NONE)


def _divisible(case: c.Case) -> c.Case:
    """The case with a constant divisor that has no zeros."""
    lhs, rhs = case.inputs
    zero = rhs.type.zero
    divisor = np.where(rhs.array == zero, zero ^ 1, rhs.array).astype(rhs.array.dtype)
    return replace(case, inputs=(lhs, c.Tensor(rhs.type, divisor, is_constant=True)))


def _scaled(seed: int, ratio: float) -> c.Case:
    """A case whose quotients of stored values are scaled by ``ratio`` to the output."""
    scales = (0.7, 1.0, 0.7 / ratio)
    name = f"quotients times {ratio:g}"
    return _divisible(broadcasting.kernel_case(seed, OP.name, NONE, name, scales=scales))


def _random(seed: int, dtype: DType = DType.INT8) -> c.Case:
    case = broadcasting.random_kernel_case(seed, OP.name, _make, dtype)
    return case if dtype is DType.FLOAT32 else _divisible(case)


def _others(count: int) -> list[c.Case]:
    dtypes = (DType.INT16, DType.INT32, DType.FLOAT32)
    return [_random(seed, dtype) for dtype in dtypes for seed in range(count)]


def _saturated() -> c.Case:
    kind = ArrayType((2,), DType.INT32)
    operands = ([-(2**31), -(2**31)], [-1, 1])
    tensors = tuple(c.Tensor(kind, np.array(values, np.int32)) for values in operands)
    return c.Case("saturated", OP.name, NONE, tensors, None, DType.INT32)


RATIOS = (2.0**-25, 2.0**-20, 1e-4, 0.5, 2, 30, 64, 128, 3000, 1e6, 2.0**23 - 2)
CORNERS = (
    *(_scaled(seed, ratio) for ratio in RATIOS for seed in range(4)),
    _divisible(broadcasting.kernel_case(8, OP.name, _make(Activation.RELU6), "relu6")),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    broadcasts = [_divisible(case) for case in broadcasting.broadcast_cases(OP.name, _make)]
    c.check(
        [*CORNERS, *broadcasts, *map(_random, range(200)), *_others(50), _saturated()], tmp_path
    )


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS[::4], *map(_random, range(6)), *_others(3)], tmp_path)


def test_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(OP.name, NONE)


def test_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(OP.name, NONE)


PROGRAM = """
#include "microgen/division/scaled_division.h"
int main(void)
{
    static const mg_divide_s8_params p = {
        {1, 1, 1, 3}, {3, 3, 3, 1}, {3, 3, 3, 1}, 0, 5, 0, 1 << 30, 7, -128, 127, 3};
    const int8_t lhs[3] = {1, 2, 3};
    const int8_t rhs[3] = {1, 2, ZERO};
    int8_t output[3] = {77, 77, 77};
    const int32_t status = mg_divide_s8(&p, lhs, rhs, output);
    const int is_untouched = (output[0] == 77) && (output[1] == 77) && (output[2] == 77);

    if (status == 0) {
        return is_untouched ? 3 : 0;
    }
    return ((status == (int32_t)kTvmErrorFunctionCallInvalidArg) && is_untouched) ? 1 : 2;
}
"""


@pytest.mark.parametrize(("divisor", "expected"), [(-5, 1), (-4, 0), (5, 0)])
def test_a_zero_divisor_leaves_the_output_and_returns_an_error(
    tmp_path: Path, divisor: int, expected: int
) -> None:
    source, program = tmp_path / "zero.c", tmp_path / "zero"
    source.write_text(PROGRAM.replace("ZERO", str(divisor)))
    crt = resources.folder("crt")
    given = ["-DMG_SCALED_DIVISION_IMPLEMENTATION", f"-I{crt / 'include'}"]
    options = [*c.WARNINGS, *c.SANITIZERS, *given]
    subprocess.run([c.host_cc(), *options, str(source), "-o", str(program)], check=True)
    assert subprocess.run([str(program)], check=False).returncode == expected


@pytest.mark.parametrize("whole", [CORNERS[0], _random(1, DType.INT32)])
def test_a_computed_divisor_with_a_zero_makes_the_kernel_fail(
    tmp_path: Path, whole: c.Case
) -> None:
    divisor = whole.inputs[1]
    array = divisor.array.copy()
    array.reshape(-1)[-1] = divisor.type.zero
    computed = replace(divisor, array=array, is_constant=False)
    case = replace(whole, inputs=(whole.inputs[0], computed))
    assert case.outcome.status == 0x0803
    c.check([case], tmp_path)


@pytest.mark.parametrize(("case", "position"), [(CORNERS[0], 0), (_random(1, DType.INT32), 2)])
def test_a_constant_divisor_has_no_zeros(case: c.Case, position: int) -> None:
    kernel = kernels.registry()[OP.name][position]
    assert kernel.refusal(case.node, case.graph) is None
    divisor = case.inputs[1]
    zeros = np.full(divisor.type.shape, divisor.type.zero, divisor.array.dtype)
    with_zeros = case.graph.replace(constants={"input1": zeros})
    assert "is a constant with zeros" in str(kernel.refusal(case.node, with_zeros))
