"""TRANSPOSE, PACK and the operators on blocks, which are transpositions between reshapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from microgen.base.errors import ModelError
from microgen.graph.ops.moves.layouts import TRANSPOSE, TransposeAttrs
from tests.kernels.conformance.litert_models import Model, assert_equal, in_every_dtype
from tests.kernels.conformance.litert_oracle import activation_type, int32_constant, needs_litert


def transpose_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 7))))
    axes = rng.permutation(len(shape))
    output = tuple(shape[axis] for axis in axes)
    stated = int32_constant("axes", axes - rng.choice([0, len(shape)], len(shape)))
    return Model("TRANSPOSE", [shape], [output], [stated], "TransposeOptions", seed=seed)


def pack_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5))))
    count, axis = int(rng.integers(1, 6)), int(rng.integers(len(shape) + 1))
    output = (*shape[:axis], count, *shape[axis:])
    options = {"valuesCount": count, "axis": axis - int(rng.choice([0, len(output)]))}
    return Model("PACK", [shape] * count, [output], [], "PackOptions", options, seed=seed)


def depth_model(seed: int) -> Model:
    """SPACE_TO_DEPTH or its inverse."""
    rng = np.random.default_rng(seed)
    n, height, width, depth = (int(k) for k in rng.integers(1, 4, 4))
    block = int(rng.integers(1, 4))
    deep = (n, height, width, depth * block * block)
    wide = (n, height * block, width * block, depth)
    options = {"blockSize": block}
    if rng.random() < 0.5:
        name = "SpaceToDepthOptions"
        return Model("SPACE_TO_DEPTH", [wide], [deep], [], name, options, seed=seed)
    name = "DepthToSpaceOptions"
    return Model("DEPTH_TO_SPACE", [deep], [wide], [], name, options, seed=seed)


def batch_model(seed: int) -> Model:
    """SPACE_TO_BATCH_ND or its inverse, of an image or a sequence."""
    rng = np.random.default_rng(seed)
    spatial = int(rng.integers(1, 3))
    blocks, counts = rng.integers(1, 4, spatial), rng.integers(1, 4, spatial)
    whole = blocks * counts
    sides = rng.integers(0, 3, (spatial, 2)) * (rng.random() < 0.7)
    sides[sides.sum(axis=1) >= whole] = 0
    n, depth = (int(k) for k in rng.integers(1, 4, 2))
    wide = (n, *(int(k) for k in whole - sides.sum(axis=1)), depth)
    deep = (n * int(blocks.prod()), *(int(k) for k in counts), depth)
    constants = [int32_constant("blocks", blocks), int32_constant("sides", sides)]
    if rng.random() < 0.5:
        name = "SpaceToBatchNDOptions"
        return Model("SPACE_TO_BATCH_ND", [wide], [deep], constants, name, seed=seed)
    name = "BatchToSpaceNDOptions"
    return Model("BATCH_TO_SPACE_ND", [deep], [wide], constants, name, seed=seed)


@needs_litert
@pytest.mark.parametrize("random_model", [transpose_model, pack_model, depth_model, batch_model])
def test_equals_litert(random_model: Callable[[int], Model]) -> None:
    for model in in_every_dtype(random_model, 20):
        assert_equal(model)


@pytest.mark.parametrize("axes", [(0,), (0, 0), (1, 2)])
def test_the_axes_are_an_order_of_the_datas(axes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="not an order of the axes"):
        TRANSPOSE.infer(TransposeAttrs(axes), [activation_type((2, 3), 1.0, 0)])


def blocks_of(code: str, shape: tuple[int, ...], blocks: list[int], sides: object) -> Model:
    constants = [int32_constant("b", np.array(blocks)), int32_constant("s", np.array(sides))]
    return Model(code, [shape], [shape], constants)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Model("PACK", [(2,), (3,)], [(2, 2)], options_type="PackOptions"), "different shapes"),
        (blocks_of("SPACE_TO_BATCH_ND", (1, 3, 1), [2], [[0, 0]]), "do not divide"),
        (blocks_of("SPACE_TO_BATCH_ND", (1, 3, 1), [3], [[-1, 1]]), r"paddings \[\[-1, 1\]\]"),
        (blocks_of("SPACE_TO_BATCH_ND", (1, 3, 1), [3, 1], [[0, 0]]), "paddings of shape"),
        (blocks_of("BATCH_TO_SPACE_ND", (3, 3, 1), [2], [[0, 0]]), "do not divide"),
        (blocks_of("BATCH_TO_SPACE_ND", (2, 3, 1), [2], [[3, 3]]), "0 elements"),
    ],
)
def test_impossible_layouts(model: Model, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        model.load()
