from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.reductions.l2_normalize import L2NormalizeAttrs
from microgen.graph.ops.reductions.softmax import LogSoftmaxAttrs, SoftmaxAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.reductions import row_cases
from tests.kernels.unary import unary_kernels as u

SOFTMAX_OUTPUT = c.quant(1 / 256, -128)


def _softmax_case(
    seed: int,
    name: str,
    shape: tuple[int, ...] = (2, 10),
    scale: float = 0.1,
    beta: float = 1.0,
    values: tuple[int, int] = (-128, 127),
) -> c.Case:
    """A case with values from ``values[0]`` to ``values[1]``."""
    rng = np.random.default_rng(seed)
    array = rng.integers(values[0], values[1] + 1, shape).astype(np.int8)
    x = c.int8(rng, shape, c.quant(scale, int(rng.integers(-128, 128))))
    return c.Case(
        name, "nn.softmax", SoftmaxAttrs(beta), (c.Tensor(x.type, array),), SOFTMAX_OUTPUT
    )


def _softmax_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    lead = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3))))
    return _softmax_case(
        seed,
        f"random {seed}",
        shape=(*lead, int(rng.integers(1, 40))),
        scale=10 ** rng.uniform(-4, 1),
        beta=float(np.float32(rng.choice([1, 0.5, 2]))),
    )


SOFTMAX_CORNERS = (
    _softmax_case(1, "one value", shape=(3, 1)),
    _softmax_case(2, "all equal", values=(5, 5)),
    _softmax_case(3, "all at the minimum", values=(-128, -128)),
    _softmax_case(4, "both extremes only", shape=(1, 2), scale=1),
    *(_softmax_case(5, f"scale {s:g}", scale=s)
      for s in (2e-8, 1e-6, 1e-3, 0.2, 0.25, 1, 16, 31, 32, 1e4)),
    *(_softmax_case(6, f"{n} equal values", shape=(1, n), values=(3, 3))
      for n in (255, 256, 257, 511, 512, 513, 1024, 2048, 4095)),
    _softmax_case(7, "4095 values", shape=(1, 4095), scale=1e-3),
)  # fmt: skip


def _int16(seed: int, shape: tuple[int, ...] = (), scale: float = 0.0) -> c.Case:
    """A case of random values, in a small range or the whole one.

    Shape and scale are random if they are not given.
    """
    rng = np.random.default_rng(seed)
    size = shape or (*rng.integers(1, 4, int(rng.integers(0, 3))), int(rng.integers(1, 400)))
    x = u.int16_tensor(rng, tuple(map(int, size)), c.quant(scale or 2.0 ** rng.uniform(-20, 1)))
    if seed % 3 == 0:
        x = c.Tensor(x.type, (x.array % int(rng.integers(1, 1000))).astype(np.int16))
    attrs = SoftmaxAttrs(float(np.float32(rng.choice([1, 0.5, 2]))))
    return c.Case(f"int16 {seed}", "nn.softmax", attrs, (x,), c.quant(2.0**-15), DType.INT16)


def _every_difference() -> c.Case:
    """A case of rows of two values, so that every entry of both tables affects some output."""
    of = c.quant(10 / 65535)
    array = np.stack([u.EVERY, np.full_like(u.EVERY, 2**15 - 1)], axis=1)
    x = c.Tensor(ArrayType(array.shape, DType.INT16, of), array)
    attrs = SoftmaxAttrs(1.0)
    return c.Case("every difference", "nn.softmax", attrs, (x,), c.quant(2.0**-15), DType.INT16)


INT16 = (
    *(_int16(seed) for seed in range(100)),
    *(_int16(seed, scale=s) for seed, s in enumerate((1e-38, 1e-12, 10 / 65535, 0.01, 2.4))),
    _int16(3, (1, 65536), 1e-6),
    _int16(3, (2, 1), 1.0),
    _every_difference(),
)
SOFTMAX_UNIT = c.quant(2.0**-16, -(2**15))
WIDER = [
    replace(
        case,
        name=f"{case.name} to int16",
        output_quant=c.quant(2.0**-16, -(2**15)),
        output_dtype=DType.INT16,
    )
    for case in (*SOFTMAX_CORNERS, *map(_softmax_random, range(100)))
]
SOFTMAX_FLOATS = [
    case
    for beta in (1.0, 0.7, 3.0)
    for case in row_cases.float_cases("nn.softmax", SoftmaxAttrs(beta))
]


def test_softmax_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(
        [*SOFTMAX_CORNERS, *map(_softmax_random, range(300)), *INT16, *WIDER, *SOFTMAX_FLOATS],
        tmp_path,
    )


