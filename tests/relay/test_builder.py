"""The Python builder: TVM's names, orders and defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import ModelError

_X = relay.var("x", shape=(1, 4, 8, 8))


def _attrs(call: Any) -> dict[str, Any]:
    return dict(call.attrs)


@pytest.mark.parametrize("padding", [1, (1, 1), [1, 1], (1, 1, 1, 1), np.int64(1)])
def test_paddings_become_four(padding: object) -> None:
    assert _attrs(relay.nn.max_pool2d(_X, padding=padding))["padding"] == (1, 1, 1, 1)


def test_defaults_are_those_of_tvms_functions() -> None:
    assert _attrs(relay.nn.leaky_relu(_X))["alpha"] == 0.01
    assert _attrs(relay.nn.batch_matmul(_X, _X))["transpose_b"] is True
    assert _attrs(relay.qnn.op.requantize(_X, 1.0, 0, 1.0, 0))["out_dtype"] == "int8"
    assert _attrs(relay.qnn.op.quantize(_X, 1.0, 0))["out_dtype"] == "int8"
    assert _attrs(relay.image.resize2d(_X, 3))["size"] == (3, 3)
    assert _attrs(relay.nn.dense(_X, _X))["units"] is None


def test_positions_are_those_of_tvms_functions() -> None:
    conv = relay.qnn.op.conv2d(_X, _X, 1, 2, 0.5, 0.25, (3, 3), 8)
    assert [int(a.data) for a in conv.args[2:4]] == [1, 2]
    assert (_attrs(conv)["kernel_size"], _attrs(conv)["channels"]) == ((3, 3), 8)
    assert _attrs(conv)["out_dtype"] == "int32"
    assert _attrs(relay.take(_X, _X, 1))["axis"] == 1
    assert _attrs(relay.qnn.op.quantize(_X, 1.0, 0, 2, "uint8"))["axis"] == 2
    pad = relay.nn.pad(_X, ((0, 0),) * 4, 1.5)
    assert float(pad.args[1].data) == 1.5
    assert _attrs(relay.argmax(_X, 1))["axis"] == (1,)


def test_tuples() -> None:
    joined = relay.concatenate((_X, _X), axis=1)
    assert isinstance(joined.args[0], relay.Tuple)
    parts = relay.split(_X, [1, 2], axis=1)
    assert len(parts) == 3
    assert [p.index for p in parts] == [0, 1, 2]
    assert isinstance(parts.astuple(), relay.Call)
    assert parts[-1].index == 2
    with pytest.raises(IndexError):
        parts[3]
    again = relay.concatenate(parts, 1)
    module = relay.infer_type(relay.IRModule.from_expr(relay.Function([_X], again)))
    assert module["main"].ret_type == _X.type_annotation


def test_constants() -> None:
    assert str(relay.const(1).type) == "int32"
    assert str(relay.const(1.0).type) == "float32"
    assert str(relay.const(True).type) == "bool"
    assert str(relay.const([1, 2]).type) == "Tensor[(2), int32]"
    assert str(relay.const(np.zeros(2)).type) == "Tensor[(2), float64]"
    assert str(relay.const(1, "uint8").type) == "uint8"
    with pytest.raises(ModelError, match="no dtype is named 'int9'; nearest"):
        relay.const(1, "int9")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: relay.nn.relu(), "relay.nn.relu: nn.relu lacks data"),
        (lambda: relay.nn.relu(_X, 1), "takes 1 arguments, got 2"),
        (lambda: relay.nn.softmax(_X, 1, axis=1), "got axis twice"),
        (lambda: relay.nn.softmax(_X, axes=1), "has no argument 'axes', it has data, axis"),
        (lambda: relay.nn.softmax("x"), "data is a str, expected an expression"),
        (lambda: relay.nn.softmax(_X, axis="1"), "axis is '1', expected an integer"),
        (lambda: relay.cast(_X), "lacks dtype"),
        (lambda: relay.var("x", relay.TensorType((), "int8"), (1,)), "has both a type and a shape"),
    ],
)
def test_misuse(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


def test_names_that_do_not_exist() -> None:
    with pytest.raises(AttributeError, match=r"no operator is named 'nn.rleu'; nearest: nn.relu"):
        _ = relay.nn.rleu
    assert "conv2d" in dir(relay.nn)


def test_function_attributes() -> None:
    function = relay.Function([_X], _X).with_attr("Compiler", "dnnl").with_attr("Primitive", 1)
    assert 'Compiler="dnnl", Primitive=1)' in str(relay.IRModule.from_expr(function))
