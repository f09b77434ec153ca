"""Relay: the graph language of TVM as data, as text, and as a Python builder.

    d1 = relay.var("d1", shape=(1, 32, 56, 56), dtype="float32")
    module = relay.IRModule.from_expr(relay.Function([d1], relay.nn.relu(d1)))
    print(relay.transform.InferType()(module))

Operators without a prefix are functions of this package: ``relay.add``, ``relay.concatenate``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from microgen.relay import transform
from microgen.relay.builder import Namespace, TupleWrapper, const, var
from microgen.relay.expr import (
    Call,
    Constant,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    Let,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from microgen.relay.files import bind_params, load, save
from microgen.relay.infer_type import infer_type
from microgen.relay.module import IRModule, printed, show
from microgen.relay.parser import parse
from microgen.relay.structural import structural_equal, structural_hash

__all__ = [
    "Call",
    "Constant",
    "Expr",
    "FuncType",
    "Function",
    "GlobalVar",
    "IRModule",
    "Let",
    "Op",
    "TensorType",
    "Tuple",
    "TupleGetItem",
    "TupleType",
    "TupleWrapper",
    "Type",
    "Var",
    "annotation",
    "bind_params",
    "const",
    "image",
    "infer_type",
    "load",
    "nn",
    "parse",
    "printed",
    "qnn",
    "save",
    "show",
    "structural_equal",
    "structural_hash",
    "transform",
    "var",
]


class _Qnn:
    """The namespace of qnn operators, as in TVM: ``relay.qnn.op.conv2d``."""

    op = Namespace("qnn.")


annotation = Namespace("annotation.")
nn = Namespace("nn.")
image = Namespace("image.")
qnn = _Qnn()
_plain = Namespace("")


def __getattr__(name: str) -> Callable[..., Any]:
    # The registry has the names, so that a new operator needs no line here.
    return getattr(_plain, name)  # type: ignore[no-any-return]
