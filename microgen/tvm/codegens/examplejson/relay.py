"""The Relay operators of ExampleJSON, and Relay functions as its subgraphs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from microgen.base.errors import UnsupportedError
from microgen.compiler.codegens.external import ExternalFunction
from microgen.relay.expr import Call, Constant, Expr, Op, TensorType, Tuple, Type, Var
from microgen.relay.transform.support import OperatorCall, operator_call
from microgen.relay.visit import post_order
from microgen.tvm.codegens.examplejson.text import (
    INPUT,
    ITEM_BYTES,
    MARK,
    MAX_DIMS,
    MAX_NUMBER,
    Subgraph,
    TextNode,
)

OPERATORS = {"add": "add", "subtract": "sub", "multiply": "mul"}


def refusal(call: OperatorCall) -> str | None:
    """The reason why a call of one of ``OPERATORS`` has no form in ExampleJSON; None if it has."""
    if any(constant is not None for constant in call.constants):
        return "an operand is constant, and ExampleJSON has no constants"
    for type_ in (*call.args, call.result):
        reason = _type_refusal(type_)
        if reason:
            return reason
    if any(arg != call.result for arg in call.args):
        shown = " and ".join(map(str, call.args))
        return f"it broadcasts {shown}; ExampleJSON's operands have one shape"
    return None


def _type_refusal(type_: Type) -> str | None:
    if not isinstance(type_, TensorType) or type_.dtype != "float32":
        return f"{type_}; ExampleJSON has float32 only"
    if not 1 <= len(type_.shape) <= MAX_DIMS:
        return f"{type_} has {len(type_.shape)} dimensions; ExampleJSON has 1 to {MAX_DIMS} here"
    if min(type_.shape) < 1 or ITEM_BYTES * math.prod(type_.shape) > MAX_NUMBER:
        return f"{type_} has no element, or too many"
    return None


def subgraphs(functions: Sequence[ExternalFunction]) -> list[Subgraph]:
    """A subgraph for each function. Raises UnsupportedError for a feature that ExampleJSON cannot
    express."""
    headers = _headers([function.symbol for function in functions])
    return [_Serializer(f).subgraph(header) for f, header in zip(functions, headers, strict=True)]


def _headers(symbols: Sequence[str]) -> list[str]:
    """The names of functions in the text: their own names if the guide's parser finds them,
    otherwise unused numbers."""
    own = {symbol for symbol in symbols if MARK in symbol}
    numbered = (f"{MARK}{k}" for k in itertools.count())
    # A function may be named subgraph_0 itself.
    left = (name for name in numbered if name not in own)
    return [symbol if symbol in own else next(left) for symbol in symbols]


class _Serializer:
    """Ids count from 0: parameters in order, then calls in the order in which they are computed."""

    def __init__(self, function: ExternalFunction) -> None:
        self._function = function
        self._nodes: dict[Expr, TextNode] = {}

    def subgraph(self, header: str) -> Subgraph:
        relay = self._function.relay
        if relay is None:
            raise self._unsupported("nodes that are not Relay")
        # First, so that inputs have the lowest ids.
        for param in relay.params:
            self._add(param, INPUT, ())
        for expr in post_order(relay.body):
            if isinstance(expr, Call):
                self._add(expr, self._operator(expr), expr.args)
            elif not isinstance(expr, Var) and not (isinstance(expr, Tuple) and expr is relay.body):
                what = type(expr).__name__
                if isinstance(expr, Constant):
                    what = f"constant {expr.type}"
                raise self._unsupported(f"a {what}")
        results = relay.body.fields if isinstance(relay.body, Tuple) else [relay.body]
        outputs = tuple(self._nodes[result].id for result in results)
        return Subgraph(header, self._function.symbol, tuple(self._nodes.values()), outputs)

    def _add(self, expr: Expr, op: str, args: Sequence[Expr]) -> None:
        type_ = self._function.types[expr]
        reason = _type_refusal(type_)
        if reason or not isinstance(type_, TensorType):
            raise self._unsupported(str(reason))
        operands = tuple(self._nodes[arg].id for arg in args)
        self._nodes[expr] = TextNode(op, len(self._nodes), operands, type_.shape)

    def _operator(self, call: Call) -> str:
        name = call.op.name if isinstance(call.op, Op) else "a function"
        if name not in OPERATORS:
            raise self._unsupported(f"{name}; ExampleJSON has {', '.join(OPERATORS)}")
        reason = refusal(operator_call(call, self._function.types))
        if reason:
            raise self._unsupported(f"{name}: {reason}")
        return OPERATORS[name]

    def _unsupported(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            f"{self._function.symbol} has something that ExampleJSON cannot express: {what}",
            where=str(self._function.origin),
            hint="leave it to another codegen",
        )
