from pathlib import Path

from microgen.arithmetic.terms import Activation
from microgen.ir.graph import DType
from microgen.ops.minimum import OP, MinimumAttrs
from tests.ops import broadcasting
from tests.ops import conformance as c

DTYPES = (DType.INT16, DType.INT32, DType.FLOAT32)


def _make(_activation: Activation) -> MinimumAttrs:
    return MinimumAttrs()


def _random(seed: int) -> c.Case:
    return broadcasting.random_kernel_case(seed, OP.name, _make)


def _others(count: int) -> list[c.Case]:
    return [
        broadcasting.random_kernel_case(seed, OP.name, _make, dtype)
        for dtype in DTYPES
        for seed in range(count)
    ]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    broadcasts = broadcasting.broadcast_cases(OP.name, _make)
    broadcasts += broadcasting.high_rank_cases(OP.name, _make)
    c.check([*broadcasts, *map(_random, range(100)), *_others(50)], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*map(_random, range(10)), *_others(3)], tmp_path)


def test_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(OP.name, MinimumAttrs())


def test_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(OP.name, MinimumAttrs())
