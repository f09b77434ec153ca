from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.compiler.codegens.base import Region
from microgen.compiler.codegens.builtin import CODEGEN
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.moves.layouts import (
    BroadcastToAttrs,
    ConcatenateAttrs,
    LayoutTransformAttrs,
    TransposeAttrs,
)
from microgen.graph.ops.moves.views import BITCAST, BitcastAttrs, CopyAttrs
from microgen.target import board
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import (
    DTYPES,
    dtype_of,
    random_array,
    random_type,
    tensor,
)


def _copy_case(dtype: DType, shape: tuple[int, ...]) -> c.Case:
    data = tensor(np.random.default_rng(len(shape)), shape, dtype)
    return c.Case(f"copy {shape}", "copy", CopyAttrs(), (data,), data.type.quant, dtype)


SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (2, 3, 5, 7), (1, 4000)]
COPY_CASES = [_copy_case(dtype, shape) for dtype in DTYPES for shape in SHAPES]


def test_copy_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(COPY_CASES, tmp_path)


def test_copy_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(COPY_CASES, tmp_path)


def cases() -> list[c.Case]:
    """From every dtype to each of its size."""
    rng = np.random.default_rng(0)
    found = []
    for source in DType:
        for target in DType:
            if source.nbytes == target.nbytes and target is not DType.BOOL:
                kind = ArrayType((2, 3), source)
                data = c.Tensor(kind, random_array(rng, kind.shape, source))
                name = f"{source.value} to {target.value}"
                found.append(c.Case(name, BITCAST.name, BitcastAttrs(), (data,), None, target))
    return found


def test_bitcast_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(cases(), tmp_path)


def test_bitcast_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(cases()[:2], tmp_path)


Shape = tuple[int, ...]


def random_shapes(rng: np.random.Generator, most: int) -> tuple[Shape, Shape]:
    """The output's shape, and one that broadcasts to it."""
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, most + 1))))
    own = tuple(1 if rng.random() < 0.4 else n for n in shape)
    return shape, own[int(rng.integers(len(own) + 1)) :]


def _broadcast_to_case(dtype: DType, seed: int, name: str, shape: Shape, own: Shape) -> c.Case:
    data = tensor(np.random.default_rng(seed), own, dtype)
    attrs = BroadcastToAttrs(shape)
    return c.Case(name, "broadcast_to", attrs, (data,), data.type.quant, dtype)


def _broadcast_to_random(seed: int) -> c.Case:
    shapes = random_shapes(np.random.default_rng(1000 + seed), 6)
    return _broadcast_to_case(dtype_of(seed), seed, f"random {seed}", *shapes)


BROADCAST_TO_CORNERS = [
    case
    for dtype in DTYPES
    for case in (
        _broadcast_to_case(dtype, 1, "a scalar", (), ()),
        _broadcast_to_case(dtype, 2, "a scalar everywhere", (3, 4), ()),
        _broadcast_to_case(dtype, 3, "nothing changes", (3, 4), (3, 4)),
        _broadcast_to_case(dtype, 4, "every other axis", (2, 3, 2, 3, 2, 3), (2, 1, 2, 1, 2, 1)),
    )
]


def test_broadcast_to_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*BROADCAST_TO_CORNERS, *map(_broadcast_to_random, range(100))], tmp_path)


def test_broadcast_to_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*BROADCAST_TO_CORNERS, *map(_broadcast_to_random, range(6))], tmp_path)


def _concatenate_case(
    dtype: DType, seed: int, name: str, axis: int, *shapes: tuple[int, ...]
) -> c.Case:
    rng = np.random.default_rng(seed)
    kind = random_type(rng, (), dtype)
    inputs = tuple(
        c.Tensor(dataclasses.replace(kind, shape=shape), random_array(rng, shape, dtype))
        for shape in shapes
    )
    return c.Case(name, "concatenate", ConcatenateAttrs(axis), inputs, kind.quant, dtype)


def _concatenate_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 6)))]
    axis = int(rng.integers(len(shape)))
    sizes = rng.integers(1, 5, int(rng.integers(1, 7)))
    shapes = [(*shape[:axis], int(n), *shape[axis + 1 :]) for n in sizes]
    return _concatenate_case(dtype_of(seed), seed, f"random {seed}", axis, *shapes)


