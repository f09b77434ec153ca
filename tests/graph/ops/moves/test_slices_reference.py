from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.compiler.passes import run
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from microgen.graph.ops.moves.slices import (
    DYNAMIC_UPDATE_SLICE,
    SLIDE,
    STRIDED_SLICE,
    DynamicUpdateSliceAttrs,
    SlideAttrs,
    StridedSliceAttrs,
)
from tests.kernels.conformance import litert_models
from tests.kernels.conformance.every_dtype import dtype_of, random_array, random_type
from tests.kernels.conformance.litert_models import (
    Model,
    Shape,
    by_reference,
    in_every_dtype,
)
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    int32_constant,
    needs_litert,
)
from tests.kernels.moves.test_slices import random_shapes
from tests.support import streaming


@needs_litert
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", ["stream", "slide"])
def test_slide_equals_litert(kind: str, seed: int) -> None:
    """Files have it as a concatenation and a slice, in either order."""
    rng = np.random.default_rng(seed)
    new, rest = int(rng.integers(1, 4)), tuple(map(int, rng.integers(1, 6, 2)))
    m = streaming.Model()
    data = m.input("x", (1, new, *rest))
    m.outputs = [getattr(m, kind)(data, "window", new + int(rng.integers(1, 5)))]
    samples = rng.integers(-128, 128, (5, 1, new, *rest)).astype(np.int8)
    model = m.to_bytes()
    graph = run(frontend.load(model, file="m.tflite", numerics=profile("litert")))
    assert "slide" in [node.op for node in graph.nodes]
    state = initial_state(graph)
    found = [
        evaluate(graph, {"x": sample}, registry(), state)[graph.outputs[0]] for sample in samples
    ]
    np.testing.assert_array_equal(np.stack(found), streaming.by_litert(model, samples))


@pytest.mark.parametrize(
    ("axis", "shapes", "sentence"),
    [
        (0, [(2, 3)], "has 1 inputs"),
        (2, [(2, 3), (1, 3)], "the axis is 2; the window is int8"),
        (1, [(2, 3), (2, 1)], "the axis is 1; the window is int8"),
        (0, [(2, 3), (1, 4)], "differ in more than their axis 0"),
        (0, [(2, 3), (1,)], "differ in more than their axis 0"),
        (0, [(2, 3), (2, 3)], "the new rows are"),
    ],
)
def test_slide_impossible_shapes(axis: int, shapes: list[tuple[int, ...]], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        SLIDE.infer(SlideAttrs(axis), [activation_type(s, 1.0, 0) for s in shapes])


def test_all_must_have_one_quantization() -> None:
    one, other = activation_type((2, 2), 1.0, 0), activation_type((1, 2), 1.0, 1)
    assert "must be equal" in str(SLIDE.check(SlideAttrs(0), [one, other], [one]))


# SLICE, STRIDED_SLICE, SPLIT, SPLIT_V and UNPACK are slices, some followed by a reshape.

MASKS = ("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask")


def random_shape(rng: np.random.Generator, most: int = 5) -> Shape:
    return tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(1, most + 1))))


def constant(name: str, values: object) -> object:
    return int32_constant(name, np.array(values, np.int32))


def slice_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = random_shape(rng)
    begin = [int(rng.integers(n)) for n in shape]
    counts = [int(rng.integers(1, n - b + 1)) for n, b in zip(shape, begin, strict=True)]
    stated = [
        -1 if b + c == n and rng.random() < 0.5 else c
        for n, b, c in zip(shape, begin, counts, strict=True)
    ]
    constants = [constant("begin", begin), constant("size", stated)]
    return Model("SLICE", [shape], [tuple(counts)], constants, seed=seed)


def strided_model(
    shape: Shape,
    output: Shape,
    begin: list[int],
    end: list[int],
    strides: list[int],
    seed: int = 0,
    **masks: int,
) -> Model:
    names = ("begin", "end", "strides")
    constants = [constant(n, v) for n, v in zip(names, (begin, end, strides), strict=True)]
    return Model(
        "STRIDED_SLICE", [shape], [output], constants, "StridedSliceOptions", masks, seed=seed
    )


class Entry(NamedTuple):
    """One entry of a strided slice, and the same entry in numpy."""

    begin: int = 0
    end: int = 0
    stride: int = 1
    index: object = None
    masks: tuple[str, ...] = ()


