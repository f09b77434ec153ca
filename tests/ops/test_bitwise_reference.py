from __future__ import annotations

import numpy as np

from microgen.ir.graph import DType, TensorType
from microgen.ops.bitwise import OP, BitFunction, BitwiseAttrs
from tests.ops.test_bitwise import cases

FUNCTIONS = {
    BitFunction.AND: lambda a, b: a & b,
    BitFunction.OR: lambda a, b: a | b,
    BitFunction.XOR: lambda a, b: a ^ b,
    BitFunction.LEFT: lambda a, b: a << min(b, 64),
    BitFunction.RIGHT: lambda a, b: a >> b,
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


def test_shifts_of_signed_integers_are_refused() -> None:
    kind = TensorType((2,), DType.INT8)
    attrs = BitwiseAttrs(BitFunction.LEFT)
    assert "must be of one dtype: uint8 or uint16" in str(OP.check(attrs, [kind, kind], [kind]))