def _concatenate_corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _concatenate_case(dtype, 1, "one input", 0, (2, 3)),
        _concatenate_case(dtype, 2, "one element each", 0, (1,), (1,)),
        _concatenate_case(dtype, 3, "the first axis", 0, (1, 2, 2, 3), (2, 2, 2, 3)),
        _concatenate_case(dtype, 4, "channels", 3, (1, 2, 2, 3), (1, 2, 2, 1), (1, 2, 2, 5)),
    )


CONCATENATE_CORNERS = [case for dtype in DTYPES for case in _concatenate_corners(dtype)]


def test_concatenate_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CONCATENATE_CORNERS, *map(_concatenate_random, range(100))], tmp_path)


def test_concatenate_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CONCATENATE_CORNERS, *map(_concatenate_random, range(6))], tmp_path)


def test_one_primitive_function_has_a_call_for_each_input() -> None:
    case = _concatenate_case(DType.INT16, 5, "three inputs", 1, (2, 3), (2, 1), (2, 4))
    native = board.load("native")
    (region,) = CODEGEN.claims(case.graph, native)
    assert isinstance(region, Region)
    (primitive,) = CODEGEN.lower([region], case.graph, native)
    assert [call.args for call in primitive.body] == [(f"in{i}", "out0") for i in range(3)]
    assert [dict(call.params)["offset"] for call in primitive.body] == [0, 6, 8]
    assert primitive.inputs == case.node.inputs


def _transpose_case(
    dtype: DType, seed: int, name: str, shape: tuple[int, ...], axes: tuple[int, ...]
) -> c.Case:
    data = tensor(np.random.default_rng(seed), shape, dtype)
    return c.Case(name, "transpose", TransposeAttrs(axes), (data,), data.type.quant, dtype)


def _transpose_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 7))))
    axes = tuple(int(axis) for axis in rng.permutation(len(shape)))
    return _transpose_case(dtype_of(seed), seed, f"random {seed}", shape, axes)


def _transpose_corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _transpose_case(dtype, 1, "a scalar", (), ()),
        _transpose_case(dtype, 2, "nothing moves", (2, 3, 4), (0, 1, 2)),
        _transpose_case(dtype, 3, "a matrix", (2, 3), (1, 0)),
        _transpose_case(dtype, 4, "channels first", (1, 3, 4, 5), (0, 3, 1, 2)),
        _transpose_case(dtype, 5, "six axes reversed", (2, 3, 2, 3, 2, 3), (5, 4, 3, 2, 1, 0)),
        _transpose_case(
            dtype, 6, "seven axes, two of which stay together", (2,) * 7, (6, 4, 5, 3, 2, 1, 0)
        ),
    )


TRANSPOSE_CORNERS = [case for dtype in DTYPES for case in _transpose_corners(dtype)]


def test_transpose_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*TRANSPOSE_CORNERS, *map(_transpose_random, range(100))], tmp_path)


def test_transpose_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*TRANSPOSE_CORNERS, *map(_transpose_random, range(6))], tmp_path)


def test_seven_axes_that_all_move_are_refused() -> None:
    case = _transpose_case(DType.INT8, 7, "seven", (2,) * 7, (6, 5, 4, 3, 2, 1, 0))
    (kernel,) = kernels.registry()["transpose"]
    assert "7 axes, the kernel takes at most 6" in str(kernel.refusal(case.node, case.graph))


ORDERS = ["".join(order) for order in itertools.permutations("NHWC")]


def _layout_transform_case(dtype: DType, seed: int, source: str, target: str) -> c.Case:
    rng = np.random.default_rng(seed)
    data = tensor(rng, tuple(int(n) for n in rng.integers(1, 6, 4)), dtype)
    attrs = LayoutTransformAttrs(source, target)
    return c.Case(f"{source} {target}", "layout_transform", attrs, (data,), data.type.quant, dtype)


LAYOUT_TRANSFORM_CASES = [
    _layout_transform_case(DTYPES[seed % len(DTYPES)], seed, *pair)
    for seed, pair in enumerate(itertools.product(ORDERS, ["NHWC", "NCHW", "OHWI"]))
    if set(pair[0]) == set(pair[1])
]


def test_layout_transform_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(LAYOUT_TRANSFORM_CASES, tmp_path)


def test_layout_transform_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(LAYOUT_TRANSFORM_CASES[:8], tmp_path)
