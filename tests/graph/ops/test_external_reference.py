from __future__ import annotations

import numpy as np
import pytest

from microgen import relay
from microgen.frontends.relay.convert import convert as from_module
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.external import OP, ExternalAttrs

KIND = ArrayType((2, 3), DType.FLOAT32)


def attrs(body: str) -> ExternalAttrs:
    text = f"""
def @main(%a: Tensor[(2, 3), float32], %b: Tensor[(2, 3), float32]) {{ {body} }}
"""
    return ExternalAttrs("f", "somebody", from_module(relay.parse(text, "f"), file="f"))


def test_it_computes_what_the_graph_inside_computes() -> None:
    own = attrs("%0 = subtract(%a, %b); (%0, add(%0, %a))")
    a, b = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    found = OP.reference(own, Operands((a, b), (KIND, KIND), (KIND, KIND)))
    np.testing.assert_array_equal(found[0], a - b)
    np.testing.assert_array_equal(found[1], a - b + a)
    assert OP.infer(own, (KIND, KIND)) == ((2, 3), (2, 3))


def test_a_status_of_the_graph_inside_is_its_own() -> None:
    text = "def @main(%a: Tensor[(2), int32], %b: Tensor[(2), int32]) { divide(%a, %b) }"
    inside = from_module(relay.parse(text, "f"), file="f")
    kind = ArrayType((2,), DType.INT32)
    zeros = np.zeros(2, np.int32)
    with pytest.raises(StatusError):
        OP.reference(ExternalAttrs("f", "x", inside), Operands((zeros,) * 2, (kind,) * 2, (kind,)))


def test_other_types_than_the_function_s_are_refused() -> None:
    own = attrs("add(%a, %b)")
    with pytest.raises(ValueError, match="is expected"):
        OP.infer(own, (KIND, ArrayType((3, 2), DType.FLOAT32)))
    sentence = OP.check(own, (KIND, ArrayType((2, 3), DType.INT32)), (KIND,))
    assert "f has float32[2,3] where int32[2,3] is" in str(sentence)
