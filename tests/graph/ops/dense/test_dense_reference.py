from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tflite

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.dense.dense import DENSE, DenseAttrs
from tests.kernels.conformance.litert_oracle import (
    FUSED,
    Case,
    activation_type,
    assert_equal,
    by_reference,
    float_type,
    needs_litert,
    random_activation_function,
    random_floats,
    random_weighted,
)


def random_float_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    rows, features, units = int(rng.integers(1, 5)), int(rng.integers(1, 300)), 7
    activation = random_activation_function(rng)
    types = [float_type(shape) for shape in ((rows, features), (units, features), (units,))]
    return Case(
        DENSE.name,
        DenseAttrs(activation, Rounding.SINGLE, keep_num_dims=False),
        types,
        [random_floats(rng, t.shape) for t in types],
        None,
        "FULLY_CONNECTED",
        "FullyConnectedOptions",
        {"fusedActivationFunction": FUSED[activation]},
        constants=(1, 2),
        output_dtype=DType.FLOAT32,
    )


@needs_litert
def test_floats_equal_litert() -> None:
    for seed in range(50):
        assert_equal(random_float_case(seed))


def random_int16_case(seed: int, dtype: DType | None, *, largest: int = 2**30) -> Case:
    """A case whose outputs use all of int16. The type of an int32 bias is declared."""
    rng = np.random.default_rng(seed)
    features, units = int(rng.choice([1, 2, 17, 64, 300])), int(rng.integers(1, 12))
    per_channel = units > 1 and bool(rng.integers(2))
    scales = 2.0 ** rng.uniform(-12, 2, units if per_channel else 1)
    weight = Quant(
        tuple(float(np.float32(s)) for s in scales),
        (0,) * scales.size,
        0 if per_channel else None,
    )
    x, out = (Quant((float(np.float32(2.0 ** rng.uniform(-15, -5))),), (0,)) for _ in range(2))
    types = [
        ArrayType((int(rng.integers(1, 5)), features), DType.INT16, x),
        ArrayType((units, features), DType.INT8, weight),
    ]
    arrays = [rng.integers(-32768, 32768, types[0].shape), rng.integers(-128, 128, types[1].shape)]
    typical = x.scale[0] * max(weight.scale) * 40 * features**0.5
    if dtype:
        types.append(ArrayType((units,), dtype))
        arrays.append(rng.integers(-largest, largest, units) >> int(rng.integers(0, 20)))
        typical = max(typical, x.scale[0] * max(weight.scale) * abs(arrays[2]).max() / 30000)
    out = Quant((float(np.float32(typical * 2.0 ** rng.uniform(-1, 3))),), (0,))
    activation = random_activation_function(rng)
    options = {"fusedActivationFunction": FUSED[activation]}
    if dtype is DType.INT32:
        options["quantizedBiasType"] = tflite.TensorType.INT32
    return Case(
        DENSE.name,
        DenseAttrs(activation, Rounding.REAL, keep_num_dims=False),
        types,
        [a.astype(t.dtype.numpy) for a, t in zip(arrays, types, strict=True)],
        out,
        "FULLY_CONNECTED",
        "FullyConnectedOptions",
        options,
        constants=range(1, len(types)),
        version=11,
        output_dtype=DType.INT16,
    )


@needs_litert
@pytest.mark.parametrize("dtype", [None, DType.INT32, DType.INT64])
def test_int16_equals_litert(dtype: DType | None) -> None:
    for seed in range(150):
        assert_equal(random_int16_case(seed, dtype))


@needs_litert
def test_int16_with_large_biases_equals_litert() -> None:
    for seed in range(100):
        assert_equal(random_int16_case(seed, DType.INT64, largest=2**46))


def test_int16_sums_are_rounded_real_and_stay_within_int32() -> None:
    case = random_int16_case(3, None)
    single = replace(case.attrs, rounding=Rounding.SINGLE)
    output = ArrayType((1, 1), DType.INT16, case.output_quant)
    assert "int16 sums are rounded 'single'; it must be real" in str(
        DENSE.check(single, case.types, (output,))
    )
    small = replace(output, quant=Quant((1e-30,), (0,)))
    assert "the output's scale is too small" in str(DENSE.check(case.attrs, case.types, (small,)))


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    features = int(rng.choice([1, 2, 5, 17, 64, 300]))
    units = int(rng.integers(1, 12))
    keep = bool(rng.random() < 0.4)
    leading = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 3))))
    has_bias = bool(rng.random() < 0.8)
    inputs = random_weighted(rng, (*leading, features), (units, features), 0, features, has_bias)
    activation = random_activation_function(rng)
    options = {"keepNumDims": keep, "fusedActivationFunction": FUSED[activation]}
    return Case(
        DENSE.name,
        DenseAttrs(activation, Rounding.SINGLE, keep),
        inputs.types,
        inputs.arrays,
        inputs.output_quant,
        "FULLY_CONNECTED",
        "FullyConnectedOptions",
        options,
        constants=range(1, len(inputs.types)),
        version=5,
    )


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize("zero_point", [0, 3, -10])
def test_ties_round_away_from_zero_as_in_litert(zero_point: int) -> None:
    sums = np.array([8, 24, 40, -8, -24, -40, 7, -7, 9, -9], np.int32)  # in sixteenths
    case = random_case(0)
    data, weight = activation_type((1, 1), 0.5, 0), activation_type((10, 1), 0.5, 0)
    bias = ArrayType((10,), DType.INT32, Quant((0.25,), (0,)))
    case = replace(
        case,
        attrs=DenseAttrs(Activation.NONE, Rounding.SINGLE, False),
        types=[data, weight, bias],
        arrays=[np.zeros((1, 1), np.int8), np.zeros((10, 1), np.int8), sums],
        output_quant=Quant((4.0,), (zero_point,)),
        options={},
        constants=(1, 2),
    )
    assert (by_reference(case) - zero_point).tolist() == [[1, 2, 3, -1, -2, -3, 0, 0, 1, -1]]
    assert_equal(case)


@pytest.mark.parametrize(
    ("data", "weight", "bias", "keep", "sentence"),
    [
        ((1, 5), (2, 4), None, False, "is not rows of the weight's 4 features"),
        ((2, 2), (2, 4), None, True, "must end in the weight's 4 features"),
        ((1, 4), (4,), None, False, "must have 2 dimensions"),
        ((1, 4), (2, 4), (4,), False, "one value per unit, 2, is expected"),
    ],
)
def test_impossible_shapes(
    data: tuple[int, ...],
    weight: tuple[int, ...],
    bias: tuple[int, ...] | None,
    keep: bool,
    sentence: str,
) -> None:
    types = [ArrayType(data, DType.INT8), ArrayType(weight, DType.INT8)]
    types += [ArrayType(bias, DType.INT32)] if bias else []
    with pytest.raises(ValueError, match=sentence):
        DENSE.infer(DenseAttrs(Activation.NONE, Rounding.SINGLE, keep), types)


def test_rows_without_keep_num_dims_are_flattened() -> None:
    types = [ArrayType((2, 3, 8), DType.INT8), ArrayType((5, 4), DType.INT8)]
    assert DENSE.infer(DenseAttrs(Activation.NONE, Rounding.SINGLE, False), types) == ((12, 5),)