def strided_slice_model(seed: int) -> Model:
    """A model with entries of every kind. numpy's indexing gives the output's shape."""
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, 4)
    kinds = _random_kinds(rng, len(shape))
    entries: list[Entry] = []
    axis = 0
    for kind in kinds:
        if kind == "slice":
            entries.append(_random_entry(rng, shape[axis]))
            axis += 1
        elif kind == "ellipsisMask":
            entries.append(Entry(index=..., masks=(kind,)))
            axis += len(shape) - kinds.count("slice")
        else:
            entries.append(Entry(masks=(kind,)))
    output = np.zeros(shape, np.int8)[tuple(entry.index for entry in entries)].shape
    begin, end, strides, _, _ = (list(values) for values in zip(*entries, strict=True))
    masks = {m: sum((m in entry.masks) << k for k, entry in enumerate(entries)) for m in MASKS}
    return strided_model(shape, output, begin, end, strides, seed, **masks)


def _random_kinds(rng: np.random.Generator, rank: int) -> list[str]:
    kinds = ["slice"] * int(rng.integers(1, rank + 1))
    slices = len(kinds)
    if slices + 1 < 5 and rng.random() < 0.3:
        kinds.insert(int(rng.integers(len(kinds) + 1)), "newAxisMask")
    if slices < rank and rng.random() < 0.5:
        kinds.insert(int(rng.integers(len(kinds) + 1)), "ellipsisMask")
    return kinds


def _random_entry(rng: np.random.Generator, size: int) -> Entry:
    """A range that is not empty, or one element."""
    begin, end = (int(n) for n in rng.integers(-size - 2, size + 3, 2))
    stride = int(rng.choice([1, 1, 2, -1, -2]))
    if rng.random() < 0.25:
        begin = int(rng.integers(-size, size))
        first = ("beginMask",) if rng.random() < 0.3 else ()
        return Entry(begin, begin + 1, 1, 0 if first else begin, ("shrinkAxisMask", *first))
    opened = [mask for mask in ("beginMask", "endMask") if rng.random() < 0.3]
    index = slice(
        None if "beginMask" in opened else begin, None if "endMask" in opened else end, stride
    )
    if range(*index.indices(size)):
        return Entry(begin, end, stride, index, tuple(opened))
    return Entry(begin, 0, stride, slice(None, None, stride), ("beginMask", "endMask"))


def split_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = list(random_shape(rng, 4))
    axis, count, part = (int(rng.integers(a, b)) for a, b in ((0, len(shape)), (1, 5), (1, 4)))
    shape[axis] = count * part
    output = (*shape[:axis], part, *shape[axis + 1 :])
    stated = constant("axis", axis - int(rng.choice([0, len(shape)])))
    options = {"numSplits": count}
    outputs = [output] * count
    return Model(
        "SPLIT", [tuple(shape)], outputs, [stated], "SplitOptions", options, True, seed=seed
    )


def split_v_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = list(random_shape(rng, 4))
    axis = int(rng.integers(len(shape)))
    sizes = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5)))]
    shape[axis] = sum(sizes)
    outputs = [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]
    if rng.random() < 0.5:
        sizes[int(rng.integers(len(sizes)))] = -1
    constants = [constant("sizes", sizes), constant("axis", axis)]
    options = {"numSplits": len(sizes)}
    return Model("SPLIT_V", [tuple(shape)], outputs, constants, "SplitVOptions", options, seed=seed)


def unpack_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = (2, *random_shape(rng, 3))
    axis = int(rng.integers(len(shape)))
    outputs = [(*shape[:axis], *shape[axis + 1 :])] * shape[axis]
    options = {"num": shape[axis], "axis": axis - int(rng.choice([0, len(shape)]))}
    return Model("UNPACK", [shape], outputs, [], "UnpackOptions", options, seed=seed)


@needs_litert
@pytest.mark.parametrize(
    "random_model", [slice_model, strided_slice_model, split_model, split_v_model, unpack_model]
)
def test_strided_slice_equals_litert(random_model: Callable[[int], Model]) -> None:
    for model in in_every_dtype(random_model, 20):
        litert_models.assert_equal(model)


def test_an_ellipsis_for_no_axis_is_refused() -> None:
    model = strided_model((4,), (4,), [0, 0], [4, 0], [1, 1], ellipsisMask=2)
    with pytest.raises(UnsupportedError, match="has an ellipsis for no axis"):
        model.load()


