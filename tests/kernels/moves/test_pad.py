from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import PadAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, random_array, tensor


def _case(
    dtype: DType, seed: int, name: str, shape: tuple[int, ...], pads: tuple[Pair, ...]
) -> c.Case:
    rng = np.random.default_rng(seed)
    data = tensor(rng, shape, dtype)
    value = random_array(rng, (), dtype).item() if rng.random() < 0.7 else data.type.zero
    return c.Case(name, "nn.pad", PadAttrs(pads, value), (data,), data.type.quant, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 7))))
    pads = tuple((int(a), int(b)) for a, b in rng.integers(0, 3, (len(shape), 2)))
    return _case(dtype_of(seed), seed, f"random {seed}", shape, pads)


def _corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _case(dtype, 1, "nothing to pad", (1, 2, 3, 4), ((0, 0),) * 4),
        _case(dtype, 2, "one element", (1, 1, 1, 1), ((2, 0), (0, 3), (1, 1), (0, 0))),
        _case(dtype, 3, "before only", (2, 3), ((2, 0), (1, 0))),
        _case(dtype, 4, "after only", (2, 3), ((0, 2), (0, 1))),
        _case(dtype, 5, "every axis", (2, 3, 2, 3), ((1, 2), (2, 1), (1, 1), (2, 2))),
        _case(dtype, 6, "a scalar", (), ()),
        _case(dtype, 7, "six axes", (2,) * 6, ((1, 0), (0, 1)) * 3),
    )


CORNERS = [case for dtype in DTYPES for case in _corners(dtype)]


def test_seven_padded_axes_are_refused() -> None:
    case = _case(DType.INT8, 8, "seven", (1,) * 7, ((1, 0),) * 7)
    (kernel,) = kernels.registry()["nn.pad"]
    assert "7 axes, the kernel takes at most 6" in str(kernel.refusal(case.node, case.graph))


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(150))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
