"""Cases of mean, sum, max and min, for both oracles."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, Quant
from microgen.graph.ops.base import OpDefinition
from microgen.graph.ops.reductions.reduction import ReductionAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import dtypes
from tests.kernels.conformance import litert_oracle as o

Axes = tuple[int, ...]
MakeAttrs = Callable[[Axes, bool], ReductionAttrs]

SHAPES_AND_AXES: tuple[tuple[tuple[int, ...], Axes], ...] = (
    ((1, 7, 7, 33), (1, 2)),
    ((5,), (0,)),
    ((5,), ()),
    ((1, 1, 1, 1), (0, 1, 2, 3)),
    ((2, 3, 4, 5), (0, 2)),
    ((2, 3, 4, 5), (1, 3)),
    ((2, 3, 4, 5), (3,)),
    ((2, 3, 4, 5), (0,)),
    ((2, 3, 4, 5), (0, 1, 2, 3)),
    ((2, 3, 2, 2, 3, 1), (0, 2, 4)),
    ((2, 3, 2, 2, 3, 2), (1, 3, 5)),
    ((1, 2, 1, 2, 3, 1, 2, 3), (0, 4, 5)),
    ((3, 500), (1,)),
)


def _random_axes(rng: np.random.Generator, rank: int) -> Axes:
    chosen = rng.choice(rank, int(rng.integers(0 if rng.random() < 0.1 else 1, rank + 1)), False)
    return tuple(sorted(int(axis) for axis in chosen))


def _reduced(seed: int, rng: np.random.Generator) -> tuple[tuple[int, ...], Axes, bool]:
    """A shape, its axes, and whether they are kept.

    First come the shapes above, each with and without keeping the axes, then random ones.
    """
    if seed < 2 * len(SHAPES_AND_AXES):
        return (*SHAPES_AND_AXES[seed // 2], seed % 2 == 0)
    shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 5))))
    axes = _random_axes(rng, len(shape))
    return shape, axes, bool(rng.random() < 0.5)


def litert_case(
    seed: int,
    op: str,
    code: str,
    make: MakeAttrs,
    dtype: DType = DType.INT8,
    *,
    unchanged: bool,
    totals: bool = False,
) -> o.Case:
    """The shapes above, then random ones. Axes have any order and sign.

    With ``totals`` the output's scale suits sums of all the values.
    """
    rng = np.random.default_rng(seed)
    shape, axes, keep_dims = _reduced(seed, rng)
    data, array = dtypes.litert_data(rng, dtype, shape)
    output = data.quant
    if not unchanged and output is not None and rng.random() < 0.8:
        many = float(np.prod([shape[a] for a in axes])) if totals else 1.0
        output = _other(rng, dtype, data.scale * many * 2.0 ** rng.uniform(-4, 3))
    stated = [a - len(shape) if rng.random() < 0.3 else a for a in rng.permutation(axes)]
    return o.Case(
        op,
        make(axes, keep_dims),
        [data],
        [array],
        output,
        code,
        "ReducerOptions",
        {"keepDims": keep_dims},
        extra=[o.int32_constant("axes", np.array(stated, np.int32))],
        version=2,
        output_dtype=dtype,
    )


def check_infinities_and_nan(op: str, code: str, make: MakeAttrs, numbers: Sequence[float]) -> None:
    """Checks that the reference equals LiteRT on these numbers, repeated to fill the data."""
    case = litert_case(4, op, code, make, DType.FLOAT32, unchanged=True)
    array = np.resize(np.array(numbers, np.float32), case.types[0].shape)
    o.assert_equal(dataclasses.replace(case, arrays=[array]))


def check_extreme_constraints(op: OpDefinition, make: MakeAttrs) -> None:
    """Checks that the quantization must be kept, and that axes must ascend."""
    data, other = o.activation_type((2, 3), 1.0, 0), o.activation_type((3,), 0.5, 0)
    assert "they must be equal" in str(op.check(make((0,), False), [data], [other]))
    with pytest.raises(ValueError, match="not ascending axes"):
        op.infer(make((1, 0), False), [data])


def _other(rng: np.random.Generator, dtype: DType, scale: float) -> Quant:
    return c.quant(scale, int(rng.integers(-128, 128)) if dtype is DType.INT8 else 0)


def check_kernels(
    op: str,
    make: MakeAttrs,
    folder: Path,
    dtype: DType = DType.INT8,
    *,
    unchanged: bool = False,
) -> None:
    """Compares every kernel of ``op`` with the reference, out of line and inlined."""
    cases = [
        _kernel_case(i, op, shape, make(axes, keep_dims), dtype, unchanged)
        for i, (shape, axes) in enumerate(SHAPES_AND_AXES)
        for keep_dims in (False, True)
    ]
    for seed in range(60):
        rng = np.random.default_rng(1000 + seed)
        shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 6))))
        attrs = make(_random_axes(rng, len(shape)), True)
        cases.append(_kernel_case(seed, op, shape, attrs, dtype, unchanged))
    c.check(cases, folder)
    c.check_inlined(cases[:30], folder)


def _kernel_case(
    seed: int,
    op: str,
    shape: tuple[int, ...],
    attrs: ReductionAttrs,
    dtype: DType,
    unchanged: bool,
) -> c.Case:
    rng = np.random.default_rng(seed)
    data = dtypes.kernel_data(rng, dtype, shape)
    if dtype is DType.FLOAT32 and seed % 8 == 0:
        data = dtypes.special_floats(rng, shape)
    output = data.type.quant
    if output is not None and not unchanged:
        output = _other(rng, dtype, data.type.scale * 10 ** rng.uniform(-1, 2))
    return c.Case(f"{op} {seed}", op, attrs, (data,), output, dtype)
