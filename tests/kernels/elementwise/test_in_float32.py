"""int8 operators on the numbers that are stored, computed in float32, as ONNX specifies them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.quantization.conversions import QUANTIZE_TO, QuantizeAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.dense import matmuls
from tests.kernels.elementwise import broadcasting
from tests.kernels.quantization import test_conversions

PAIRS: dict[str, tuple[Callable[..., Attrs], Callable[[Array, Array], Array]]] = {
    "add": (AddAttrs, np.add),
    "subtract": (SubtractAttrs, np.subtract),
    "multiply": (MultiplyAttrs, np.multiply),
}


def _scale(rng: np.random.Generator) -> float:
    """Any, or a power of two, so that results are ties."""
    if rng.integers(3) == 0:
        return 2.0 ** int(rng.integers(-8, 0))
    return 10.0 ** float(rng.uniform(-3, 0))


def _quant(rng: np.random.Generator, *, far: float = 0.0) -> Quant:
    """``far`` is how many powers of ten the scale may be off."""
    return c.quant(
        _scale(rng) * 10.0 ** float(rng.uniform(-far, far)), int(rng.integers(-128, 128))
    )


def _pair(op: str, seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    shapes = broadcasting.random_shapes(rng)
    inputs = [c.int8(rng, shape, _quant(rng)) for shape in shapes]
    attrs = PAIRS[op][0](list(Activation)[int(rng.integers(4))], in_float32=True)
    return c.Case(f"{op} {seed}", op, attrs, tuple(inputs), _quant(rng, far=seed % 4 * 3.0))


def _wide_pair(op: str, seed: int) -> c.Case:
    """The same for int16, whose zero points are 0."""
    case, rng = _pair(op, seed), np.random.default_rng(seed)
    quants = [c.quant(_scale(rng) * 2.0**-8, 0) for _ in range(3)]
    inputs = tuple(
        c.Tensor(
            ArrayType(each.type.shape, DType.INT16, quant),
            rng.integers(-(2**15), 2**15, each.type.shape).astype(np.int16),
        )
        for each, quant in zip(case.inputs, quants, strict=False)
    )
    return c.Case(f"wide {op} {seed}", op, case.attrs, inputs, quants[2], DType.INT16)


def _mean(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 7, 4))
    axes = ((1, 2), (3,), (0, 2), (0, 1, 2, 3))[seed % 4]
    data = c.int8(rng, shape, _quant(rng))
    attrs = MeanAttrs(axes, bool(rng.integers(2)), in_float32=True)
    return c.Case(f"mean {seed}", "mean", attrs, (data,), _quant(rng, far=seed % 3 * 5.0))


def _mean_of_rows(seed: int) -> c.Case:
    """All rows of an image at once."""
    rng = np.random.default_rng(seed)
    shape = (1, *(int(n) for n in rng.integers(1, 9, 3)))
    attrs = MeanAttrs((1, 2), keep_dims=True, in_float32=True, rows=shape[1])
    data = c.int8(rng, shape, _quant(rng))
    return c.Case(f"mean of rows {seed}", "mean", attrs, (data,), _quant(rng, far=seed % 3 * 5.0))


def _pool(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    shape = (int(rng.integers(1, 3)), *(int(n) for n in rng.integers(4, 9, 3)))
    padding = ("SAME", "VALID")[seed % 2]
    strides = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    activation = list(Activation)[int(rng.integers(4))]
    attrs = AvgPool2DAttrs(size, strides, padding, activation, in_float32=True)  # type: ignore[arg-type]
    data = c.int8(rng, shape, _quant(rng))
    quant = data.type.quant if seed % 3 else _quant(rng, far=seed % 5 * 3.0)
    return c.Case(f"pool {seed}", "nn.avg_pool2d", attrs, (data,), quant)


def _matmul(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    attrs, lhs, rhs, _ = matmuls.random_operands(rng)
    attrs = dataclasses.replace(attrs, in_float32=True)
    inputs = (c.int8(rng, lhs, _quant(rng)), c.int8(rng, rhs, _quant(rng)))
    return c.Case(f"matmul {seed}", "nn.batch_matmul", attrs, inputs, _quant(rng, far=3.0))


def _quantize(seed: int) -> c.Case:
    rng, dtype = np.random.default_rng(seed), QUANTIZE_TO[seed % len(QUANTIZE_TO)]
    quant = test_conversions.random_output(rng, dtype)
    special = np.array(test_conversions.QUANTIZE_SPECIAL, np.float32)
    values = special if seed < 4 else test_conversions.quantize_values(rng, quant, dtype)
    data = c.Tensor(ArrayType(values.shape, DType.FLOAT32), values)
    return c.Case(f"quantize {seed}", "qnn.quantize", QuantizeAttrs(True), (data,), quant, dtype)


MAKERS: Sequence[Callable[[int], c.Case]] = (
    *(lambda seed, op=op: _pair(op, seed) for op in PAIRS),  # type: ignore[misc]
    *(lambda seed, op=op: _wide_pair(op, seed) for op in PAIRS),  # type: ignore[misc]
    _mean,
    _mean_of_rows,
    _pool,
    _matmul,
    _quantize,
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [make(seed) for make in MAKERS for seed in range(40)]
    c.check(cases, tmp_path)
    reached = {call.kernel.symbol for case in cases for call in c.calls_of(case)}
    every = {kernel.symbol for found in kernels.registry().values() for kernel in found}
    assert reached >= {symbol for symbol in every if "in_float" in symbol}
    assert reached >= {"mg_affine_sum_s8", "mg_scaled_product_s8", "mg_pool_mean_s8"}


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([make(seed) for make in MAKERS for seed in range(4)], tmp_path)


def _real(values: Array, quant: Quant) -> Array:
    centred = values.astype(np.float32) - np.float32(quant.zero_point[0])
    return centred * np.float32(quant.scale[0])


def _stored(values: Array, quant: Quant) -> Array:
    rounded = np.rint(values / np.float32(quant.scale[0])).astype(np.float64)
    return np.clip(rounded + quant.zero_point[0], -128, 127)


@pytest.mark.parametrize("op", PAIRS)
@pytest.mark.parametrize("seed", range(4))
def test_elementwise_references_are_the_formula(op: str, seed: int) -> None:
    case = _pair(op, 4 * seed)
    case = dataclasses.replace(case, attrs=PAIRS[op][0](Activation.NONE, in_float32=True))
    lhs, rhs = (_real(t.array, t.type.quant) for t in case.inputs if t.type.quant)
    assert case.output_quant is not None
    wanted = _stored(PAIRS[op][1](lhs, rhs), case.output_quant)
    np.testing.assert_array_equal(case.expected, wanted)


@pytest.mark.parametrize("seed", range(0, 12, 3))
def test_means_are_the_formula(seed: int) -> None:
    case = _mean(seed)
    (data,), attrs, quant = case.inputs, case.attrs, case.output_quant
    assert isinstance(attrs, MeanAttrs)
    assert quant is not None
    centred = data.array.astype(np.int64) - data.type.zero_point
    sums = centred.sum(axis=attrs.axes, keepdims=attrs.keep_dims)
    count = np.float32(centred.size // sums.size)
    scale = np.float32(data.type.scale) / (count * np.float32(quant.scale[0]))
    wanted = np.clip(np.rint(sums.astype(np.float32) * scale) + quant.zero_point[0], -128, 127)
    np.testing.assert_array_equal(case.expected, wanted)


def test_ties_are_quantized_to_even() -> None:
    data = ArrayType((6,), DType.FLOAT32)
    values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5], np.float32)
    case = c.Case("", "qnn.quantize", QuantizeAttrs(True), (c.Tensor(data, values),), c.quant(1.0))
    assert case.expected.tolist() == [0, 2, 2, 0, -2, -2]


def test_tables_are_the_function_of_the_stored_numbers() -> None:
    data, output = (
        ArrayType((), DType.INT8, c.quant(s, z)) for s, z in ((0.05, -3), (1 / 256, -128))
    )
    found = in_float32.table(lambda x: 1 / (1 + np.exp(-x)), data, output)
    values = np.arange(-128, 128)
    numbers = (values + 3).astype(np.float32) * np.float32(0.05)
    wanted = np.clip(np.rint(1 / (1 + np.exp(-numbers)) * np.float32(256)) - 128, -128, 127)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("op", ["nn.batch_matmul", "mean", "nn.avg_pool2d"])
def test_other_dtypes_are_refused(op: str) -> None:
    kind = ArrayType((1, 2, 2, 1), DType.INT16, c.quant(1.0))
    none = Activation.NONE
    attrs: dict[str, Attrs] = {
        "nn.batch_matmul": BatchMatmulAttrs(False, False, in_float32=True),
        "mean": MeanAttrs((1,), True, in_float32=True),
        "nn.avg_pool2d": AvgPool2DAttrs((1, 1), (1, 1), "VALID", none, in_float32=True),
    }
    count = 1 if op in ("mean", "nn.avg_pool2d") else 2
    assert "int8" in str(registry()[op].check(attrs[op], [kind] * count, [kind]))
