"""Cases of kernels for MVE without weights: sums of two operands."""

from __future__ import annotations

import numpy as np

from microgen.arithmetic.terms import Activation
from microgen.ops.add import AddAttrs
from microgen.ops.subtract import SubtractAttrs
from tests.ops import conformance as c

Shape = tuple[int, ...]
SIZES = range(1, 36)
BROADCASTS: tuple[tuple[Shape, Shape], ...] = (
    ((3, 7), (7,)),
    ((5,), (4, 5)),
    ((4, 9), (4, 1)),
    ((3, 1), (3, 18)),
    ((1,), (21,)),
    ((2, 16), (1, 1)),
)


def _sum(seed: int, lhs: Shape, rhs: Shape) -> c.Case:
    """A sum or a difference of usual scales, for which there is an affine form."""
    rng = np.random.default_rng(seed)
    operands = tuple(c.int8(rng, shape, c.random_quant(rng)) for shape in (lhs, rhs))
    scale = sum(operand.type.scale for operand in operands) * float(2.0 ** rng.uniform(-1, 1))
    zero = int(rng.choice([-128, 127, *rng.integers(-128, 128, 3)]))
    activation = list(Activation)[int(rng.integers(4))]
    op, kind = (("add", AddAttrs), ("subtract", SubtractAttrs))[seed % 2]
    return c.Case(f"{op} {seed}", op, kind(activation), operands, c.quant(scale, zero))


CASES = (
    *(_sum(size, (size,), (size,)) for size in SIZES),
    *(_sum(100 + i, *shapes) for i, shapes in enumerate(BROADCASTS * 2)),
)
