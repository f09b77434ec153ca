"""Why the runtime does not take a match of one of dnnl's patterns.

Source of the patterns: TVM v0.14, ``python/tvm/relay/op/contrib/dnnl.py``, pattern_table. There a
bias is an ``add``; here it may also be an ``nn.bias_add``. gelu and mish are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from microgen.relay.expr import Call, Expr, Op, TensorType, Type
from microgen.relay.op import relations
from microgen.relay.transform.support import operator_call
from microgen.tvm.codegens.dnnl import composites
from microgen.tvm.codegens.dnnl.composites import Added, Body
from microgen.tvm.codegens.dnnl.support import OPERATORS


def refusal(
    name: str, root: Expr, types: Mapping[Expr, Type], outside: Collection[Expr] = ()
) -> str | None:
    """A sentence why ``root`` cannot become the composite function ``name``, whose operands are
    ``outside``; None if it can."""
    try:
        body = composites.body(name, root, outside)
    except ValueError as error:
        return str(error)
    channel = _channel_axis(body.root)
    return (
        _operator(body.root, types)
        or (_bias(body.bias, channel, types) if body.bias else None)
        or (_sum(body.sum, types) if body.sum else None)
        or _activation(body, types)
    )


def _operator(call: Call, types: Mapping[Expr, Type]) -> str | None:
    assert isinstance(call.op, Op)
    return OPERATORS[call.op.name](operator_call(call, types))


def _channel_axis(root: Call) -> int:
    """The axis of channels in the result of a convolution or a dense layer."""
    return str(root.attrs["data_layout"]).index("C") if "data_layout" in root.attrs else 1


def _tensor(expr: Expr, types: Mapping[Expr, Type]) -> TensorType:
    found = types[expr]
    assert isinstance(found, TensorType), "operators of composite functions compute tensors"
    return found


def _bias(added: Added, channel: int, types: Mapping[Expr, Type]) -> str | None:
    """Refusal unless there is one value per channel, by ``axis`` or by a shape that broadcasts."""
    result, bias = _tensor(added.call, types), _tensor(added.value, types)
    rank = len(result.shape)
    if added.call.op == Op("nn.bias_add"):
        fits = relations.axis_of(added.call.attrs["axis"], rank) == channel
    else:
        wanted = [result.shape[axis] if axis == channel else 1 for axis in range(rank)]
        computed = next(arg for arg in added.call.args if arg is not added.value)
        padded = [1] * (rank - len(bias.shape)) + list(bias.shape)
        fits = padded == wanted and _tensor(computed, types) == result
    return None if fits else f"the bias, {bias}, is not one value per channel of {result}"


def _sum(added: Added, types: Mapping[Expr, Type]) -> str | None:
    operands = [_tensor(arg, types) for arg in added.call.args]
    if operands[0] == operands[1]:
        return None
    return f"the operands of the sum, {operands[0]} and {operands[1]}, have two shapes"


def _activation(body: Body, types: Mapping[Expr, Type]) -> str | None:
    return _operator(body.activation, types) if body.activation else None
