from itertools import product
from pathlib import Path

import numpy as np

from microgen.ops.base import Activation, Rounding
from microgen.ops.dense import DenseAttrs
from tests.ops import conformance as c


def _case(
    seed: int,
    name: str,
    data: tuple[int, ...] = (2, 7),
    units: int = 5,
    activation: Activation = Activation.NONE,
    rounding: Rounding = Rounding.SINGLE,
    per_channel: bool = False,
    biased: bool = True,
    keep_num_dims: bool = False,
    scale: float | None = None,
    largest_bias: int = 9000,
) -> c.Case:
    rng = np.random.default_rng(seed)
    x = c.int8(rng, data, c.random_quant(rng))
    w = c.weight(rng, (units, data[-1]), 0 if per_channel else None)
    offsets = rng.choice([-largest_bias, largest_bias, 77], units)
    inputs = (x, w, c.bias(offsets)) if biased else (x, w)
    scale = scale or c.output_scale(x, w, data[-1])
    out = c.quant(scale, int(rng.integers(-128, 128)))
    return c.Case(name, "nn.dense", DenseAttrs(activation, rounding, keep_num_dims), inputs, out)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    lead = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 4))))
    return _case(
        seed,
        f"random {seed}",
        data=(*lead, int(rng.integers(1, 70))),
        units=int(rng.integers(1, 20)),
        activation=list(Activation)[int(rng.integers(4))],
        rounding=list(Rounding)[int(rng.integers(2))],
        per_channel=bool(rng.integers(2)),
        biased=bool(rng.integers(2)),
        keep_num_dims=bool(rng.integers(2)),
    )


LARGE = 2**31 - 1 - 7 * 255 * 128

CORNERS = (
    _case(1, "one by one", data=(1, 1), units=1),
    _case(2, "no bias", biased=False),
    _case(3, "rank 4, dimensions kept", data=(2, 1, 3, 7), keep_num_dims=True),
    _case(4, "rank 4, flattened to rows", data=(2, 1, 3, 7)),
    _case(5, "relu", activation=Activation.RELU),
    *(
        _case(6, f"{rounding.value}, per channel {axis}, scale {scale:g}",
              rounding=rounding, per_channel=axis, scale=scale)
        for rounding, axis, scale in product(
            Rounding, (False, True), (1e-9, 1e-6, 1e-3, 1, 1e6, 1e12)
        )
    ),
    *(
        _case(7, f"{rounding.value}, sums near the limits of int32",
              rounding=rounding, largest_bias=LARGE, scale=20000)
        for rounding in Rounding
    ),
)  # fmt: skip


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(200))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_the_two_roundings_differ_somewhere() -> None:
    differ = [
        (_case(seed, "", rounding=Rounding.SINGLE).expected
         != _case(seed, "", rounding=Rounding.DOUBLE).expected).any()
        for seed in range(200)
    ]  # fmt: skip
    assert any(differ), "the cases do not tell the roundings apart"
