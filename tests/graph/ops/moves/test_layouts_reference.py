from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.moves.layouts import (
    BROADCAST_TO,
    CONCATENATE,
    LAYOUT_TRANSFORM,
    TRANSPOSE,
    BroadcastToAttrs,
    ConcatenateAttrs,
    LayoutTransformAttrs,
    TransposeAttrs,
)
from tests.kernels.conformance.litert_models import Model, assert_equal, in_every_dtype
from tests.kernels.conformance.litert_oracle import activation_type, int32_constant, needs_litert
from tests.kernels.moves.test_copies import random_shapes

# BROADCAST_TO, and FILL with a computed value.


def broadcast_model(seed: int) -> Model:
    shape, own = random_shapes(np.random.default_rng(seed), 5)
    stated = [int32_constant("shape", np.array(shape))]
    return Model("BROADCAST_TO", [own], [shape], stated, "BroadcastToOptions", version=3, seed=seed)


def fill_model(seed: int) -> Model:
    shape, _ = random_shapes(np.random.default_rng(seed), 5)
    stated = [int32_constant("dims", np.array(shape))]
    return Model("FILL", [()], [shape], stated, "FillOptions", {}, True, version=3, seed=seed)


@needs_litert
@pytest.mark.parametrize("random_model", [broadcast_model, fill_model])
def test_broadcast_to_equals_litert(random_model: Callable[[int], Model]) -> None:
    for model in in_every_dtype(random_model, 12):
        assert_equal(model)


@pytest.mark.parametrize(
    ("shape", "own"), [((2, 3), (2,)), ((2, 3), (1, 2, 3)), ((2, 1), (2, 3)), ((), (1,))]
)
def test_broadcast_to_impossible_shapes(shape: tuple[int, ...], own: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="does not broadcast to"):
        BROADCAST_TO.infer(BroadcastToAttrs(shape), [activation_type(own, 1.0, 0)])


def random_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5)))]
    axis = int(rng.integers(len(shape)))
    sizes = rng.integers(1, 5, int(rng.integers(1, 8)))
    shapes = [(*shape[:axis], int(n), *shape[axis + 1 :]) for n in sizes]
    return Model(
        "CONCATENATION",
        shapes,
        [(*shape[:axis], int(sizes.sum()), *shape[axis + 1 :])],
        options_type="ConcatenationOptions",
        options={"axis": axis - int(rng.choice([0, len(shape)]))},
        seed=seed,
    )


@needs_litert
def test_concatenate_equals_litert() -> None:
    for model in in_every_dtype(random_model, 20):
        assert_equal(model)


def test_a_fused_activation_is_refused() -> None:
    model = Model(
        "CONCATENATION",
        [(2,), (2,)],
        [(4,)],
        options_type="ConcatenationOptions",
        options={"axis": 0, "fusedActivationFunction": 1},
    )
    with pytest.raises(UnsupportedError, match="fused activation"):
        model.load()


@pytest.mark.parametrize(
    ("axis", "shapes", "sentence"),
    [
        (0, [], "has no input"),
        (2, [(2, 3)], "the axis is 2; the first input is int8"),
        (1, [(2, 3), (1, 3)], "differ in more than their axis 1"),
        (1, [(2, 3), (2,)], "differ in more than their axis 1"),
    ],
)
def test_concatenate_impossible_shapes(
    axis: int, shapes: list[tuple[int, ...]], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        CONCATENATE.infer(ConcatenateAttrs(axis), [activation_type(s, 1.0, 0) for s in shapes])


def test_all_must_have_one_quantization() -> None:
    one, other = activation_type((2,), 1.0, 0), activation_type((2,), 1.0, 1)
    output = activation_type((4,), 1.0, 0)
    assert "must be equal" in str(CONCATENATE.check(ConcatenateAttrs(0), [one, other], [output]))


# TRANSPOSE, PACK and the operators on blocks, which are transpositions between reshapes.


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
def test_transpose_equals_litert(random_model: Callable[[int], Model]) -> None:
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


# layout_transform, compared with indices computed by hand, because LiteRT has no such operator.


def test_each_element_keeps_its_index_on_every_named_axis() -> None:
    data = np.arange(2 * 3 * 4 * 5, dtype=np.int8).reshape(2, 3, 4, 5)
    kind = ArrayType(data.shape, DType.INT8)
    attrs = LayoutTransformAttrs("NCHW", "NHWC")
    (found,) = LAYOUT_TRANSFORM.reference(attrs, Operands((data,), (kind,), (kind,)))
    for n, channel, h, w in np.ndindex(data.shape):
        assert found[n, h, w, channel] == data[n, channel, h, w]
    assert LAYOUT_TRANSFORM.infer(attrs, [kind]) == ((2, 4, 5, 3),)


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        ("NCHW", "NHWD", "'NHWD' is not an order of the axes of 'NCHW'"),
        ("NCHW", "NCHW8c", "is not an order"),
        ("NCHW8c", "NCHW8c", "is not an order"),
        ("NNHW", "NNHW", "is not an order"),
        ("NCW", "NWC", "does not have the 3 axes of 'NCW'"),
    ],
)
def test_layouts_that_fit_no_data(source: str, target: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LAYOUT_TRANSFORM.infer(
            LayoutTransformAttrs(source, target), [ArrayType((1, 2, 3, 4), DType.INT8)]
        )
