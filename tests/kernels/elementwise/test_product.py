from __future__ import annotations

import functools
from itertools import product
from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops.elementwise.product import (
    MULTIPLY,
    POWER,
    MultiplyAttrs,
    PowerAttrs,
    PReluAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import plain_integers
from tests.kernels.elementwise import broadcasting
from tests.kernels.unary import unary_kernels as u

NONE = MultiplyAttrs(Activation.NONE)
_scaled = functools.partial(broadcasting.scaled_case, MULTIPLY.name, NONE)


def _random(count: int, others: int) -> list[c.Case]:
    return broadcasting.random_kernel_cases(MULTIPLY.name, MultiplyAttrs, count, others)


CORNERS = (
    _scaled(1, "halves", 0.5, 1.0, 1.0),
    _scaled(2, "a tiny output scale, which wraps around", 1.0, 1.5, 2.0**-29),
    _scaled(3, "a huge output scale", 1.0, 1.0, 2.0**31),
    _scaled(4, "a multiplier of 0", 1e-12, 1e-12, 1.0),
)


def test_multiply_kernels_equal_the_reference(tmp_path: Path) -> None:
    broadcasts = broadcasting.broadcast_cases(MULTIPLY.name, MultiplyAttrs)
    broadcasts += broadcasting.high_rank_cases(MULTIPLY.name, MultiplyAttrs)
    c.check([*CORNERS, *broadcasts, *_random(200, 50)], tmp_path)


def test_multiply_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *_random(6, 3)], tmp_path)


def test_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(MULTIPLY.name, NONE)


def test_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(MULTIPLY.name, NONE)


SPECIAL = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 2.5, -3.0, 1e-45, 1e-30, 3e38),
        *(np.inf, -np.inf, np.nan, 1.0000001, 0.99999994, 128.0, -127.5, 8388609.0, -1e10),
    ],
    np.float32,
)


def floats(name: str, lhs: Array, rhs: Array) -> c.Case:
    """A case of float32."""
    arrays = [np.ascontiguousarray(array, np.float32) for array in (lhs, rhs)]
    inputs = tuple(c.Tensor(ArrayType(a.shape, DType.FLOAT32), a) for a in arrays)
    return c.Case(name, POWER.name, PowerAttrs(), inputs, None, DType.FLOAT32)


def float_cases(count: int) -> list[c.Case]:
    """Pairs of special numbers, one by one, then pairs of usual results."""
    rng = np.random.default_rng(0)
    found = [floats(f"{x} {y}", np.array([x]), np.array([y])) for x in SPECIAL for y in SPECIAL]
    for seed in range(count):
        base = np.exp(rng.normal(0, 2.0 ** rng.uniform(-8, 5), 1))
        found.append(floats(f"random {seed}", base, rng.normal(0, 60, 1) / np.log(base)))
    return found


def integer_cases(count: int) -> list[c.Case]:
    """``count`` cases of int32 and of int64."""
    dtypes = (DType.INT32, DType.INT64)
    return [
        plain_integers.case(seed, POWER.name, PowerAttrs(), dtype)
        for dtype in dtypes
        for seed in range(count)
    ]


def test_power_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*float_cases(300), *integer_cases(30)], tmp_path)


def test_power_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*float_cases(0)[:2], *integer_cases(2)], tmp_path)


SHAPE = (2, 3, 4, 5)


def _case(seed: int, name: str, shape: tuple[int, ...], alpha: tuple[int, ...]) -> c.Case:
    rng = np.random.default_rng(seed)
    inputs = tuple(c.int8(rng, s, c.random_quant(rng)) for s in (shape, alpha))
    return c.Case(name, "nn.prelu", PReluAttrs(), inputs, c.random_quant(rng))


def _float(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    data = c.float32(rng, SHAPE, 10.0 ** rng.uniform(-3, 3))
    data.array.reshape(-1)[:4] = (np.inf, -np.inf, np.nan, -0.0)
    alpha = c.float32(rng, _random_alpha(rng))
    return c.Case(f"float {seed}", "nn.prelu", PReluAttrs(), (data, alpha), None, DType.FLOAT32)


def _int16(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    scales = 2.0 ** rng.uniform(-16, -4, 3)
    data = u.int16_tensor(rng, SHAPE, c.quant(scales[0]))
    alpha = c.int8(rng, _random_alpha(rng), c.quant(scales[1], int(rng.integers(-128, 128))))
    attrs, output = PReluAttrs(), c.quant(scales[2])
    return c.Case(f"int16 {seed}", "nn.prelu", attrs, (data, alpha), output, DType.INT16)


def _random_alpha(rng: np.random.Generator) -> tuple[int, ...]:
    return _partial(tuple(bool(keep) for keep in rng.integers(0, 2, 4)))


def _partial(kept: tuple[bool, ...]) -> tuple[int, ...]:
    return tuple(n if keep else 1 for n, keep in zip(SHAPE, kept, strict=True))


CASES = (
    *(
        _case(i, f"alpha {_partial(kept)}", SHAPE, _partial(kept))
        for i, kept in enumerate(product((False, True), repeat=4))
    ),
    *(_case(100 + n, f"row {n}", (n, 3), (3,)) for n in range(1, 30)),
    _case(200, "one value", (), ()),
)


def test_prelu_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CASES, *map(_float, range(20)), *map(_int16, range(40))], tmp_path)


def test_prelu_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CASES[12:20], _float(0), _float(1), _int16(0), _int16(1)], tmp_path)


def test_operands_of_the_outputs_shape_may_be_overwritten() -> None:
    for kernel in kernels.registry()["nn.prelu"]:
        for case in CASES:
            (data, alpha), output = case.input_types, case.output_type
            fitting = {0: 0, 1: 0} if alpha.shape == output.shape == data.shape else {0: 0}
            assert kernel.in_place(case.node, case.graph) == fitting
