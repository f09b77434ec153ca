from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.elementwise.bitwise import OP, BitFunction, BitwiseAttrs
from tests.kernels.elementwise.test_bitwise import cases

FUNCTIONS = {
    BitFunction.AND: lambda a, b: a & b,
    BitFunction.OR: lambda a, b: a | b,
    BitFunction.XOR: lambda a, b: a ^ b,
    BitFunction.LEFT: lambda a, b: a << min(b, 64) if b >= 0 else 0,
    BitFunction.RIGHT: lambda a, b: a >> (b if b >= 0 else 64),
}


def test_equals_pythons_integers() -> None:
    for case in cases(6):
        assert isinstance(case.attrs, BitwiseAttrs)
        lhs, rhs = np.broadcast_arrays(*(tensor.array for tensor in case.inputs))
        pairs = zip(lhs.reshape(-1).tolist(), rhs.reshape(-1).tolist(), strict=True)
        wide = [FUNCTIONS[case.attrs.function](a, b) for a, b in pairs]
        bits = 8 * lhs.dtype.itemsize
        expected = [value % 2**bits for value in wide]
        assert [value % 2**bits for value in case.expected.reshape(-1).tolist()] == expected


def test_other_dtypes_are_refused() -> None:
    kind = ArrayType((2,), DType.BOOL)
    attrs = BitwiseAttrs(BitFunction.LEFT)
    assert "must be of one dtype: int8 or uint8" in str(OP.check(attrs, [kind, kind], [kind]))
