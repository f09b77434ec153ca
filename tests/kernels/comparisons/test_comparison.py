from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.kernels import registry
from tests.graph.ops.comparisons.test_comparison_reference import below_one
from tests.kernels.comparisons.comparisons import OPERATORS, PAIRS, QUANTIZED
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import broadcasting

ATTRS = ComparisonAttrs()


def _case(seed: int, op: str, dtype: DType) -> c.Case:
    """A case with few different values, so many are equal."""
    rng = np.random.default_rng(seed)
    shapes = ((2, 3, 2, 2, 3), (2, 3, 2, 2, 3)) if seed == 0 else broadcasting.random_shapes(rng)
    operands = [broadcasting.operand(rng, dtype, shape) for shape in shapes]
    if dtype in QUANTIZED:
        operands = [below_one(rng, each) for each in operands]
    elif seed % 2:
        few = [each.array.astype(np.int8).astype(dtype.numpy) for each in operands]
        operands = [c.Tensor(t.type, array) for t, array in zip(operands, few, strict=True)]
    if dtype is DType.FLOAT32 and seed % 3 == 0:
        operands[0].array.reshape(-1)[0] = np.nan
    name = f"{dtype.value} {seed}"
    return c.Case(name, op, ATTRS, tuple(operands), None, DType.BOOL)


def _cases(op: str, count: int) -> list[c.Case]:
    return [_case(i, op, dtype) for each, dtype in PAIRS if each == op for i in range(count)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([case for op in OPERATORS for case in _cases(op, 30)], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([case for op in OPERATORS for case in _cases(op, 2)], tmp_path)


def test_in_place_only_where_elements_are_of_one_byte() -> None:
    for op in OPERATORS:
        for dtype, expected in ((DType.INT8, {0: 0, 1: 0}), (DType.INT16, {}), (DType.FLOAT32, {})):
            case = _case(0, op, dtype)
            for kernel in registry()[op]:
                assert kernel.in_place(case.node, case.graph) == expected


def test_more_than_four_axes_are_refused() -> None:
    rng = np.random.default_rng(0)
    shapes = ((2, 1, 2, 1, 2), (1, 2, 1, 2, 1))
    operands = tuple(broadcasting.operand(rng, DType.INT32, shape) for shape in shapes)
    case = c.Case("", "less", ATTRS, operands, None, DType.BOOL)
    refusals = [str(kernel.refusal(case.node, case.graph)) for kernel in registry()["less"]]
    assert sum("along 5 axes" in refusal for refusal in refusals) == 1