def test_softmax_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(
        [
            *SOFTMAX_CORNERS,
            *map(_softmax_random, range(6)),
            *INT16[:3],
            *WIDER[:9],
            *SOFTMAX_FLOATS[:3],
        ],
        tmp_path,
    )


@pytest.mark.parametrize("scale", [0.01, 0.1, 0.5])
def test_the_reference_is_near_the_real_softmax(scale: float) -> None:
    case = _softmax_case(8, "", shape=(50, 12), scale=scale)
    real = np.exp(case.inputs[0].array * case.inputs[0].type.scale)
    expected = real / real.sum(axis=-1, keepdims=True) * 256 - 128
    assert np.abs(np.minimum(expected, 127) - case.expected).max() <= 1


LOG_SOFTMAX_OUTPUT = c.quant(1 / 16, 127)


def _log_softmax_case(name: str, values: np.ndarray, scale: float) -> c.Case:
    kind = c.int8(np.random.default_rng(0), values.shape, c.quant(scale)).type
    data = c.Tensor(kind, values.astype(np.int8))
    return c.Case(name, "nn.log_softmax", LogSoftmaxAttrs(), (data,), LOG_SOFTMAX_OUTPUT)


def _log_softmax_random(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    low, high = (-25.9, 8) if seed % 3 == 0 else (-9, 1)
    shape = (int(rng.integers(1, 4)), int(rng.choice([1, 2, 3, 10, 100, 1000])))
    least = 100 if seed % 5 == 0 else -128
    return _log_softmax_case(
        f"random {seed}", rng.integers(least, 128, shape), 2.0 ** rng.uniform(low, high)
    )


LOG_SOFTMAX_CORNERS = (
    *(
        _log_softmax_case(f"{n} equal", np.full((1, n), 5), 0.1)
        for n in (*range(1, 20), 2895, 2897, 4095)
    ),
    _log_softmax_case("the ends", np.array([[-128, 127], [127, -128]]), 0.1),
    _log_softmax_case("every value", np.arange(-128, 128), 0.05),
    _log_softmax_case("every value, a huge scale", np.arange(-128, 128), 1e4),
    _log_softmax_case("every value, the least scale", np.arange(-128, 128), 1.01 * 2.0**-26),
)


LOG_SOFTMAX_FLOATS = row_cases.float_cases("nn.log_softmax", LogSoftmaxAttrs())


def test_log_softmax_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(
        [*LOG_SOFTMAX_CORNERS, *map(_log_softmax_random, range(150)), *LOG_SOFTMAX_FLOATS], tmp_path
    )


def test_log_softmax_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(
        [*LOG_SOFTMAX_CORNERS[-4:], *map(_log_softmax_random, range(6)), *LOG_SOFTMAX_FLOATS[:3]],
        tmp_path,
    )


L2_NORMALIZE_UNIT = Quant((1 / 128,), (0,))


def _l2_normalize_case(name: str, tensor: c.Tensor) -> c.Case:
    return c.Case(name, "nn.l2_normalize", L2NormalizeAttrs(), (tensor,), L2_NORMALIZE_UNIT)


def _filled(name: str, value: int, zero_point: int, shape: tuple[int, ...]) -> c.Case:
    of = c.quant(1, zero_point)
    type_ = c.int8(np.random.default_rng(0), shape, of).type
    return _l2_normalize_case(name, c.Tensor(type_, np.full(shape, value, np.int8)))


def _l2_normalize_random(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 5))))
    return _l2_normalize_case(f"random {seed}", c.int8(rng, shape, c.random_quant(rng)))


L2_NORMALIZE_CORNERS = (
    _filled("zeros", 3, 3, (2, 5)),
    _filled("a square of 1", 4, 3, (1, 1)),
    _filled("the largest sum", -128, 127, (1, 33025)),
    _filled("sums at the halving", -128, 127, (1, 8257)),
    *(_filled(f"{n} ones", 1, 0, (1, n)) for n in (2, 3, 4, 5, 16, 17)),
)


L2_NORMALIZE_FLOATS = row_cases.float_cases("nn.l2_normalize", L2NormalizeAttrs())


def test_l2_normalize_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(
        [*L2_NORMALIZE_CORNERS, *map(_l2_normalize_random, range(150)), *L2_NORMALIZE_FLOATS],
        tmp_path,
    )


def test_l2_normalize_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(
        [*L2_NORMALIZE_CORNERS, *map(_l2_normalize_random, range(6)), *L2_NORMALIZE_FLOATS[:3]],
        tmp_path,
    )
