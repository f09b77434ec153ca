"""Layers whose weights are stored as integers: the cases are those of the float32 layers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Quant
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.weight_only.weight_only import TWINS, EmbeddingAttrs, Twin
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import convolving

Shape = tuple[int, ...]
_TWINS = {twin.op: twin for twin in TWINS}


def stored(rng: np.random.Generator, shape: Shape, axis: int, *, is_int4: bool) -> c.Tensor:
    """A constant of int8 or int4 with a scale per channel, or one for all."""
    low, high = (-8, 8) if is_int4 else (-128, 128)
    count = int(rng.choice([1, shape[axis]]))
    # Sums of products are about 1, so that clamped outputs are not small compared with them.
    usual = 1 / (high / 2 * (np.prod(shape) / shape[axis]) ** 0.5)
    scales = (usual * 2 ** rng.uniform(-2, 2, count)).astype(np.float32)
    own = axis if count > 1 or shape[axis] == 1 else None
    quant = Quant(tuple(map(float, scales)), (0,) * count, own)
    array = rng.integers(low, high, shape).astype(np.int8)
    kind = ArrayType(shape, DType.INT8, quant)
    return c.Tensor(kind, array, is_constant=True, is_int4=is_int4)


def _of(seed: int, twin: Twin, attrs: Attrs, data: Shape, weight: Shape) -> c.Case:
    rng = np.random.default_rng(seed)
    inputs = [c.float32(rng, data), stored(rng, weight, twin.axis, is_int4=bool(seed % 2))]
    if rng.integers(2):
        inputs.append(c.float32(rng, (weight[twin.axis],), 1.0, is_constant=True))
    return c.Case(f"{seed}", twin.op, twin.of(attrs), tuple(inputs), None, DType.FLOAT32)


def windowed(seed: int, *, depthwise: bool, paddings: tuple[str, ...] = ()) -> c.Case:
    """A convolution of a random geometry."""
    g = convolving.random_geometry(seed, depthwise=depthwise, paddings=paddings)
    twin = _TWINS["nn.depthwise_conv2d_weight_only" if depthwise else "nn.conv2d_weight_only"]
    return _of(seed, twin, g.attrs(Rounding.DOUBLE), g.data, g.filters)


def dense(seed: int) -> c.Case:
    """A fully connected layer of random sizes."""
    rng = np.random.default_rng(seed)
    lead = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 3))))
    data, units = (*lead, int(rng.integers(1, 40))), int(rng.integers(1, 12))
    attrs = DenseAttrs(list(Activation)[int(rng.integers(4))], Rounding.DOUBLE, bool(seed % 3))
    return _of(seed, _TWINS["nn.dense_weight_only"], attrs, data, (units, data[-1]))


def transposed(seed: int) -> c.Case:
    """A transposed convolution of a random geometry."""
    rng = np.random.default_rng(seed)
    batches, height, width, depth, filters = (int(n) for n in rng.integers(1, 6, 5))
    kernel, strides = rng.integers(1, 5, 2).tolist(), rng.integers(1, 4, 2).tolist()
    size = ((height - 1) * strides[0] + kernel[0], (width - 1) * strides[1] + kernel[1])
    attrs = Conv2DTransposeAttrs(
        (strides[0], strides[1]), "VALID", size, Activation.RELU, Rounding.DOUBLE
    )
    twin = _TWINS["nn.conv2d_transpose_weight_only"]
    return _of(seed, twin, attrs, (batches, height, width, depth), (filters, *kernel, depth))


def embedding(seed: int) -> c.Case:
    """Rows of a random table."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 9))
    row = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 3))))
    shape = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3))))
    ids = rng.integers(0, rows, shape).astype(np.int32)
    inputs = (
        c.Tensor(ArrayType(shape, DType.INT32), ids),
        stored(rng, (rows, *row), 0, is_int4=bool(seed % 2)),
    )
    return c.Case(f"{seed}", "nn.embedding", EmbeddingAttrs(), inputs, None, DType.FLOAT32)


def cases(count: int) -> Iterator[c.Case]:
    """So many cases of each layer."""
    for seed in range(count):
        yield windowed(seed, depthwise=False)
        yield windowed(seed, depthwise=True)
        yield dense(seed)
        yield transposed(seed)
        yield embedding(seed)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(tuple(cases(60)), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(tuple(cases(4)), tmp_path)


def test_an_index_without_a_row_is_an_error_status(tmp_path: Path) -> None:
    case = embedding(4)
    ids, table = case.inputs
    outside = np.full(ids.array.shape, table.type.shape[0], np.int32)
    wrong = dataclasses.replace(case, inputs=(dataclasses.replace(ids, array=outside), table))
    c.check((wrong,), tmp_path)


@pytest.mark.parametrize(
    ("case", "bytes_"),
    [
        (
            _of(
                0,
                _TWINS["nn.conv2d_weight_only"],
                convolving.Geometry().attrs(Rounding.DOUBLE),
                *shapes,
            ),
            n,
        )
        for shapes, n in [
            (((1, 5, 6, 4), (6, 3, 3, 4)), 4 * 36 * 4),
            (((1, 5, 6, 4), (6, 3, 3, 2)), 3 * 18 * 4),  # two groups of three filters
        ]
    ],
)
def test_four_filters_of_a_group_are_dequantized_at_a_time(case: c.Case, bytes_: int) -> None:
    for call in c.calls_of(case):
        assert call.kernel.scratch(call.case.node, call.case.graph) == bytes_
