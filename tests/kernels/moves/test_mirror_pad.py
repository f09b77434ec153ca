from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import MirrorPadAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, tensor


def _case(
    dtype: DType,
    seed: int,
    name: str,
    shape: tuple[int, ...],
    pads: tuple[Pair, ...],
    repeats_edge: bool,
) -> c.Case:
    data = tensor(np.random.default_rng(seed), shape, dtype)
    attrs = MirrorPadAttrs(pads, repeats_edge)
    return c.Case(name, "nn.mirror_pad", attrs, (data,), data.type.quant, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 7))))
    edge = bool(rng.random() < 0.5)
    most = [(n - 1 + edge) * int(rng.random() < 0.6) for n in shape]
    pads = tuple((int(a), int(b)) for a, b in (rng.integers(0, n + 1, 2) for n in most))
    return _case(dtype_of(seed), seed, f"random {seed}", shape, pads, edge)


def _corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _case(dtype, 1, "a scalar", (), (), False),
        _case(dtype, 2, "nothing to pad", (1, 2, 3, 4), ((0, 0),) * 4, False),
        _case(dtype, 3, "one element, repeated", (1, 1), ((1, 1), (0, 1)), True),
        _case(dtype, 4, "all that may be", (2, 3), ((1, 1), (2, 2)), False),
        _case(dtype, 5, "all that may be, edge repeated", (2, 3), ((2, 2), (3, 3)), True),
        _case(dtype, 6, "rows together", (2, 3, 4), ((1, 1), (0, 1), (0, 0)), False),
        _case(dtype, 7, "six axes", (2,) * 6, ((1, 0), (0, 1)) * 3, False),
    )


CORNERS = [case for dtype in DTYPES for case in _corners(dtype)]


def test_seven_padded_axes_are_refused() -> None:
    case = _case(DType.INT8, 8, "seven", (1,) * 7, ((1, 0),) * 7, True)
    (kernel,) = kernels.registry()["nn.mirror_pad"]
    assert "7 axes, the kernel takes at most 6" in str(kernel.refusal(case.node, case.graph))


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
