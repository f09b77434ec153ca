"""Text and graphs that are refused: where, what was found, what was expected."""

from __future__ import annotations

import pytest

from microgen import relay
from microgen.base.errors import ModelError, UnsupportedError

_X = "%x: Tensor[(1, 2, 8, 8), float32]"


def _refused(text: str, kind: type[Exception] = ModelError) -> str:
    with pytest.raises(kind) as caught:
        relay.parse(text, "net.relay")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _body(body: str, kind: type[Exception] = ModelError) -> str:
    return _refused(f"def @main({_X}) {{\n  {body}\n}}", kind)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("nn.relu(%x", "net.relay:3:1: found '}', expected ')'"),
        ("nn.relu(%y)", "net.relay:2:11: found %y, which is not defined here"),
        ("%3", "net.relay:2:3: found %3, which is not defined here"),
        ("%x %x", "net.relay:2:6: found '%x', expected '}'"),
        ("nn.relu", "net.relay:2:3: found 'nn.relu', expected an expression"),
        ("%x + %x", "net.relay:2:6: found '+', expected '}'"),
        ("nn.relu(%x, axis=1)", "net.relay:2:3: nn.relu has no attribute 'axis', it has none"),
        (
            "nn.softmax(%x, axes=1)",
            "net.relay:2:3: nn.softmax has no attribute 'axes', it has axis",
        ),
        (
            "nn.softmax(%x, axis=[1])",
            "net.relay:2:3: nn.softmax axis is [1], expected an integer",
        ),
        ("nn.softmax(%x, axis=1, axis=1)", "net.relay:2:26: found attribute 'axis' a second time"),
        ("nn.softmax(axis=1, %x)", "2:22: found '%x', expected an attribute, because only attr"),
        (
            "nn.softmax(%x, axis=9)",
            "2:3: nn.softmax axis is 9, expected an axis of a tensor",
        ),
        ("cast(%x)", "net.relay:2:3: cast lacks dtype"),
        ("nn.relu(%x, %x)", "net.relay:2:3: nn.relu has 2 arguments, expected 1 (data)"),
        ("nn.relu((%x, %x))", "net.relay:2:3: nn.relu data is (Tensor[(1, 2, 8, 8), float32], "),
        ("concatenate(%x)", "net.relay:2:3: concatenate data is Tensor[(1, 2, 8, 8), float32], "),
        ("add(%x, 1)", "net.relay:2:3: add rhs is int32, expected dtype float32, that of lhs"),
        ("nn.bias_add(%x, %x)", "expected Tensor[(2), float32]"),
        ("%x.0", "found .0 of Tensor[(1, 2, 8, 8), float32], which is not a tuple"),
        ("(%x,).1", "net.relay:2:8: found .1 of a tuple of 1 fields"),
        ("%x(%x)", "which is not a function"),
        ("@f(%x)", "net.relay:2:5: the module has no function @f"),
        ("@main(%x)", "@main calls itself"),
        ("%0 = %x; %0 = %x; %0", "net.relay:2:12: found %0 defined a second time"),
        (
            "let %y: float32 = %x; %y",
            "%y is Tensor[(1, 2, 8, 8), float32], but declared as float32",
        ),
        ("let %y = %y; %y", "found %y, which is not defined here"),
        ("meta[relay.Constant][0]", "whose data are missing; put it into the .params file next to"),
        ("1.5i8", "net.relay:2:3: '1.5i8' is not an integer"),
        ("300i8", "net.relay:2:3: 300 is out of the range of int8"),
        ("1e99f", "net.relay:2:3: 1e99 is out of the range of float32"),
        ("9" * 999, "is not a number of a known dtype"),
        ("/* nn.relu(%x)", "net.relay:2:3: found a comment that does not end"),
        ("$", "net.relay:2:3: found '$', expected Relay text"),
        ('nn.softmax(%x, axis="\\q")', "which is not a well-formed string"),
        (
            'nn.conv2d(%x, %x, data_layout="NCHW16c")',
            "data_layout is 'NCHW16c', expected an order of the letters NCHW",
        ),
        ("fn (%y) { %y }", "parameter %y has no type; write %y: Tensor[..]"),
        ("", "net.relay:3:1: found '}', expected an expression"),
    ],
)
def test_malformed(body: str, message: str) -> None:
    assert message in _body(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if (%x) { %x } else { %x }", "net.relay:2:3: if is not supported."),
        (
            "match (%x) {}",
            "net.relay:2:3: AOT executor does not support matching (found Match",
        ),
        (
            "ref(%x)",
            "net.relay:2:3: AOT executor does not support references (found RefCreateNode)",
        ),
        ("ref_read(%x)", "does not support references (found RefReadNode)"),
        ("ref_write(%x, %x)", "does not support references (found RefWriteNode)"),
        ("nn.rleu(%x)", "net.relay:2:3: no operator is named 'nn.rleu'; nearest: nn.relu"),
        ('zeros(shape=[3000000000], dtype="int8")', "has an axis longer than 2147483647"),
        ("on_device(%x, virtual_device=meta[VirtualDevice][0])", "refers to metadata"),
    ],
)
def test_unsupported(body: str, message: str) -> None:
    assert message in _body(body, UnsupportedError)


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ("1, ?", "net.relay:1:22: Cannot allocate memory symbolic tensor shape [1, ?]"),
        ("1, Any", "Cannot allocate memory symbolic tensor shape [1, Any]"),
        ("1, -2", "net.relay:1:22: Cannot allocate memory for tensor with negative shape -2"),
    ],
)
def test_shapes_that_are_not_known(dims: str, message: str) -> None:
    assert message in _refused(f"def @main(%x: Tensor[({dims}), int8]) {{ %x }}", UnsupportedError)


