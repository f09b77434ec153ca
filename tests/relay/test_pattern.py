"""Patterns: what matches, and what parts of them stand for."""

from __future__ import annotations

import pytest

from microgen import relay
from microgen.relay.expr import Expr, TensorType
from microgen.relay.pattern import (
    Pattern,
    has_attr,
    has_dtype,
    has_shape,
    is_constant,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    match,
    wildcard,
)


def _matches(pattern: Pattern, body: str) -> bool:
    text = f"def @main(%x: Tensor[(2, 4), float32], %y: Tensor[(4), float32]) {{ {body} }}"
    module = relay.parse(text)
    return match(pattern, module["main"].body, module.types) is not None


_X = wildcard()
_SUM = is_op("add")(is_op("exp")(wildcard()), is_constant())


@pytest.mark.parametrize(
    ("pattern", "body", "expected"),
    [
        (wildcard(), "%x", True),
        (is_var(), "%x", True),
        (is_var("x"), "%x", True),
        (is_var("z"), "%x", False),
        (is_var(), "exp(%x)", False),
        (is_constant(), "2f", True),
        (is_constant(), "%x", False),
        (is_op("exp")(wildcard()), "exp(%x)", True),
        (is_op("exp")(wildcard()), "log(%x)", False),
        (is_op("exp")(wildcard(), wildcard()), "exp(%x)", False),
        (is_op("exp")(), "exp(%x)", False),
        (is_op("add")(None), "add(%x, %y)", True),
        ((is_op("exp") | is_op("log"))(wildcard()), "log(%x)", True),
        (wildcard()(wildcard()), "log(%x)", True),
        (_SUM, "add(exp(%x), 1f)", True),
        (_SUM, "add(1f, exp(%x))", True),
        (is_op("subtract")(wildcard(), is_constant()), "subtract(1f, %x)", False),
        (is_op("multiply")(_X, _X), "multiply(%x, %x)", True),
        (is_op("multiply")(_X, _X), "multiply(%x, %y)", False),
        (is_tuple([wildcard(), is_constant()]), "(%x, 1f)", True),
        (is_tuple([wildcard()]), "(%x, 1f)", False),
        (is_tuple(None), "(%x, 1f)", True),
        (is_tuple_get_item(wildcard(), 1), "(%x, %y).1", True),
        (is_tuple_get_item(wildcard(), 0), "(%x, %y).1", False),
        (is_tuple_get_item(is_tuple(None)), "(%x, %y).1", True),
        (is_op("nn.softmax")(wildcard()).has_attr({"axis": 1}), "nn.softmax(%x, axis=1)", True),
        (is_op("nn.softmax")(wildcard()).has_attr({"axis": 0}), "nn.softmax(%x, axis=1)", False),
        (has_attr({"axes": [1, 0]}), "transpose(%x, axes=[1, 0])", True),
        (has_attr({"beta": 1}), "nn.softmax(%x)", False),
        (has_attr({"axis": 1}), "%x", False),
        (has_dtype("float32"), "%x", True),
        (has_dtype("int8"), "%x", False),
        (has_shape([2, 4]), "exp(%x)", True),
        (has_shape([2, 4], is_var()), "exp(%x)", False),
        (wildcard().has_type(TensorType((4,), "float32")), "%y", True),
        (has_dtype("float32"), "(%x, %y)", False),
    ],
)
def test_matches(pattern: Pattern, body: str, expected: bool) -> None:
    assert _matches(pattern, body) is expected


def test_what_failed_is_forgotten() -> None:
    inner = wildcard()
    first = is_op("add")(is_op("exp")(inner), is_op("log")(wildcard()))
    pattern = first | is_op("add")(wildcard(), inner)
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    found = match(pattern, relay.add(relay.exp(x), y))
    assert found is not None
    assert found[inner] is y
    assert first not in found


def test_operands_in_the_other_order() -> None:
    left, right = wildcard(), is_constant()
    x = relay.var("x", shape=(2,))
    found = match(is_op("add")(left, right), relay.add(relay.const(1.0), x))
    assert found is not None
    assert found[left] is x


def test_options_add_up() -> None:
    conv = is_op("exp")(wildcard())
    pattern = conv.optional(lambda e: is_op("log")(e)).optional(lambda e: is_op("tanh")(e))
    for body in ("exp(%x)", "log(exp(%x))", "tanh(exp(%x))", "tanh(log(exp(%x)))"):
        assert _matches(pattern, body)
    assert not _matches(pattern, "log(tanh(exp(%x)))")


def test_without_types_typed_patterns_match_nothing() -> None:
    value: Expr = relay.const(1.0)
    assert match(has_dtype("float32"), value) is None
    assert match(wildcard(), value) is not None