def test_new_axes_without_entries_are_refused() -> None:
    model = strided_model((4,), (4,), [0], [4], [1], newAxisMask=2)
    with pytest.raises(ModelError, match="adds axes for more than its 1 entries"):
        model.load()


def test_each_output_is_made_for_itself() -> None:
    graph = split_model(3).load()
    assert [node.op for node in graph.nodes] == ["strided_slice"] * len(graph.outputs)
    assert [node.outputs[0] for node in graph.nodes] == list(graph.outputs)


@pytest.mark.parametrize(
    ("attrs", "sentence"),
    [
        (StridedSliceAttrs((0,), (1,), (2,)), "as many axes"),
        (StridedSliceAttrs((0, 2), (1, 1), (2, 2)), "2 elements from 2 by steps of 1 do not lie"),
        (StridedSliceAttrs((0, 1), (1, -1), (2, 3)), "3 elements from 1 by steps of -1"),
        (StridedSliceAttrs((2, 0), (1, 1), (1, 1)), "in axis 0"),
        (StridedSliceAttrs((0, 0), (1, 1), (0, 1)), "0 elements"),
    ],
)
def test_slices_lie_inside_the_data(attrs: StridedSliceAttrs, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        STRIDED_SLICE.infer(attrs, [activation_type((2, 3), 1.0, 0)])


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (strided_model((4,), (2,), [0], [2], [0]), "a stride of 0"),
        (strided_model((4,), (2,), [3], [1], [1]), "takes nothing"),
        (strided_model((4,), (2,), [0, 0], [2, 1], [1, 1]), "slices more than 1 axes"),
        (strided_model((4,), (2,), [0], [2, 3], [1]), "of different lengths"),
        (strided_model((4,), (), [7], [8], [1], shrinkAxisMask=1), "has the axis 7"),
        (strided_model((4,), (), [2], [1], [-1], shrinkAxisMask=1), "the stride -1"),
    ],
)
def test_impossible_strided_slices(model: Model, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        by_reference(model)


ATTRS = DynamicUpdateSliceAttrs()


def _case(seed: int) -> Case:
    rng, dtype = np.random.default_rng(seed), dtype_of(seed)
    shape, update = random_shapes(rng)
    data = random_type(rng, shape, dtype)
    index = rng.integers(-2, np.array(shape) + 2, len(shape)).astype(np.int32)
    if seed % 5 == 0:
        index[:] = rng.choice([-(2**31), 2**31 - 1], len(shape))
    return Case(
        DYNAMIC_UPDATE_SLICE.name,
        ATTRS,
        [data, ArrayType(update, dtype, data.quant), ArrayType(index.shape, DType.INT32)],
        [random_array(rng, shape, dtype), random_array(rng, update, dtype), index],
        data.quant,
        "DYNAMIC_UPDATE_SLICE",
        "DynamicUpdateSliceOptions",
        constants=[2] if rng.random() < 0.5 else [],
        output_dtype=dtype,
        version=2,
    )


@needs_litert
def test_dynamic_update_slice_equals_litert() -> None:
    for seed in range(120):
        assert_equal(_case(seed))


@pytest.mark.parametrize(
    ("update", "index", "sentence"),
    [
        ((3, 3), (2,), "does not fit into"),
        ((3,), (2,), "does not fit into"),
        ((1, 3), (3,), "one number for each axis"),
    ],
)
def test_dynamic_update_slice_impossible_shapes(
    update: tuple[int, ...], index: tuple[int, ...], sentence: str
) -> None:
    kinds = [ArrayType(shape, DType.INT32) for shape in ((2, 3), update, index)]
    with pytest.raises(ValueError, match=sentence):
        DYNAMIC_UPDATE_SLICE.infer(ATTRS, kinds)


def test_the_index_is_int32_and_dtypes_agree() -> None:
    data, index = ArrayType((2,), DType.FLOAT32), ArrayType((1,), DType.INT32)
    assert DYNAMIC_UPDATE_SLICE.check(ATTRS, [data, data, index], [data]) is None
    assert "must be int32" in str(DYNAMIC_UPDATE_SLICE.check(ATTRS, [data, data, data], [data]))
    other = ArrayType((2,), DType.INT32)
    assert "one dtype" in str(DYNAMIC_UPDATE_SLICE.check(ATTRS, [data, other, index], [data]))
