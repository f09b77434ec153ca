from __future__ import annotations

import struct

import numpy as np

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.moves.views import BITCAST, BitcastAttrs


def test_bits_of_floats_are_those_that_ieee_754_defines() -> None:
    kinds = (TensorType((2,), DType.FLOAT32),), (TensorType((2,), DType.UINT32),)
    data = np.array([1.0, -2.5], np.float32)
    (found,) = BITCAST.reference(BitcastAttrs(), Operands((data,), *kinds))
    assert found.tolist() == [struct.unpack("<I", struct.pack("<f", x))[0] for x in (1.0, -2.5)]


def test_other_sizes_and_bool_outputs_are_refused() -> None:
    data, narrow = TensorType((2,), DType.FLOAT32), TensorType((2,), DType.INT8)
    assert "of one size" in str(BITCAST.check(BitcastAttrs(), [data], [narrow]))
    boolean = TensorType((2,), DType.BOOL)
    assert "must not be bool" in str(BITCAST.check(BitcastAttrs(), [narrow], [boolean]))
    assert BITCAST.check(BitcastAttrs(), [boolean], [narrow]) is None
