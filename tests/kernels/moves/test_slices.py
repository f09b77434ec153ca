from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.moves.slices import (
    DYNAMIC_UPDATE_SLICE,
    DynamicUpdateSliceAttrs,
    SlideAttrs,
    StridedSliceAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import (
    DTYPES,
    dtype_of,
    random_array,
    random_type,
    tensor,
)
from tests.support.tools import NEEDS_CC

INCLUDE = Path(__file__).parents[3] / "crt" / "include"


def _slide_case(dtype: DType, seed: int, axis: int, window: tuple[int, ...], rows: int) -> c.Case:
    rng = np.random.default_rng(seed)
    kind = random_type(rng, (), dtype)
    shapes = (window, (*window[:axis], rows, *window[axis + 1 :]))
    inputs = tuple(
        c.Tensor(dataclasses.replace(kind, shape=shape), random_array(rng, shape, dtype))
        for shape in shapes
    )
    name = f"slide {dtype.value} {window} by {rows}"
    return c.Case(name, "slide", SlideAttrs(axis), inputs, kind.quant, dtype)


def _slide_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    axis, rows = int(rng.integers(3)), int(rng.integers(1, 6))
    rest = tuple(map(int, rng.integers(1, 8, int(rng.integers(3)))))
    window = (*(1,) * axis, rows + int(rng.integers(1, 9)), *rest)
    return _slide_case(dtype_of(seed), seed, axis, window, rows)


SLIDE_CORNERS = [
    _slide_case(dtype, 7, *corner)
    for dtype in DTYPES
    for corner in ((0, (2,), 1), (1, (1, 3, 1, 4), 1), (1, (1, 5, 1, 3), 4), (0, (9, 8), 2))
]


def test_slide_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*SLIDE_CORNERS, *map(_slide_random, range(100))], tmp_path)


def test_slide_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*SLIDE_CORNERS, *map(_slide_random, range(6))], tmp_path)


IN_PLACE = """
#include "microgen/moves/copies.h"
#include <stdio.h>
int main(void)
{
    static union { uint32_t aligned[64]; uint8_t bytes[256]; } window;
    static uint8_t rows[64];
    for (int32_t at = 0; at < 5; at++) {
        for (int32_t kept = 1; kept < 70; kept++) {
            for (int32_t count = 1; count < 40; count++) {
                const mg_slide_params p = {kept, count};
                uint8_t *w = window.bytes + at;
                for (int32_t i = 0; i < kept + count; i++) { w[i] = (uint8_t)i; }
                for (int32_t i = 0; i < count; i++) { rows[i] = (uint8_t)(200 + i); }
                mg_slide_body(&p, w, rows, w);
                for (int32_t i = 0; i < kept + count; i++) {
                    const uint8_t wanted = (uint8_t)(i < kept ? i + count : 200 + i - kept);
                    if (w[i] != wanted) { return 1; }
                }
            }
        }
    }
    return 0;
}
"""


@NEEDS_CC
def test_the_window_may_be_the_output_at_any_address(tmp_path: Path) -> None:
    (tmp_path / "m.c").write_text(IN_PLACE)
    for flags in (["-O0", "-fsanitize=address,undefined"], ["-O2"], ["-O3"]):
        command = ["cc", "-std=c99", *flags, f"-I{INCLUDE}", "m.c", "-o", "m"]
        subprocess.run(command, cwd=tmp_path, check=True)
        subprocess.run([tmp_path / "m"], check=True)


Axis = tuple[int, int, int, int]  # size of the data, begin, stride, elements


def _strided_slice_case(dtype: DType, seed: int, name: str, *axes: Axis) -> c.Case:
    rng = np.random.default_rng(seed)
    shape, begin, strides, counts = zip(*axes, strict=True) if axes else ((), (), (), ())
    attrs = StridedSliceAttrs(begin, strides, counts)
    data = tensor(rng, shape, dtype)
    return c.Case(name, "strided_slice", attrs, (data,), data.type.quant, dtype)


def _axis(rng: np.random.Generator) -> Axis:
    size, stride = int(rng.integers(1, 7)), int(rng.choice([1, 1, 2, 3, -1, -2]))
    begin = int(rng.integers(size))
    longest = (begin if stride < 0 else size - 1 - begin) // abs(stride) + 1
    return size, begin, stride, int(rng.integers(1, longest + 1))


