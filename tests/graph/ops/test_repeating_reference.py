"""TILE, BROADCAST_ARGS and ZEROS_LIKE, which need no op of their own."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert
from microgen.graph.ir.graph import DType, Graph
from microgen.kernels import registry as kernels
from tests.kernels.conformance.litert_models import (
    Model,
    assert_equal,
    by_reference,
    in_every_dtype,
)
from tests.kernels.conformance.litert_oracle import int32_constant, needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

Shape = tuple[int, ...]


def tile_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 6))))
    return tile(shape, tuple(int(n) for n in rng.integers(1, 4, len(shape))), seed)


def tile(shape: Shape, counts: Shape, seed: int = 0) -> Model:
    wide = seed % 2 == 1
    stated = np.array(counts, np.int64 if wide else np.int32)
    constant = TensorSpec("counts", stated.shape, stated.dtype.name, stated)
    final = tuple(n * count for n, count in zip(shape, counts, strict=True))
    return Model("TILE", [shape], [final], [constant], "TileOptions", seed=seed)


@needs_litert
def test_tile_equals_litert() -> None:
    for model in in_every_dtype(tile_model, 25):
        assert_equal(model)


def _broadcasts(graph: Graph) -> int:
    for node in graph.nodes:
        for kernel in kernels().get(node.op, ()):
            assert kernel.refusal(node, graph) is None, node
    return sum(node.op == "broadcast_to" for node in graph.nodes)


@pytest.mark.parametrize(
    ("shape", "counts", "expected"),
    [
        ((2, 3), (1, 1), 0),
        ((2, 3), (2, 3), 1),
        ((2, 3, 4), (2, 2, 2), 1),
        ((1, 3, 4, 5), (1, 2, 2, 2), 1),
        ((2, 3, 4, 5), (1, 2, 2, 2), 2),
        ((2, 3, 4, 5, 6), (2, 2, 2, 2, 2), 2),
        ((2, 1, 3, 1, 4, 1, 5, 6), (2, 2, 2, 2, 2, 2, 2, 2), 4),
    ],
)
def test_the_kernel_takes_every_broadcast_of_a_tile(
    shape: Shape, counts: Shape, expected: int
) -> None:
    model = tile(shape, counts)
    assert _broadcasts(model.load()) == expected
    (found,) = by_reference(model)
    np.testing.assert_array_equal(found, np.tile(model.inputs()[0], counts))


@pytest.mark.parametrize("counts", [(2,), (2, 2, 2), (-1, 2), (2**31 - 1, -(2**31))])
def test_impossible_counts_are_refused(counts: Shape) -> None:
    stated = [int32_constant("counts", np.array(counts).astype(np.int32))]
    model = Model("TILE", [(2, 3)], [(4, 6)], stated, "TileOptions")
    with pytest.raises(ModelError, match="one number of 1 or more is expected for each axis"):
        model.load()


def test_enormous_tiles_are_refused() -> None:
    stated = [int32_constant("counts", np.array([2**30, 2**30]))]
    model = Model("TILE", [(2, 3)], [(4, 6)], stated, "TileOptions")
    with pytest.raises(ModelError, match="bytes; at most 2147483647 are accepted"):
        model.load()


def test_computed_counts_are_refused() -> None:
    shapes = {"x": (2, 3), "counts": (2,), "y": (4, 6)}
    tensors = [TensorSpec(name, shape, "int32") for name, shape in shapes.items()]
    operator = OperatorSpec("TILE", ["x", "counts"], ["y"], "TileOptions")
    model = build_model(tensors, [operator], ["x", "counts"], ["y"])
    with pytest.raises(UnsupportedError, match="is computed while the model runs"):
        convert.load(model, file="m.tflite", numerics=numerics.profile("litert"))


def zeros_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    dtype = (DType.FLOAT32, DType.INT32, DType.INT64)[seed % 3]
    return Model("ZEROS_LIKE", [shape], [shape], options_type="ZerosLikeOptions", dtype=dtype)


@needs_litert
def test_zeros_equal_litert() -> None:
    for seed in range(12):
        assert_equal(zeros_model(seed))


def test_zeros_of_other_dtypes_are_refused() -> None:
    for dtype in (DType.INT8, DType.INT16, DType.BOOL):
        with pytest.raises(UnsupportedError, match="ZEROS_LIKE"):
            dataclasses.replace(zeros_model(0), dtype=dtype).load()


def filled(lhs: Shape, rhs: Shape, result: Shape) -> Graph:
    """The graph of a FILL of the shape to which two shapes broadcast."""
    arrays = {"lhs": np.array(lhs, np.int64), "rhs": np.array(rhs, np.int64)}
    tensors = [TensorSpec(name, array.shape, "int64", array) for name, array in arrays.items()]
    tensors.append(TensorSpec("shape", (len(result),), "int64"))
    tensors += [TensorSpec("x", (), "float32"), TensorSpec("y", result, "float32")]
    operators = [
        OperatorSpec("BROADCAST_ARGS", ["lhs", "rhs"], ["shape"]),
        OperatorSpec("FILL", ["shape", "x"], ["y"], "FillOptions"),
    ]
    model = build_model(tensors, operators, ["x"], ["y"])
    return convert.load(model, file="m.tflite", numerics=numerics.profile("litert"))


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [((3,), (1,), (3,)), ((1, 3), (5, 1, 1), (5, 1, 3)), ((2, 2), (2, 2), (2, 2))],
)
def test_shapes_are_broadcast(lhs: Shape, rhs: Shape, expected: Shape) -> None:
    # The declared shape of the output does not matter.
    for declared in (expected, (*expected[:-1], 7)):
        graph = filled(lhs, rhs, declared)
        assert [node.op for node in graph.nodes] == ["broadcast_to"]
        assert graph.types["y"].shape == expected


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(ModelError, match=r"\[2, 3\] and \[2\], which do not broadcast"):
        filled((2, 3), (2,), (2, 3))
