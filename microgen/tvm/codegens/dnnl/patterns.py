"""The operators and patterns that dnnl takes, and the reasons why its runtime refuses matches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from microgen.relay.expr import Call, Expr, Op, TensorType, Type
from microgen.relay.op import relations
from microgen.relay.pattern import Pattern, is_op, wildcard
from microgen.relay.transform.support import CompositePattern, Match, Support, operator_call
from microgen.tvm.codegens.dnnl import composites
from microgen.tvm.codegens.dnnl.composites import (
    ACTIVATIONS,
    LAST,
    ROOTS,
    Added,
    Composite,
    CompositeBody,
    parse,
)
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


def _activation(body: CompositeBody, types: Mapping[Expr, Type]) -> str | None:
    return _operator(body.activation, types) if body.activation else None


# The operators and patterns that dnnl takes. The first pattern that fits is used.
#
# Source of the patterns and their order: TVM v0.14, ``python/tvm/relay/op/contrib/dnnl.py``,
# pattern_table.


def _names() -> Iterator[str]:
    yield from ("dnnl.dense_bias_sum", "dnnl.conv2d_bias_sum_relu", "dnnl.conv2d_bias_sum")
    for bias in ("_bias", ""):
        for activation in (*(f"_{name}" for name in ACTIVATIONS), *(("",) if bias else ())):
            yield from (f"dnnl.{root}{bias}{activation}" for root in ROOTS)


def _pattern(made: Composite) -> Pattern:
    """The pattern. Additions match in both orders; a bias may also be an ``nn.bias_add``."""
    found: Pattern = is_op(made.root)(wildcard(), wildcard())
    if made.bias:
        bias = wildcard()
        found = is_op("add")(found, bias) | is_op("nn.bias_add")(found, bias)
    if made.sum:
        found = is_op("add")(found, wildcard())
    if made.activation == "swish":
        return is_op("multiply")(found, is_op("sigmoid")(found))
    return is_op(LAST.get(made.activation, made.activation))(found) if made.activation else found


def _composite(name: str) -> CompositePattern:
    made = parse(name)
    assert made is not None, "composites.py reads the names of this table"

    def check(match: Match) -> str | None:
        return refusal(name, match.root, match.types, match.inputs)

    return CompositePattern(name, _pattern(made), check)


SUPPORT = Support("dnnl", OPERATORS, tuple(map(_composite, _names())))
