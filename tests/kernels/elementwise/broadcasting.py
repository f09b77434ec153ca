"""Cases of elementwise ops of two operands: random ones, every broadcast, and corners."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from microgen.graph.ops import registry
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import (
    FUSED,
    Case,
    activation_type,
    random_activation,
    random_activation_function,
    random_floats,
    random_values,
)

MakeAttrs = Callable[[Activation], Attrs]
Shape = tuple[int, ...]


def random_shapes(rng: np.random.Generator) -> tuple[Shape, Shape]:
    """Two shapes that broadcast: either may have dimensions of 1, or lack the first ones."""
    shape = [int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5)))]
    pair = [shape, list(shape)]
    if rng.random() < 0.7:
        for one in pair:
            one[:] = [1 if rng.random() < 0.3 else n for n in one]
        shorter = pair[int(rng.integers(2))]
        del shorter[: int(rng.integers(len(shorter)))]
    return tuple(pair[0]), tuple(pair[1])


def operand(rng: np.random.Generator, dtype: DType, shape: Shape) -> c.Tensor:
    """Random values: int8 and int16 of the whole range on a usual scale, int32 and int64 large or
    small, float32 of any magnitude, bool."""
    kind, values = ArrayType(shape, dtype), rng.integers(0, 2, shape)
    if dtype is DType.INT8:
        kind, values = random_activation(rng, shape), random_values(rng, shape)
    elif dtype is DType.INT16:
        kind = ArrayType(shape, dtype, c.quant(2.0 ** rng.uniform(-17, 1)))
        values = rng.integers(-(2**15), 2**15, shape) // int(rng.choice([1, 1, 100]))
    elif dtype is DType.FLOAT32:
        values = random_floats(rng, shape)
    elif dtype is not DType.BOOL:
        values = rng.integers(-(2**31), 2**31, shape) // int(rng.choice([1, 2**16, 2**28]))
    return c.Tensor(kind, np.asarray(values, dtype.numpy))


def litert_case(
    seed: int,
    op: str,
    code: str,
    options_type: str,
    make: MakeAttrs,
    output_scale: Callable[[ArrayType, ArrayType], float],
    *,
    has_activation: bool = True,
    dtype: DType = DType.INT8,
    options: Mapping[str, int] | None = None,
) -> Case:
    """A random case. Its output scale is ``output_scale`` of the inputs, or far from it."""
    rng = np.random.default_rng(seed)
    operands = [operand(rng, dtype, shape) for shape in random_shapes(rng)]
    types = [each.type for each in operands]
    output = None
    if types[0].quant:
        off = 2.0 ** (rng.uniform(-12, 12) if rng.random() < 0.4 else 0)
        zero_point = int(rng.integers(-128, 128)) if dtype is DType.INT8 else 0
        output = c.quant(output_scale(types[0], types[1]) * off, zero_point)
    activation = random_activation_function(rng) if has_activation else Activation.NONE
    fused = {"fusedActivationFunction": FUSED[activation]} if has_activation else {}
    return Case(
        op,
        make(activation),
        types,
        [each.array for each in operands],
        output,
        code,
        options_type,
        {**fused, **(options or {})},
        constants=[int(rng.integers(2))] if rng.random() < 0.4 else [],
        version=2,
        output_dtype=dtype,
    )


def all_pairs(
    op: str,
    code: str,
    options_type: str,
    attrs: Attrs,
    scales: Sequence[float],
    zero_points: Sequence[int],
) -> Case:
    """A case that pairs every int8 value of one operand with every value of the other."""
    values = np.arange(-128, 128, dtype=np.int8)
    arrays = [values[:, None], values]
    lhs, rhs, output = map(activation_type, ((256, 1), (256,), ()), scales, zero_points)
    assert output.quant is not None
    return Case(op, attrs, [lhs, rhs], arrays, output.quant, code, options_type, {}, version=2)


def kernel_case(
    seed: int,
    op: str,
    attrs: Attrs,
    name: str,
    lhs: Shape = (2, 3, 4, 5),
    rhs: Shape = (2, 3, 4, 5),
    scales: tuple[float, float, float] = (0.1, 0.2, 0.25),
) -> c.Case:
    """A case of int8. ``scales`` are those of the left and right input and of the output."""
    rng = np.random.default_rng(seed)
    points = [int(rng.choice([-128, 127, 0, int(rng.integers(-128, 128))])) for _ in range(3)]
    left = c.int8(rng, lhs, c.quant(scales[0], points[0]))
    right = c.int8(rng, rhs, c.quant(scales[1], points[1]))
    return c.Case(name, op, attrs, (left, right), c.quant(scales[2], points[2]))


def broadcast_cases(op: str, make: MakeAttrs) -> list[c.Case]:
    """Either operand broadcast on every subset of axes, scalars, and both broadcast at once."""
    shape, attrs = (2, 3, 4, 5), make(Activation.NONE)
    pairs: list[tuple[Shape, Shape]] = [(shape, ()), ((), ()), ((2, 1, 4, 1), (3, 1, 5))]
    for kept in product((False, True), repeat=4):
        partial = tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
        pairs += [(shape, partial), (partial, shape)]
    return [
        kernel_case(i, op, attrs, f"{lhs} and {rhs}", lhs, rhs)
        for i, (lhs, rhs) in enumerate(pairs)
    ]


HIGH_RANKS: tuple[tuple[Shape, Shape], ...] = (
    ((2, 3, 2, 2, 2, 3), (2, 3, 2, 2, 2, 3)),
    ((2, 3, 1, 2, 1, 2, 2), (1, 2, 1, 2, 2)),
    ((2, 1, 3, 2, 1), (2, 2, 3, 2, 2)),
    ((1, 1, 1, 1, 1), (1, 1)),
)


def high_rank_cases(op: str, make: MakeAttrs) -> list[c.Case]:
    """Cases with more than four dimensions that are broadcast along at most four axes."""
    attrs = make(Activation.NONE)
    return [kernel_case(i, op, attrs, f"{pair}", *pair) for i, pair in enumerate(HIGH_RANKS)]


def random_kernel_case(
    seed: int, op: str, make: MakeAttrs, dtype: DType = DType.INT8, output: DType | None = None
) -> c.Case:
    """A random case: any shapes that broadcast, scales from 0.001 to 1, any activation.

    Some cases of floats have one infinity or NaN. ``output`` is the output's dtype if it is
    another.
    """
    rng = np.random.default_rng(1000 + seed)
    lhs, rhs = random_shapes(rng)
    scales = [float(10 ** rng.uniform(-3, 0)) for _ in range(3)]
    attrs = make(list(Activation)[int(rng.integers(4))])
    name = f"random {dtype.value} {seed}"
    if dtype is DType.INT8 and output is None:
        return kernel_case(seed, op, attrs, name, lhs, rhs, (scales[0], *scales[1:]))
    operands = (operand(rng, dtype, lhs), operand(rng, dtype, rhs))
    if dtype is DType.FLOAT32 and seed % 4 == 0:
        operands[0].array.reshape(-1)[0] = (np.inf, -np.inf, np.nan)[seed // 4 % 3]
    of = c.quant(4 * max(each.type.scale for each in operands)) if dtype is DType.INT16 else None
    return c.Case(name, op, attrs, operands, None if output else of, output or dtype)


def random_kernel_cases(
    op: str,
    make: MakeAttrs,
    count: int,
    others: int,
    dtypes: Sequence[DType] = (DType.INT16, DType.INT32, DType.FLOAT32),
) -> list[c.Case]:
    """``count`` cases of int8, and ``others`` of each of the other dtypes."""
    return [
        random_kernel_case(seed, op, make, dtype)
        for dtype, n in ((DType.INT8, count), *((dtype, others) for dtype in dtypes))
        for seed in range(n)
    ]


def scaled_case(
    op: str, attrs: Attrs, seed: int, name: str, left: float, right: float, output: float
) -> c.Case:
    """A case whose operands and output have these scales."""
    return kernel_case(seed, op, attrs, name, scales=(left, right, output))


def check_in_place(op: str, attrs: Attrs) -> None:
    """Checks that kernels may write over an operand of the output's shape, and over no other."""
    for lhs, rhs, expected in (
        ((2, 3), (2, 3), {0: 0, 1: 0}),
        ((2, 3), (3,), {0: 0}),
        ((1,), (2, 3), {1: 0}),
        ((2, 1), (3,), {}),
    ):
        case = kernel_case(1, op, attrs, "", lhs, rhs)
        for kernel in kernels.registry()[op]:
            assert kernel.in_place(case.node, case.graph) == expected


def check_refusals(op: str, attrs: Attrs) -> None:
    """Checks refusals: three inputs, shapes that do not broadcast, an operand of another dtype."""
    definition = registry()[op]
    data, wrong = activation_type((1,), 1.0, 0), ArrayType((1,), DType.INT32)
    with pytest.raises(ValueError, match="3 inputs; two are expected"):
        definition.infer(attrs, [data, data, data])
    types = [ArrayType((2, 3), DType.INT8), ArrayType((2, 2), DType.INT8)]
    with pytest.raises(ValueError, match=r"int8\[2,3\] and int8\[2,2\] do not broadcast"):
        definition.infer(attrs, types)
    assert "the right input is int32[1]" in str(definition.check(attrs, [data, wrong], [data]))
    assert "the output is int32[1]" in str(definition.check(attrs, [data, data], [wrong]))


def check_too_many_axes(op: str, attrs: Attrs) -> None:
    """Checks that operands that are broadcast along alternating axes are refused."""
    case = kernel_case(1, op, attrs, "", (2, 1, 2, 1, 2), (1, 2, 1, 2, 1))
    assert "along 5 axes" in str(kernels.registry()[op][0].refusal(case.node, case.graph))
