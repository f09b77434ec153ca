from pathlib import Path

from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise.bitwise import OP, BitFunction, BitwiseAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.plain_integers import case


def cases(count: int) -> list[c.Case]:
    """``count`` cases of each function and dtype."""
    return [
        case(seed, OP.name, BitwiseAttrs(function), dtype)
        for function in BitFunction
        for dtype in INTEGERS
        for seed in range(count)
    ]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(cases(8), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(cases(1), tmp_path)
