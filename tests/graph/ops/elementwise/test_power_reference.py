from __future__ import annotations

import math

import numpy as np

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.elementwise.product import POWER, PowerAttrs
from tests.kernels.elementwise.test_power import float_cases, integer_cases


def _whole(base: int, exponent: int, bits: int) -> int:
    if exponent < 0:
        return 0 if abs(base) != 1 else base ** (exponent % 2)
    return pow(base, exponent, 2**bits)


def test_integers_equal_pythons_modulo_the_dtype() -> None:
    for case in integer_cases(30):
        lhs, rhs = np.broadcast_arrays(*(tensor.array for tensor in case.inputs))
        bits = 8 * lhs.dtype.itemsize
        pairs = zip(lhs.reshape(-1).tolist(), rhs.reshape(-1).tolist(), strict=True)
        expected = [_whole(base, exponent, bits) % 2**bits for base, exponent in pairs]
        assert [value % 2**bits for value in case.expected.reshape(-1).tolist()] == expected


def test_special_floats_equal_c() -> None:
    for case in float_cases(20):
        x, y = (float(tensor.array[0]) for tensor in case.inputs)
        try:
            expected = math.pow(x, y)
        except OverflowError:
            expected = math.inf if x > 0 or y % 2 == 0 else -math.inf
        except ValueError:  # 0 to a negative power, or a root of a negative number
            odd = y % 2 == 1
            expected = math.nan if x else math.copysign(math.inf, x if odd else 1)
        with np.errstate(over="ignore"):
            np.testing.assert_equal(case.expected[0], np.array(expected).astype(np.float32))


def test_square_roots_do_not_depend_on_shapes() -> None:
    x = np.array([-np.inf, -0.0, 4.0], np.float32)
    for y in (np.float32(0.5), np.full(3, 0.5, np.float32)):
        kinds = tuple(TensorType(np.shape(a), DType.FLOAT32) for a in (x, y))
        operands = Operands((x, np.asarray(y)), kinds, kinds[:1])
        (found,) = POWER.reference(PowerAttrs(), operands)
        assert found.tolist() == [np.inf, 0, 2]
        assert not np.signbit(found).any()


def test_other_dtypes_are_refused() -> None:
    kind = TensorType((2,), DType.UINT8)
    sentence = POWER.check(PowerAttrs(), [kind, kind], [kind])
    assert "all must be of one dtype: int32 or int64 or float32" in str(sentence)
