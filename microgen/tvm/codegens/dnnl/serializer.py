"""Relay function -> the JSON graph of DNNL's runtime.

Source: TVM v0.14, ``src/relay/backend/contrib/dnnl/codegen.cc``, DNNLJSONSerializer. Unlike there,
the operands of a composite function are in the runtime's order, whatever the order of its
parameters, and a padding of one or two numbers becomes the four that the runtime reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from microgen.relay.expr import Attrs, Call, Constant, Expr, Function, Op, Type
from microgen.relay.op.relations import pads
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import composites
from microgen.tvm.codegens.json_graph import Kernel, Serialized
from microgen.tvm.codegens.json_graph.serializer import composite_attr, texts


def serialize(symbol: str, function: Function, types: Mapping[Expr, Type]) -> Serialized:
    """The graph of a function. Its own symbol is ``dnnl_<symbol>``, from which the names of its
    constants are made.

    Raises like ``json_graph.serialize``, and for a composite function that is not one of dnnl's.
    """
    return json_graph.serialize(f"dnnl_{symbol}", function, types, kernel_of)


def kernel_of(call: Call) -> Kernel:
    """The node of an operator, or of a composite function, which has the attributes of its first
    operator, and those of a clip at its end."""
    if isinstance(call.op, Op):
        return Kernel(call.op.name, tuple(call.args), _texts(call.attrs))
    name = composite_attr(call, "Composite")
    assert isinstance(call.op, Function), "composite_attr has checked it"
    body = composites.body(name, call.op.body)
    given: dict[Expr, Expr] = dict(zip(call.op.params, call.args, strict=True))
    args = tuple(_bound(operand, given) for operand in body.operands)
    clip = body.activation if "_clip" in name else None
    return Kernel(name, args, {**_texts(body.root.attrs), **(texts(clip.attrs) if clip else {})})


def _texts(attrs: Attrs) -> Mapping[str, tuple[str, ...]]:
    if "padding" not in attrs:
        return texts(attrs)
    return texts({**attrs, "padding": pads(attrs["padding"])})


def _bound(operand: Expr, given: Mapping[Expr, Expr]) -> Expr:
    """The caller's argument for an operand of the body."""
    if isinstance(operand, Constant):
        return operand
    if operand not in given:
        raise ValueError("calls a function with an operand that is not one of its parameters")
    return given[operand]
