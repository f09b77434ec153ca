"""ADD_N, L2_POOL_2D, REVERSE_V2 and SQUARE, which are made of other ops, and the importer of
DYNAMIC_UPDATE_SLICE."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import tflite

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert
from microgen.graph.ir.graph import Array, DType
from tests.kernels.conformance.litert_models import (
    Model,
    assert_equal,
    by_litert,
    by_reference,
    in_every_dtype,
)
from tests.kernels.conformance.litert_oracle import int32_constant, needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

Shape = tuple[int, ...]


def random_shape(rng: np.random.Generator) -> Shape:
    return tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))


@needs_litert
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.INT32], ids=lambda dtype: dtype.value)
def test_sums_of_many_equal_litert(dtype: DType) -> None:
    for seed in range(10):
        shape = random_shape(np.random.default_rng(seed))
        model = Model("ADD_N", [shape] * (2 + seed % 4), [shape], seed=seed, dtype=dtype)
        assert_equal(model)


@pytest.mark.parametrize("shapes", [[(2, 3)], [(2, 3), (3,)], [(2, 3), (2, 3), (1, 3)]])
def test_sums_of_other_shapes_are_refused(shapes: list[Shape]) -> None:
    with pytest.raises(ModelError, match="two or more of the same shape are expected"):
        Model("ADD_N", shapes, [(2, 3)], dtype=DType.INT32).load()


@pytest.mark.parametrize(
    ("code", "count", "said"),
    [("ADD_N", 2, "only TensorFlow Lite Micro computes"), ("SQUARE", 1, "has no kernel")],
)
def test_dtypes_that_litert_lacks_are_refused(code: str, count: int, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        Model(code, [(2,)] * count, [(2,)], dtype=DType.INT8).load()


@needs_litert
def test_squares_equal_litert() -> None:
    for seed in range(10):
        shape = random_shape(np.random.default_rng(seed))
        assert_equal(Model("SQUARE", [shape], [shape], seed=seed, dtype=DType.FLOAT32))


def pool(shape: Shape, final: Shape, **options: int) -> Model:
    stated = {"filterHeight": 3, "filterWidth": 2, "strideH": 2, "strideW": 1, **options}
    return Model("L2_POOL_2D", [shape], [final], (), "Pool2DOptions", stated, dtype=DType.FLOAT32)


@needs_litert
@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELU6", "RELU_N1_TO_1"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pools_are_close_to_litert(padding: str, activation: str) -> None:
    options = {
        "padding": getattr(tflite.Padding, padding),
        "fusedActivationFunction": getattr(tflite.ActivationFunctionType, activation),
    }
    final = (2, 4, 5, 3) if padding == "SAME" else (2, 3, 4, 3)
    model = pool((2, 7, 5, 3), final, **options)
    (ours,), (theirs,) = by_reference(model), by_litert(model)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_pools_of_integers_are_refused() -> None:
    model = dataclasses.replace(pool((1, 3, 2, 1), (1, 1, 1, 1), padding=1), dtype=DType.INT8)
    with pytest.raises(UnsupportedError, match="supported: float32"):
        model.load()


def reverse(shape: Shape, axes: list[int], seed: int = 0) -> Model:
    stated = [int32_constant("axes", np.array(axes, np.int32))]
    return Model("REVERSE_V2", [shape], [shape], stated, "ReverseV2Options", seed=seed)


def reverse_model(seed: int) -> Model:
    """A model that reverses axes next to each other, the only ones that LiteRT takes."""
    rng = np.random.default_rng(seed)
    shape = random_shape(rng)
    first = int(rng.integers(len(shape)))
    axes = list(range(first, int(rng.integers(first, len(shape))) + 1))
    return reverse(shape, [axis - len(shape) * (seed % 2) for axis in axes], seed)


@needs_litert
def test_reversals_equal_litert() -> None:
    for model in in_every_dtype(reverse_model, 12):
        assert_equal(model)


def test_axes_apart_are_reversed() -> None:
    model = reverse((2, 3, 4), [2, 0])
    (found,) = by_reference(model)
    np.testing.assert_array_equal(found, model.inputs()[0][::-1, :, ::-1])


@pytest.mark.parametrize("axes", [[1, 1], [1, -1]])
def test_an_axis_is_reversed_once(axes: list[int]) -> None:
    with pytest.raises(ModelError, match="each may be there once"):
        reverse((2, 3), axes).load()


def update(index: TensorSpec) -> bytes:
    """A model that replaces two of six values."""
    sizes = {"x": (6,), "part": (2,), "y": (6,)}
    tensors = [*(TensorSpec(name, shape, "int32") for name, shape in sizes.items()), index]
    operator = OperatorSpec(
        "DYNAMIC_UPDATE_SLICE", ["x", "part", "index"], ["y"], "DynamicUpdateSliceOptions"
    )
    fed = ["x", "part", *(["index"] if index.data is None else [])]
    return build_model(tensors, [operator], fed, ["y"])


def load(model: bytes) -> dict[str, Array]:
    graph = convert.load(model, file="m.tflite", numerics=numerics.profile("litert"))
    return dict(graph.constants)


def test_a_constant_index_of_int64_becomes_int32() -> None:
    for wide, expected in ((3, 3), (2**40, 2**31 - 1), (-(2**40), -(2**31))):
        (found,) = load(update(TensorSpec("index", (1,), "int64", np.array([wide])))).values()
        assert (found.dtype, found.tolist()) == (np.int32, [expected])


def test_a_computed_index_of_int64_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="supported: int32"):
        load(update(TensorSpec("index", (1,), "int64")))
