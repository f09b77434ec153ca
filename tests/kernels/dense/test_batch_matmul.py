import dataclasses
from itertools import product
from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.dense.batch_matmul import OP, BatchMatmulAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.dense import matmuls

PLAIN = BatchMatmulAttrs(False, False)


def _case(
    seed: int,
    name: str,
    lhs: tuple[int, ...],
    rhs: tuple[int, ...],
    attrs: BatchMatmulAttrs = PLAIN,
    times: float = 1.0,
) -> c.Case:
    """A case with shapes in stored order. Its output scale is ``times`` a usual one."""
    rng = np.random.default_rng(seed)
    left, right = c.int8(rng, lhs, c.random_quant(rng)), c.int8(rng, rhs, c.random_quant(rng))
    depth = lhs[-2] if attrs.transpose_a else lhs[-1]
    scale = matmuls.output_scale(left.type.scale, right.type.scale, depth) * times
    out = c.quant(scale, int(rng.integers(-128, 128)))
    return c.Case(name, OP.name, attrs, (left, right), out)


def _random(seed: int) -> c.Case:
    attrs, lhs, rhs, _ = matmuls.random_operands(np.random.default_rng(1000 + seed))
    return _case(seed, f"random {seed}", lhs, rhs, attrs)


def _least_scale(name: str, times: float) -> c.Case:
    """A case with ``times`` the output scale that scales the largest sum to nearly 2**31."""
    return _case(3, name, (9, 9), (9, 9), times=times * 255 * 255 * 9 * 50 / (75 * 75 * 3 * 2**31))


CORNERS = (
    _case(1, "one by one", (1, 1), (1, 1)),
    _case(2, "all batches broadcast", (2, 1, 3, 4, 5), (1, 2, 1, 5, 2)),
    *(_least_scale(f"{n:g} times the least output scale", n) for n in (1.01, 10, 1e6, 1e9, 1e15)),
    *(
        _case(4, f"transposed {a}, {b}; {left} batches by {right}",
              *matmuls.operand_shapes(BatchMatmulAttrs(a, b), (*left, 3, 4), (*right, 4, 5)),
              BatchMatmulAttrs(a, b))
        for a, b in product((False, True), repeat=2)
        for left, right in (((), ()), ((2,), ()), ((), (2, 3)), ((3, 1), (1, 2)), ((2,), (2,)))
    ),
)  # fmt: skip


def _int16(case: c.Case, times: float = 1.0) -> c.Case:
    """The geometry of an int8 case in int16. The output scale is ``times`` a usual one."""
    rng = np.random.default_rng(len(case.name))
    left, right = (c.int16(rng, t.shape, 10 ** rng.uniform(-5, -2)) for t in case.input_types)
    assert isinstance(case.attrs, BatchMatmulAttrs)
    depth = left.type.shape[-2] if case.attrs.transpose_a else left.type.shape[-1]
    out = c.quant(left.type.scale * right.type.scale * 10000 * depth**0.5 * times)
    name = f"int16 {case.name}, {times:g}"
    return c.Case(name, case.op, case.attrs, (left, right), out, DType.INT16)


def _float(case: c.Case) -> c.Case:
    """The geometry of an int8 case in float32."""
    rng = np.random.default_rng(len(case.name))
    inputs = tuple(c.float32(rng, t.shape) for t in case.input_types)
    return c.Case(f"float32 {case.name}", case.op, case.attrs, inputs, None, DType.FLOAT32)


OTHERS = (
    *(made for case in CORNERS for made in (_int16(case), _float(case))),
    *(_int16(CORNERS[1], 2.0**k) for k in range(-20, 40, 4)),
)


def _rounded_once(case: c.Case) -> c.Case:
    """The case with the rounding of FULLY_CONNECTED."""
    assert isinstance(case.attrs, BatchMatmulAttrs)
    attrs = dataclasses.replace(case.attrs, rounds_once=True)
    return dataclasses.replace(case, name=f"{case.name}, once", attrs=attrs)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    once = [_rounded_once(case) for case in (*CORNERS, *map(_random, range(60)))]
    c.check([*CORNERS, *map(_random, range(200)), *once], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    cases = [*CORNERS, *map(_random, range(6))]
    c.check_inlined([*cases, *map(_rounded_once, cases)], tmp_path)


def test_int16_and_float_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = map(_random, range(100))
    c.check([*OTHERS, *(made for case in cases for made in (_int16(case), _float(case)))], tmp_path)


def test_inlined_int16_and_float_bodies_equal_the_reference(tmp_path: Path) -> None:
    cases = map(_random, range(6))
    random = [made for case in cases for made in (_int16(case), _float(case))]
    c.check_inlined([*OTHERS, *random], tmp_path)
