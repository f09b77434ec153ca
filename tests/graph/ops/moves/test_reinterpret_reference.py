import numpy as np
import pytest

from microgen.graph.ir.graph import DType, Quant, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.moves.views import REINTERPRET, ReinterpretAttrs

DATA = TensorType((2, 3), DType.INT8, Quant((1.0,), (0,)))
OUTPUT = TensorType((3, 2), DType.INT8, Quant((0.5,), (7,)))


def test_bytes_stay_and_their_meaning_changes() -> None:
    values = np.arange(6, dtype=np.int8).reshape(2, 3)
    attrs = ReinterpretAttrs((3, 2))
    assert REINTERPRET.infer(attrs, [DATA]) == ((3, 2),)
    assert REINTERPRET.check(attrs, [DATA], [OUTPUT]) is None
    (found,) = REINTERPRET.reference(attrs, Operands((values,), (DATA,), (OUTPUT,)))
    assert found.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_dtype_and_size_must_stay() -> None:
    wide = TensorType((3, 2), DType.INT16, Quant((0.5,), (0,)))
    assert "must be of one dtype" in str(
        REINTERPRET.check(ReinterpretAttrs((3, 2)), [DATA], [wide])
    )
    with pytest.raises(ValueError, match="has 6 elements"):
        REINTERPRET.infer(ReinterpretAttrs((3, 3)), [DATA])
