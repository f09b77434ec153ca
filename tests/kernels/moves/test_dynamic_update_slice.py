from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.moves.slices import DYNAMIC_UPDATE_SLICE, DynamicUpdateSliceAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, random_array, tensor

Shape = tuple[int, ...]


def random_shapes(rng: np.random.Generator) -> tuple[Shape, Shape]:
    """The shapes of the data and of an update."""
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    return shape, tuple(n if rng.random() < 0.5 else int(rng.integers(1, n + 1)) for n in shape)


def _case(seed: int, dtype: DType, shape: Shape, update: Shape, least: int = -2) -> c.Case:
    """A case of indices from ``least`` to past the end."""
    rng = np.random.default_rng(seed)
    data = tensor(rng, shape, dtype)
    part = c.Tensor(TensorType(update, dtype, data.type.quant), random_array(rng, update, dtype))
    index = rng.integers(least, np.array(shape) + 2, len(shape)).astype(np.int32)
    place = c.Tensor(TensorType(index.shape, DType.INT32), index, seed % 2 == 0)
    name = f"{update} into {shape} at {index}"
    inputs, attrs = (data, part, place), DynamicUpdateSliceAttrs()
    return c.Case(name, DYNAMIC_UPDATE_SLICE.name, attrs, inputs, data.type.quant, dtype)


def _random(seed: int) -> c.Case:
    return _case(seed, dtype_of(seed), *random_shapes(np.random.default_rng(1000 + seed)))


CORNERS = [
    _case(seed, dtype, *shapes)
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


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_updates_along_many_axes_are_refused() -> None:
    case = _case(0, DType.INT32, (2,) * 5, (1,) * 5)
    (kernel,) = kernels.registry()[DYNAMIC_UPDATE_SLICE.name]
    assert "along 5 axes, the kernel takes at most 4" in str(kernel.refusal(case.node, case.graph))
