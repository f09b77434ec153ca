from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, tensor

Axis = tuple[int, int, int, int]  # size of the data, begin, stride, elements


def _case(dtype: DType, seed: int, name: str, *axes: Axis) -> c.Case:
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


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    axes = [_axis(rng) for _ in range(int(rng.integers(1, 7)))]
    return _case(dtype_of(seed), seed, f"random {seed}", *axes)


def _corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _case(dtype, 1, "a scalar"),
        _case(dtype, 2, "one element", (1, 0, 1, 1)),
        _case(dtype, 3, "everything", (2, 0, 1, 2), (3, 0, 1, 3), (4, 0, 1, 4)),
        _case(dtype, 4, "backwards", (2, 1, -1, 2), (3, 2, -1, 3), (4, 3, -1, 4)),
        _case(
            dtype, 5, "every other channel", (1, 0, 1, 1), (2, 0, 1, 2), (2, 0, 1, 2), (5, 0, 2, 3)
        ),
        _case(
            dtype,
            6,
            "eight axes, two of them cut",
            *((1, 0, 1, 1),) * 6,
            (4, 1, 1, 2),
            (4, 1, 2, 2),
        ),
    )


CORNERS = [case for dtype in DTYPES for case in _corners(dtype)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(150))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
