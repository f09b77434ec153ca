from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Quant
from microgen.graph.ops.moves.views import COPY, CopyAttrs
from tests.kernels.conformance.litert_oracle import Case, activation_type, by_reference


def test_the_output_has_the_input_s_bytes_and_a_buffer_of_its_own() -> None:
    data = activation_type((2, 3), 1.0, 7)
    array = np.arange(6, dtype=np.int8).reshape(2, 3)
    case = Case(COPY.name, CopyAttrs(), [data], [array], Quant((1.0,), (7,)), "", "")
    found = by_reference(case)
    np.testing.assert_array_equal(found, array)
    assert not np.shares_memory(found, array)


def test_quantization_must_not_change() -> None:
    data, other = activation_type((2,), 1.0, 7), activation_type((2,), 1.0, 8)
    assert "they must be equal" in str(COPY.check(CopyAttrs(), [data], [other]))
