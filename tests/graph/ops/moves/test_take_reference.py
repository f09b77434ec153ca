"""GATHER, and RESIZE_NEAREST_NEIGHBOR, which picks rows and columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import StatusError
from microgen.graph.ops.moves.indexed import TAKE, TakeAttrs
from tests.kernels.conformance.every_dtype import dtype_of, random_array, random_type
from tests.kernels.conformance.litert_models import Model, assert_equal, in_every_dtype
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    by_litert,
    by_reference,
    int32_constant,
    needs_litert,
)
from tests.kernels.conformance.litert_oracle import assert_equal as assert_case_equal


def gather_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    axis = int(rng.integers(len(shape)))
    counts = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    indices = int32_constant("indices", rng.integers(0, shape[axis], counts))
    output = (*shape[:axis], *counts, *shape[axis + 1 :])
    options = {"axis": axis - int(rng.choice([0, len(shape)]))}
    return Model("GATHER", [shape], [output], [indices], "GatherOptions", options, seed=seed)


def nearest_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    n, channels = (int(k) for k in rng.integers(1, 4, 2))
    height, width, out_height, out_width = (int(k) for k in rng.integers(1, 40, 4))
    options = ({}, {"alignCorners": True}, {"halfPixelCenters": True})[seed % 3]
    shape, output = (n, height, width, channels), (n, out_height, out_width, channels)
    size = [int32_constant("size", np.array([out_height, out_width]))]
    name = "ResizeNearestNeighborOptions"
    return Model(
        "RESIZE_NEAREST_NEIGHBOR", [shape], [output], size, name, options, version=3, seed=seed
    )


@needs_litert
@pytest.mark.parametrize("random_model", [gather_model, nearest_model])
def test_equals_litert(random_model: Callable[[int], Model]) -> None:
    for model in in_every_dtype(random_model, 20):
        assert_equal(model)


def test_impossible_indices() -> None:
    data, indices = activation_type((2, 3), 1.0, 0), activation_type((4,), 1.0, 0)
    with pytest.raises(ValueError, match="the axis is 2"):
        TAKE.infer(TakeAttrs(2), [data, indices])
    assert "must be int32" in str(TAKE.check(TakeAttrs(1), [data, indices], [data]))


def test_indices_outside_the_axis_are_refused() -> None:
    indices = [int32_constant("indices", np.array([0, 3]))]
    model = Model("GATHER", [(3,)], [(2,)], indices, "GatherOptions")
    with pytest.raises(ModelError, match="indices from 0 to 3; 0 to 2 are expected"):
        model.load()


def test_enormous_images_are_refused() -> None:
    size = [int32_constant("size", np.array([2**20, 1]))]
    name = "ResizeNearestNeighborOptions"
    model = Model("RESIZE_NEAREST_NEIGHBOR", [(1, 1, 1, 1)], [(1, 2**20, 1, 1)], size, name)
    with pytest.raises(UnsupportedError, match="up to 65536 rows and columns"):
        model.load()


def computed_case(seed: int) -> Case:
    """A case of fed or constant indices and of batches. Some indices are outside the axis."""
    rng, dtype = np.random.default_rng(seed), dtype_of(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    axis = int(rng.integers(len(shape)))
    batch_dims = int(rng.integers(axis + 1))
    own = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    least = -1 if rng.random() < 0.2 else 0
    indices = rng.integers(least, shape[axis] - least, (*shape[:batch_dims], *own))
    data, wide = random_type(rng, shape, dtype), seed % 4 == 1
    counts_back = batch_dims < indices.ndim and rng.random() < 0.5
    return Case(
        TAKE.name,
        TakeAttrs(axis, batch_dims),
        [data, ArrayType(indices.shape, DType.INT64 if wide else DType.INT32)],
        [random_array(rng, shape, dtype), indices.astype(np.int64 if wide else np.int32)],
        data.quant,
        "GATHER",
        "GatherOptions",
        {"axis": axis, "batchDims": batch_dims - indices.ndim * counts_back},
        output_dtype=dtype,
    )


def is_inside(case: Case) -> bool:
    assert isinstance(case.attrs, TakeAttrs)
    indices, size = case.arrays[1], case.types[0].shape[case.attrs.axis]
    return bool(indices.min() >= 0 and indices.max() < size)


@needs_litert
def test_computed_indices_and_batches_equal_litert() -> None:
    cases = [computed_case(seed) for seed in range(120)]
    for case in cases:
        if is_inside(case):
            assert_case_equal(case)
    outside = [case for case in cases if not is_inside(case)]
    assert 5 < len(outside) < 40
    for case in outside:
        with pytest.raises(StatusError) as caught:
            by_reference(case)
        assert caught.value.status == 0x0803
        with pytest.raises(RuntimeError, match="index out of bounds"):
            by_litert(case)


@pytest.mark.parametrize(
    ("attrs", "indices", "sentence"),
    [
        (TakeAttrs(1, 2), (2, 3), "2 axes are batches; the axis 1 must come after them"),
        (TakeAttrs(1, 1), (), "1 axes are batches"),
        (TakeAttrs(1, 1), (3,), "differ in their first 1 axes"),
    ],
)
def test_impossible_batches(attrs: TakeAttrs, indices: tuple[int, ...], sentence: str) -> None:
    data = activation_type((2, 3), 1.0, 0)
    with pytest.raises(ValueError, match=sentence):
        TAKE.infer(attrs, [data, ArrayType(indices, DType.INT32)])
