from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.layouts import TransposeAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, tensor


def _case(
    dtype: DType, seed: int, name: str, shape: tuple[int, ...], axes: tuple[int, ...]
) -> c.Case:
    data = tensor(np.random.default_rng(seed), shape, dtype)
    return c.Case(name, "transpose", TransposeAttrs(axes), (data,), data.type.quant, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 7))))
    axes = tuple(int(axis) for axis in rng.permutation(len(shape)))
    return _case(dtype_of(seed), seed, f"random {seed}", shape, axes)


def _corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _case(dtype, 1, "a scalar", (), ()),
        _case(dtype, 2, "nothing moves", (2, 3, 4), (0, 1, 2)),
        _case(dtype, 3, "a matrix", (2, 3), (1, 0)),
        _case(dtype, 4, "channels first", (1, 3, 4, 5), (0, 3, 1, 2)),
        _case(dtype, 5, "six axes reversed", (2, 3, 2, 3, 2, 3), (5, 4, 3, 2, 1, 0)),
        _case(dtype, 6, "seven axes, two of which stay together", (2,) * 7, (6, 4, 5, 3, 2, 1, 0)),
    )


CORNERS = [case for dtype in DTYPES for case in _corners(dtype)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_seven_axes_that_all_move_are_refused() -> None:
    case = _case(DType.INT8, 7, "seven", (2,) * 7, (6, 5, 4, 3, 2, 1, 0))
    (kernel,) = kernels.registry()["transpose"]
    assert "7 axes, the kernel takes at most 6" in str(kernel.refusal(case.node, case.graph))
