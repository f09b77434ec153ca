from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.tables.tables import LOOKUP, LookupAttrs
from tests.kernels.conformance.litert_oracle import activation_type

ATTRS = LookupAttrs("nn.elu")
DATA = activation_type((2, 3), 0.1, 3)
TABLE = activation_type((256,), 0.1, 3)


def test_each_value_gives_the_entry_of_its_number_from_minus_128() -> None:
    table = np.random.default_rng(0).integers(-128, 128, 256).astype(np.int8)
    data = np.array([[-128, -127, -1], [0, 1, 127]], np.int8)
    (found,) = LOOKUP.reference(ATTRS, Operands((data, table), (DATA, TABLE), (DATA,)))
    np.testing.assert_array_equal(found, table[[[0, 1, 127], [128, 129, 255]]])
    assert found.dtype == np.int8


def test_shapes() -> None:
    assert LOOKUP.infer(ATTRS, [DATA, TABLE]) == ((2, 3),)
    with pytest.raises(ValueError, match="data and table are expected"):
        LOOKUP.infer(ATTRS, [DATA])
    with pytest.raises(ValueError, match="must have 256 entries"):
        LOOKUP.infer(ATTRS, [DATA, activation_type((255,), 0.1, 3)])


def test_constraints() -> None:
    wide = ArrayType((256,), DType.INT32)
    assert "the table is int32" in str(LOOKUP.check(ATTRS, [DATA, wide], [DATA]))
    assert "the input is" in str(LOOKUP.check(ATTRS, [wide, TABLE], [DATA]))


def test_the_function_is_named_after_what_was_tabulated() -> None:
    assert LOOKUP.parts(ATTRS, 2) == ("nn_elu",)
