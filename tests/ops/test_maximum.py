from pathlib import Path

from microgen.ops.base import Activation
from microgen.ops.maximum import OP, MaximumAttrs
from tests.ops import broadcasting
from tests.ops import conformance as c


def _make(_activation: Activation) -> MaximumAttrs:
    return MaximumAttrs()


def _random(seed: int) -> c.Case:
    return broadcasting.random_kernel_case(seed, OP.name, _make)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    broadcasts = broadcasting.broadcast_cases(OP.name, _make)
    c.check([*broadcasts, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(list(map(_random, range(10))), tmp_path)


def test_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(OP.name, MaximumAttrs())