def _strided_slice_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    axes = [_axis(rng) for _ in range(int(rng.integers(1, 7)))]
    return _strided_slice_case(dtype_of(seed), seed, f"random {seed}", *axes)


def _corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _strided_slice_case(dtype, 1, "a scalar"),
        _strided_slice_case(dtype, 2, "one element", (1, 0, 1, 1)),
        _strided_slice_case(dtype, 3, "everything", (2, 0, 1, 2), (3, 0, 1, 3), (4, 0, 1, 4)),
        _strided_slice_case(dtype, 4, "backwards", (2, 1, -1, 2), (3, 2, -1, 3), (4, 3, -1, 4)),
        _strided_slice_case(
            dtype, 5, "every other channel", (1, 0, 1, 1), (2, 0, 1, 2), (2, 0, 1, 2), (5, 0, 2, 3)
        ),
        _strided_slice_case(
            dtype,
            6,
            "eight axes, two of them cut",
            *((1, 0, 1, 1),) * 6,
            (4, 1, 1, 2),
            (4, 1, 2, 2),
        ),
    )


STRIDED_SLICE_CORNERS = [case for dtype in DTYPES for case in _corners(dtype)]


def test_strided_slice_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*STRIDED_SLICE_CORNERS, *map(_strided_slice_random, range(150))], tmp_path)


def test_strided_slice_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*STRIDED_SLICE_CORNERS, *map(_strided_slice_random, range(6))], tmp_path)


Shape = tuple[int, ...]


def random_shapes(rng: np.random.Generator) -> tuple[Shape, Shape]:
    """The shapes of the data and of an update."""
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    return shape, tuple(n if rng.random() < 0.5 else int(rng.integers(1, n + 1)) for n in shape)


def _dynamic_update_slice_case(
    seed: int, dtype: DType, shape: Shape, update: Shape, least: int = -2
) -> c.Case:
    """A case of indices from ``least`` to past the end."""
    rng = np.random.default_rng(seed)
    data = tensor(rng, shape, dtype)
    part = c.Tensor(ArrayType(update, dtype, data.type.quant), random_array(rng, update, dtype))
    index = rng.integers(least, np.array(shape) + 2, len(shape)).astype(np.int32)
    place = c.Tensor(ArrayType(index.shape, DType.INT32), index, seed % 2 == 0)
    name = f"{update} into {shape} at {index}"
    inputs, attrs = (data, part, place), DynamicUpdateSliceAttrs()
    return c.Case(name, DYNAMIC_UPDATE_SLICE.name, attrs, inputs, data.type.quant, dtype)


def _dynamic_update_slice_random(seed: int) -> c.Case:
    return _dynamic_update_slice_case(
        seed, dtype_of(seed), *random_shapes(np.random.default_rng(1000 + seed))
    )


DYNAMIC_UPDATE_SLICE_CORNERS = [
    _dynamic_update_slice_case(seed, dtype, *shapes)
    for dtype in DTYPES
    for seed, shapes in enumerate(
        (
            ((5,), (5,)),
            ((5,), (1,)),
            ((2, 3, 4, 5), (1, 2, 3, 4)),
            ((1, 7, 1, 4), (1, 2, 1, 4)),
            ((3, 1, 2, 2, 2, 2), (2, 1, 2, 2, 2, 2)),
        )
    )
]


def test_dynamic_update_slice_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(
        [*DYNAMIC_UPDATE_SLICE_CORNERS, *map(_dynamic_update_slice_random, range(100))], tmp_path
    )


def test_dynamic_update_slice_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(
        [*DYNAMIC_UPDATE_SLICE_CORNERS, *map(_dynamic_update_slice_random, range(6))], tmp_path
    )


def test_updates_along_many_axes_are_refused() -> None:
    case = _dynamic_update_slice_case(0, DType.INT32, (2,) * 5, (1,) * 5)
    (kernel,) = kernels.registry()[DYNAMIC_UPDATE_SLICE.name]
    assert "along 5 axes, the kernel takes at most 4" in str(kernel.refusal(case.node, case.graph))