def test_negative_shapes_from_the_builder() -> None:
    x = relay.var("x", shape=(-1, 2))
    with pytest.raises(UnsupportedError, match="@main: Cannot allocate memory for tensor with neg"):
        relay.infer_type(relay.IRModule.from_expr(relay.Function([x], x)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "net.relay:1:1: found the end of the text, expected 'def @main(...) {...}'"),
        ("def @f() { 1 } def @f() { 1 }", "net.relay:1:20: found @f a second time"),
        ("def @f(%a: int8, %a: int8) { 1 }", "found parameter '%a' a second time"),
        ("def @f() -> int8 { 1 }", "net.relay:1:5: the function returns int32, but declares int8"),
        ("def @f(%a: int9) { %a }", "found 'int9', expected a type, such as Tensor[(1, 2), float"),
        ("def @f() { @g() } def @g() { @f() }", "calls itself, which needs a stack at run time"),
        ("def @f() { @g(1) } def @g() { 1 }", "the call's arguments are (int32), expected ()"),
        ("fn () { 1 }", "net.relay:1:1: found 'fn', expected 'def'"),
    ],
)
def test_malformed_modules(text: str, message: str) -> None:
    assert message in _refused(text)


@pytest.mark.parametrize("word", ["type", "extern"])
def test_data_types(word: str) -> None:
    message = _refused(f"{word} List[A] {{}}", UnsupportedError)
    assert "AOT executor does not support ADTs (found ConstructorNode)" in message


@pytest.mark.parametrize(
    "text",
    [
        "def @f() { " + "(" * 10_000,
        "def @f() { " + "nn.relu(" * 10_000,
        "def @f() { " + "fn () { " * 10_000,
        "def @f() { " + "let %x = (" * 10_000,
        "def @f(a=" + "[" * 10_000,
        "def @f(%x: " + "(" * 10_000,
        "def @f(%x: " + "fn (" * 10_000,
    ],
)
def test_hostile_nesting(text: str) -> None:
    assert "nested deeper than" in _refused(text)


def test_tuples_that_double_are_refused_soon() -> None:
    lines = "".join(f"%{i + 1} = (%{i}, %{i});" for i in range(2000))
    text = f"def @f(%x: int8) {{ %0 = %x; {lines} %2000 }}"
    assert "a tuple or function has more than 1024 values" in _refused(text, UnsupportedError)


def test_tuples_that_nest_are_refused() -> None:
    lines = "".join(f"%{i + 1} = (%{i},);" for i in range(2000))
    text = f"def @f(%x: int8) {{ %0 = %x; {lines} %2000 }}"
    assert "64 levels" in _refused(text, UnsupportedError)


def test_free_variables_from_the_builder() -> None:
    x = relay.var("x", shape=(1,))
    with pytest.raises(ModelError, match="%x is free"):
        relay.infer_type(relay.IRModule.from_expr(relay.Function([], x)))
    with pytest.raises(ModelError, match="%x is free"):
        relay.show(relay.IRModule.from_expr(relay.Function([], x)))
