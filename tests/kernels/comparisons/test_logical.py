from pathlib import Path

from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.comparison import LogicalAttrs
from tests.kernels.comparisons.logicals import OPERATORS, operands
from tests.kernels.conformance import conformance as c


def _cases(count: int) -> list[c.Case]:
    attrs = LogicalAttrs()
    return [
        c.Case(f"{op} {seed}", op, attrs, operands(seed, op), None, DType.BOOL)
        for op in OPERATORS
        for seed in range(count)
    ]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(_cases(50), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(_cases(5), tmp_path)
