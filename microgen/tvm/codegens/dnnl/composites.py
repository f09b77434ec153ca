"""Composite functions: the meaning of their names, the parts of their bodies, the patterns that
make them, and the reasons why the runtime refuses matches.

``dnnl.conv2d_bias_sum_relu`` is a convolution whose result gets a bias, another tensor and a ReLU,
in this order. Source: TVM v0.14, ``python/tvm/relay/op/contrib/dnnl.py``, pattern_table;
``src/runtime/contrib/dnnl/dnnl_json_runtime.cc``, ParseAttrs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from microgen.relay.expr import Call, Expr, Op, TensorType, Type
from microgen.relay.op import relations
from microgen.relay.pattern import Pattern, is_op, wildcard
from microgen.relay.transform.support import CompositePattern, Match, Support, operator_call
from microgen.tvm.codegens.dnnl.support import OPERATORS

ACTIVATIONS = ("relu", "tanh", "sigmoid", "clip", "swish")
ROOTS = {"conv2d": "nn.conv2d", "dense": "nn.dense"}
LAST = {"relu": "nn.relu", "swish": "multiply"}  # the last operator, if it has another name
_NAME = re.compile(
    rf"dnnl\.({'|'.join(ROOTS)})(_bias)?(_sum)?(?:_({'|'.join(ACTIVATIONS)}))?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Composite:
    """The meaning of a name: the first operator, and the further parts in the order of the fields.
    ``activation`` is one of ``ACTIVATIONS`` or empty."""

    root: str
    bias: bool
    sum: bool
    activation: str


@dataclass(frozen=True, slots=True)
class Added:
    """An addition inside a body, and the operand that is added."""

    call: Call
    value: Expr


@dataclass(frozen=True, slots=True)
class CompositeBody:
    """The parts of a composite function's body, from the beginning: the root's call, the operands
    that are added, and the activation's call."""

    root: Call
    bias: Added | None
    sum: Added | None
    activation: Call | None

    @property
    def operands(self) -> tuple[Expr, ...]:
        """Data, weight, bias, summand, in the order in which the runtime takes them."""
        added = (part.value for part in (self.bias, self.sum) if part is not None)
        return (*self.root.args, *added)


def parse(name: str) -> Composite | None:
    """The composite function that a node's name means; None for any other name."""
    parts = _NAME.fullmatch(name)
    if parts is None:
        return None
    root, bias, summed, activation = parts.groups()
    return Composite(ROOTS[root], bool(bias), bool(summed), activation or "")


def body(name: str, result: Expr, outside: Collection[Expr] = ()) -> CompositeBody:
    """The parts of the body of the function ``name``, or of expressions that will become its body.
    The operands in ``outside`` remain outside of the body. ValueError if the name does not fit."""
    wanted = parse(name)
    if wanted is None:
        raise ValueError(f"is {name}, which is not a pattern of dnnl's")
    inner, activation = result, None
    if wanted.activation:
        activation = _call(result, LAST.get(wanted.activation, wanted.activation))
        inner = _gated(activation) if wanted.activation == "swish" else activation.args[0]
    # add commutes, so the root may be on either side.
    for call, bias, summand in _additions(inner, wanted):
        # An operand of the match cannot be one of its own parts.
        is_inside = not {call, *(part.call for part in (bias, summand) if part)} & set(outside)
        if is_inside and isinstance(call, Call) and call.op == Op(wanted.root):
            return CompositeBody(call, bias, summand, activation)
    raise ValueError(f"is {name} without an {wanted.root} in its place")


def _additions(expr: Expr, wanted: Composite) -> Iterator[tuple[Expr, Added | None, Added | None]]:
    """All ways to split an expression into the root's result, a bias and a summand."""
    for before, summand in _sums(expr, ("add",)) if wanted.sum else [(expr, None)]:
        for call, bias in (
            _sums(before, ("add", "nn.bias_add")) if wanted.bias else [(before, None)]
        ):
            yield call, bias, summand


def _sums(expr: Expr, names: tuple[str, ...]) -> Iterator[tuple[Expr, Added]]:
    """Each way to split an addition into a value and the operand that is added to it."""
    if isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name in names:
        lhs, rhs = expr.args
        yield lhs, Added(expr, rhs)
        if expr.op.name == "add":
            # add commutes, but the bias of nn.bias_add is its second operand.
            yield rhs, Added(expr, lhs)


