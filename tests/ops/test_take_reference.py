"""GATHER, and RESIZE_NEAREST_NEIGHBOR, which takes rows and columns."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.errors import ModelError, UnsupportedError
from microgen.ops.take import OP, TakeAttrs
from tests.ops.litert_models import Model, assert_equal
from tests.ops.litert_oracle import activation_type, int32_constant, needs_litert


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
def test_equals_litert(random_model: object) -> None:
    assert callable(random_model)
    for seed in range(120):
        assert_equal(random_model(seed))


def test_impossible_indices() -> None:
    data, indices = activation_type((2, 3), 1.0, 0), activation_type((4,), 1.0, 0)
    with pytest.raises(ValueError, match="the axis is 2"):
        OP.infer(TakeAttrs(2), [data, indices])
    assert "must be int32" in str(OP.check(TakeAttrs(1), [data, indices], [data]))


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


def test_batch_dimensions_are_refused() -> None:
    indices = [int32_constant("indices", np.array([0, 1]))]
    model = Model("GATHER", [(2, 3)], [(2,)], indices, "GatherOptions", {"batchDims": 1, "axis": 1})
    with pytest.raises(UnsupportedError, match="batch dimensions"):
        model.load()
