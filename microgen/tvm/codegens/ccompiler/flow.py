"""An external function as a list of operator calls on named values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from microgen.base.errors import UnsupportedError
from microgen.compiler.codegens.external import ExternalFunction
from microgen.graph.ir.graph import Array
from microgen.relay.expr import (
    Call,
    Constant,
    Expr,
    Function,
    Let,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
)
from microgen.relay.transform.support import operator_call
from microgen.relay.visit import aliases, children, post_order
from microgen.tvm.codegens.ccompiler.operators import PREDICATES


@dataclass(frozen=True, slots=True)
class OperatorStep:
    """A call of an operator. ``number`` is counted from the function's result. ``type`` is the
    type of its result and of its arguments."""

    number: int
    op: str
    arguments: tuple[str, ...]
    type: TensorType

    @property
    def value(self) -> str:
        """The name of the step's result."""
        return f"op{self.number}"

    @property
    def nbytes(self) -> int:
        """Bytes of the result, whose elements are float32 or int32."""
        return 4 * math.prod(self.type.shape)


@dataclass(frozen=True, slots=True)
class Flow:
    """``steps`` in the order of execution. ``inputs`` and ``constants`` are the values that exist
    before the first step. ``results`` are the values that the function returns, with their sizes.
    ``read`` are all values that a step reads or that are returned."""

    inputs: tuple[str, ...]
    constants: Mapping[str, Array]
    steps: tuple[OperatorStep, ...]
    results: tuple[str, ...]
    result_bytes: tuple[int, ...]
    read: frozenset[str]


# The value of an expression: a value's name, or a tuple of values.
_Value = str | tuple["_Value", ...]


def flow_of(function: ExternalFunction) -> Flow:
    """The flow of a Relay function. Raises UnsupportedError if the function is not Relay, or has a
    feature that the generator does not support."""
    relay = function.relay
    if relay is None:
        raise UnsupportedError(
            f"ccompiler compiles only Relay, which {function.symbol} is not",
            where=str(function.origin),
            hint="give the model as .relay, or leave ccompiler out of --codegen",
        )
    # TVM numbers calls from the result, but they are executed operands first.
    state = _Reading(function, _numbers(relay.body))
    state.read(relay)
    results = _flat(state.values[relay.body])
    steps, read = _needed(state.steps, results)
    constants = {name: array for name, array in state.constants.items() if name in read}
    inputs = tuple(f"in{i}" for i in range(len(relay.params)))
    sizes = tuple(tensor.type.nbytes for tensor in function.outputs)
    return Flow(inputs, constants, steps, results, sizes, read)


def _numbers(root: Expr) -> dict[Expr, int]:
    """The calls, numbered in the order in which a walk from the result meets them."""
    met: dict[Expr, None] = {}
    stack = [root]
    while stack:
        expr = stack.pop()
        if expr not in met:
            met[expr] = None
            stack.extend(reversed(children(expr)))
    calls = [expr for expr in met if isinstance(expr, Call)]
    return {call: number for number, call in enumerate(calls)}


def _flat(value: _Value) -> tuple[str, ...]:
    """The names in a value, which may be a nested tuple, from left to right."""
    # Not deeper than ``infer_type`` allows tuples to be.
    return (value,) if isinstance(value, str) else tuple(n for part in value for n in _flat(part))


def _needed(
    steps: Sequence[OperatorStep], results: tuple[str, ...]
) -> tuple[tuple[OperatorStep, ...], frozenset[str]]:
    """The steps on which the results depend, and the values that are read."""
    read = set(results)
    needed: list[OperatorStep] = []
    # Backwards, because readers come after the steps that they need.
    for step in reversed(steps):
        if step.value in read:
            needed.append(step)
            read.update(step.arguments)
    return tuple(reversed(needed)), frozenset(read)


@dataclass
class _Reading:
    """The values of the expressions that were visited, operands first."""

    function: ExternalFunction
    numbers: Mapping[Expr, int]
    values: dict[Expr, _Value] = field(default_factory=dict)
    alias: dict[Expr, Expr] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)
    steps: list[OperatorStep] = field(default_factory=list)

    def read(self, relay: Function) -> None:
        """Find the values of the body and of all its subexpressions."""
        for i, param in enumerate(relay.params):
            if not isinstance(self._type(param), TensorType):
                raise self._unsupported("a parameter that is not a tensor")
            self.values[param] = f"in{i}"
        # post_order enters functions, so a function is refused before its body is read as the
        # caller's.
        order = list(post_order(relay.body))
        if any(isinstance(expr, Function) for expr in order):
            raise self._unsupported("a function inside")
        self.alias = aliases(relay.body)
        for expr in order:
            if expr not in self.values:
                self.values[expr] = self._value(expr)

    def _value(self, expr: Expr) -> _Value:
        match expr:
            case Var() | Let():
                return self.values[self.alias[expr]]
            case Tuple():
                return tuple(self.values[part] for part in expr.fields)
            case TupleGetItem():
                return self.values[expr.tuple_value][expr.index]
            case Constant():
                return self._constant(expr)
            case Call(op=Op(name)):
                return self._called(expr, name)
        raise self._unsupported(f"a {type(expr).__name__.lower()} that is not an operator's call")

    def _constant(self, constant: Constant) -> str:
        name = f"const_{len(self.constants)}"
        self.constants[name] = constant.data
        return name

    def _called(self, call: Call, op: str) -> str:
        predicate = PREDICATES.get(op)
        # Another partitioner may have made the function, so its operators are checked again.
        if predicate is None:
            raise self._unsupported(f"the operator {op}")
        seen = operator_call(call, self.function.types)
        why = predicate(seen)
        if why:
            raise self._unsupported(f"{op}: {why}")
        result = seen.result
        assert isinstance(result, TensorType), "the predicate has checked it"
        arguments = tuple(name for a in call.args for name in _flat(self.values[a]))
        self.steps.append(OperatorStep(self.numbers[call], op, arguments, result))
        return self.steps[-1].value

    def _type(self, expr: Expr) -> Type:
        return expr.type if isinstance(expr, Constant) else self.function.types[expr]

    def _unsupported(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            f"ccompiler does not take {what}, in {self.function.symbol}",
            where=str(self.function.origin),
            hint="leave it out of the functions whose Compiler is ccompiler",
        )