def _call(expr: Expr, name: str) -> Call:
    if isinstance(expr, Call) and expr.op == Op(name):
        return expr
    raise ValueError(f"has no {name} in its place")


def _gated(product: Call) -> Expr:
    """The value x if an expression is the product of x and sigmoid(x), in either order."""
    lhs, rhs = product.args
    # multiply commutes, too.
    for value, gate in (lhs, rhs), (rhs, lhs):
        if isinstance(gate, Call) and gate.op == Op("sigmoid") and gate.args[0] is value:
            return value
    raise ValueError("has a product that is not of a value and its sigmoid")


def refusal(
    name: str, root: Expr, types: Mapping[Expr, Type], outside: Collection[Expr] = ()
) -> str | None:
    """A sentence that says why ``root`` cannot become the composite function ``name``, whose
    operands are ``outside``; None if it can."""
    try:
        parts = body(name, root, outside)
    except ValueError as error:
        return str(error)
    channel = _channel_axis(parts.root)
    return (
        _operator(parts.root, types)
        or (_bias(parts.bias, channel, types) if parts.bias else None)
        or (_sum(parts.sum, types) if parts.sum else None)
        or (_operator(parts.activation, types) if parts.activation else None)
    )


def _operator(call: Call, types: Mapping[Expr, Type]) -> str | None:
    assert isinstance(call.op, Op)
    return OPERATORS[call.op.name](operator_call(call, types))


def _channel_axis(root: Call) -> int:
    """The axis of channels in the result of a convolution or a dense layer."""
    return str(root.attrs["data_layout"]).index("C") if "data_layout" in root.attrs else 1


def _tensor(expr: Expr, types: Mapping[Expr, Type]) -> TensorType:
    type_ = types[expr]
    assert isinstance(type_, TensorType), "operators of composite functions compute tensors"
    return type_


def _bias(added: Added, channel: int, types: Mapping[Expr, Type]) -> str | None:
    """Refusal unless there is one value per channel, by ``axis`` or by a shape that broadcasts."""
    result, bias = _tensor(added.call, types), _tensor(added.value, types)
    rank = len(result.shape)
    if added.call.op == Op("nn.bias_add"):
        fits = relations.axis_of(added.call.attrs["axis"], rank) == channel
    else:
        wanted = [result.shape[axis] if axis == channel else 1 for axis in range(rank)]
        computed = next(arg for arg in added.call.args if arg is not added.value)
        # Missing axes are the first ones.
        padded = [1] * (rank - len(bias.shape)) + list(bias.shape)
        fits = padded == wanted and _tensor(computed, types) == result
    return None if fits else f"the bias, {bias}, is not one value per channel of {result}"


def _sum(added: Added, types: Mapping[Expr, Type]) -> str | None:
    operands = [_tensor(arg, types) for arg in added.call.args]
    if operands[0] == operands[1]:
        return None
    return f"the operands of the sum, {operands[0]} and {operands[1]}, have two shapes"


# The operators and patterns that dnnl takes. The first pattern that fits is used.


def _names() -> Iterator[str]:
    yield from ("dnnl.dense_bias_sum", "dnnl.conv2d_bias_sum_relu", "dnnl.conv2d_bias_sum")
    for bias in ("_bias", ""):
        for activation in (*(f"_{name}" for name in ACTIVATIONS), *(("",) if bias else ())):
            yield from (f"dnnl.{root}{bias}{activation}" for root in ROOTS)


def _pattern(made: Composite) -> Pattern:
    """The pattern of a composite function. Additions match in both orders; a bias may also be an
    ``nn.bias_add``."""
    pattern: Pattern = is_op(made.root)(wildcard(), wildcard())
    if made.bias:
        bias = wildcard()
        pattern = is_op("add")(pattern, bias) | is_op("nn.bias_add")(pattern, bias)
    if made.sum:
        pattern = is_op("add")(pattern, wildcard())
    if made.activation == "swish":
        return is_op("multiply")(pattern, is_op("sigmoid")(pattern))
    return (
        is_op(LAST.get(made.activation, made.activation))(pattern) if made.activation else pattern
    )


def _composite(name: str) -> CompositePattern:
    made = parse(name)
    assert made is not None, "parse reads the names of this table"

    def check(match: Match) -> str | None:
        return refusal(name, match.root, match.types, match.inputs)

    return CompositePattern(name, _pattern(made), check)


SUPPORT = Support("dnnl", OPERATORS, tuple(map(_composite, _names())))
