from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import MirrorPadAttrs, PadAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, random_array, tensor


def _pad_case(
    dtype: DType, seed: int, name: str, shape: tuple[int, ...], pads: tuple[Pair, ...]
) -> c.Case:
    rng = np.random.default_rng(seed)
    data = tensor(rng, shape, dtype)
    value = random_array(rng, (), dtype).item() if rng.random() < 0.7 else data.type.zero
    return c.Case(name, "nn.pad", PadAttrs(pads, value), (data,), data.type.quant, dtype)


def _pad_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 7))))
    pads = tuple((int(a), int(b)) for a, b in rng.integers(0, 3, (len(shape), 2)))
    return _pad_case(dtype_of(seed), seed, f"random {seed}", shape, pads)


def _pad_corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _pad_case(dtype, 1, "nothing to pad", (1, 2, 3, 4), ((0, 0),) * 4),
        _pad_case(dtype, 2, "one element", (1, 1, 1, 1), ((2, 0), (0, 3), (1, 1), (0, 0))),
        _pad_case(dtype, 3, "before only", (2, 3), ((2, 0), (1, 0))),
        _pad_case(dtype, 4, "after only", (2, 3), ((0, 2), (0, 1))),
        _pad_case(dtype, 5, "every axis", (2, 3, 2, 3), ((1, 2), (2, 1), (1, 1), (2, 2))),
        _pad_case(dtype, 6, "a scalar", (), ()),
        _pad_case(dtype, 7, "six axes", (2,) * 6, ((1, 0), (0, 1)) * 3),
    )


PAD_CORNERS = [case for dtype in DTYPES for case in _pad_corners(dtype)]


def test_pad_seven_padded_axes_are_refused() -> None:
    case = _pad_case(DType.INT8, 8, "seven", (1,) * 7, ((1, 0),) * 7)
    for kernel in kernels.registry()["nn.pad"]:
        assert "7 axes, the kernel takes at most 6" in str(kernel.refusal(case.node, case.graph))


def test_pad_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*PAD_CORNERS, *map(_pad_random, range(150))], tmp_path)


def test_pad_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*PAD_CORNERS, *map(_pad_random, range(6))], tmp_path)


def _mirror_pad_case(
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


def _mirror_pad_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 7))))
    edge = bool(rng.random() < 0.5)
    most = [(n - 1 + edge) * int(rng.random() < 0.6) for n in shape]
    pads = tuple((int(a), int(b)) for a, b in (rng.integers(0, n + 1, 2) for n in most))
    return _mirror_pad_case(dtype_of(seed), seed, f"random {seed}", shape, pads, edge)


def _mirror_pad_corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _mirror_pad_case(dtype, 1, "a scalar", (), (), False),
        _mirror_pad_case(dtype, 2, "nothing to pad", (1, 2, 3, 4), ((0, 0),) * 4, False),
        _mirror_pad_case(dtype, 3, "one element, repeated", (1, 1), ((1, 1), (0, 1)), True),
        _mirror_pad_case(dtype, 4, "all that may be", (2, 3), ((1, 1), (2, 2)), False),
        _mirror_pad_case(
            dtype, 5, "all that may be, edge repeated", (2, 3), ((2, 2), (3, 3)), True
        ),
        _mirror_pad_case(dtype, 6, "rows together", (2, 3, 4), ((1, 1), (0, 1), (0, 0)), False),
        _mirror_pad_case(dtype, 7, "six axes", (2,) * 6, ((1, 0), (0, 1)) * 3, False),
    )


MIRROR_PAD_CORNERS = [case for dtype in DTYPES for case in _mirror_pad_corners(dtype)]


def test_mirror_pad_seven_padded_axes_are_refused() -> None:
    case = _mirror_pad_case(DType.INT8, 8, "seven", (1,) * 7, ((1, 0),) * 7, True)
    (kernel,) = kernels.registry()["nn.mirror_pad"]
    assert "7 axes, the kernel takes at most 6" in str(kernel.refusal(case.node, case.graph))


def test_mirror_pad_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*MIRROR_PAD_CORNERS, *map(_mirror_pad_random, range(100))], tmp_path)


def test_mirror_pad_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*MIRROR_PAD_CORNERS, *map(_mirror_pad_random, range(6))], tmp_path)
