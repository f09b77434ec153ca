from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.ops.prelu import PReluAttrs
from tests.ops import conformance as c

SHAPE = (2, 3, 4, 5)


def _case(seed: int, name: str, shape: tuple[int, ...], alpha: tuple[int, ...]) -> c.Case:
    rng = np.random.default_rng(seed)
    inputs = tuple(c.int8(rng, s, c.random_quant(rng)) for s in (shape, alpha))
    return c.Case(name, "nn.prelu", PReluAttrs(), inputs, c.random_quant(rng))


def _partial(kept: tuple[bool, ...]) -> tuple[int, ...]:
    return tuple(n if keep else 1 for n, keep in zip(SHAPE, kept, strict=True))


CASES = (
    *(
        _case(i, f"alpha {_partial(kept)}", SHAPE, _partial(kept))
        for i, kept in enumerate(product((False, True), repeat=4))
    ),
    *(_case(100 + n, f"row {n}", (n, 3), (3,)) for n in range(1, 30)),
    _case(200, "one value", (), ()),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES[12:20], tmp_path)


def test_only_the_data_may_be_overwritten() -> None:
    for kernel in kernels.registry()["nn.prelu"]:
        assert kernel.in_place(CASES[15].node, CASES[15].graph) == (0,)
