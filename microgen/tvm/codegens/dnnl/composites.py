"""Composite functions: the meaning of their names, and the parts of their bodies.

``dnnl.conv2d_bias_sum_relu`` is a convolution whose result gets a bias, another tensor and a ReLU,
in this order. Source: TVM v0.14, ``python/tvm/relay/op/contrib/dnnl.py``, pattern_table;
``src/runtime/contrib/dnnl/dnnl_json_runtime.cc``, ParseAttrs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from microgen.relay.expr import Call, Expr, Op

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
    """The meaning of a node's name; None if it is not a composite function's."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    root, bias, summed, activation = found.groups()
    return Composite(ROOTS[root], bool(bias), bool(summed), activation or "")


def body(name: str, result: Expr, outside: Collection[Expr] = ()) -> CompositeBody:
    """The parts of the body of the function ``name``, or of expressions that will become one. In
    this case the operands in ``outside`` remain outside. ValueError if the name does not fit."""
    wanted = parse(name)
    if wanted is None:
        raise ValueError(f"is {name}, which is not a pattern of dnnl's")
    inner, activation = result, None
    if wanted.activation:
        activation = _call(result, LAST.get(wanted.activation, wanted.activation))
        inner = _gated(activation) if wanted.activation == "swish" else activation.args[0]
    for call, bias, summand in _additions(inner, wanted):
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
    """The value x of a product of x and sigmoid(x), in either order."""
    lhs, rhs = product.args
    for value, gate in (lhs, rhs), (rhs, lhs):
        if isinstance(gate, Call) and gate.op == Op("sigmoid") and gate.args[0] is value:
            return value
    raise ValueError("has a product that is not of a value and its sigmoid")
