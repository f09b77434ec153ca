"""Facts about an external function that both generators need."""

from __future__ import annotations

import math
from collections.abc import Iterator

from microgen.base.errors import UnsupportedError
from microgen.compiler.codegens.external import ExternalFunction
from microgen.relay.expr import Call, Constant, Expr, Function, TensorType, Tuple, Var
from microgen.relay.visit import depth_first, operands


def relay_of(function: ExternalFunction) -> Function:
    """The Relay function. Raises UnsupportedError if there is none."""
    if function.relay is None:
        raise refused(function, "it is not a Relay function")
    return function.relay


def outputs_of(function: ExternalFunction) -> list[Call]:
    """The calls that compute the outputs, in order. Raises UnsupportedError unless each output is
    computed by a call of its own."""
    body = relay_of(function).body
    fields = body.fields if isinstance(body, Tuple) else (body,)
    calls = [field for field in fields if isinstance(field, Call)]
    if len(set(calls)) < len(fields):
        raise refused(function, "it does not compute each output once")
    return calls


def inside(function: ExternalFunction) -> Iterator[Expr]:
    """Calls and constants, operands first, without those inside composite functions. Raises
    UnsupportedError for expressions of other kinds."""
    body = relay_of(function).body
    for expr in depth_first(body, operands):
        match expr:
            case Call() | Constant():
                yield expr
            case Var() | Function():
                pass
            case Tuple() if expr is body:
                pass
            case _:
                raise refused(function, f"it has a {type(expr).__name__}")


def elements_of(function: ExternalFunction, call: Call) -> int:
    """The number of elements of a call's result. Raises UnsupportedError if it is not a tensor."""
    result = function.types[call]
    if not isinstance(result, TensorType):
        raise refused(function, f"it computes {result}")
    return math.prod(result.shape)


def refused(function: ExternalFunction, why: str) -> UnsupportedError:
    """The error for a function that is marked for a generator that cannot compile it."""
    return UnsupportedError(
        f"the vector unit does not compile {function.symbol}: {why}",
        where=str(function.origin),
        hint="leave its codegens out of --codegen",
    )
