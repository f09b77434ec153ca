from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.product import PReluAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

SHAPE = (2, 3, 4, 5)


def _case(seed: int, name: str, shape: tuple[int, ...], alpha: tuple[int, ...]) -> c.Case:
    rng = np.random.default_rng(seed)
    inputs = tuple(c.int8(rng, s, c.random_quant(rng)) for s in (shape, alpha))
    return c.Case(name, "nn.prelu", PReluAttrs(), inputs, c.random_quant(rng))


def _float(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    data = c.float32(rng, SHAPE, 10.0 ** rng.uniform(-3, 3))
    data.array.reshape(-1)[:4] = (np.inf, -np.inf, np.nan, -0.0)
    alpha = c.float32(rng, _random_alpha(rng))
    return c.Case(f"float {seed}", "nn.prelu", PReluAttrs(), (data, alpha), None, DType.FLOAT32)


def _int16(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    scales = 2.0 ** rng.uniform(-16, -4, 3)
    data = u.int16_tensor(rng, SHAPE, c.quant(scales[0]))
    alpha = c.int8(rng, _random_alpha(rng), c.quant(scales[1], int(rng.integers(-128, 128))))
    attrs, output = PReluAttrs(), c.quant(scales[2])
    return c.Case(f"int16 {seed}", "nn.prelu", attrs, (data, alpha), output, DType.INT16)


def _random_alpha(rng: np.random.Generator) -> tuple[int, ...]:
    return _partial(tuple(bool(keep) for keep in rng.integers(0, 2, 4)))


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
    c.check([*CASES, *map(_float, range(20)), *map(_int16, range(40))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CASES[12:20], _float(0), _float(1), _int16(0), _int16(1)], tmp_path)


def test_operands_of_the_outputs_shape_may_be_overwritten() -> None:
    for kernel in kernels.registry()["nn.prelu"]:
        for case in CASES:
            (data, alpha), output = case.input_types, case.output_type
            fitting = {0: 0, 1: 0} if alpha.shape == output.shape == data.shape else {0: 0}
            assert kernel.in_place(case.node, case.graph) == fitting
