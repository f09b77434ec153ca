"""The Relay operators that the generator takes, and the C macro for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from microgen.relay.expr import TensorType, Type
from microgen.relay.transform import OperatorCall, Predicate
from microgen.tvm.codegens.ccompiler.macros import BINARY, CHOICE, UNARY, Form


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator's macro, and by dtype the C text that is the macro's argument."""

    form: Form
    texts: Mapping[str, str]


def _same(form: Form, text: str) -> Operator:
    return Operator(form, {"float32": text, "int32": text})


# Integers are computed modulo 2^32, as in numpy. In a comparison with NaN, or of zeros, the
# right operand is taken, as in TVM and TFLite. If x is -0, 0 - x is 0.
OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {
        "add": _same(BINARY, "+"),
        "subtract": _same(BINARY, "-"),
        "multiply": _same(BINARY, "*"),
        "divide": Operator(BINARY, {"float32": "/"}),
        "maximum": _same(CHOICE, ">"),
        "minimum": _same(CHOICE, "<"),
        "negative": Operator(UNARY, {"float32": "-x", "int32": "(int32_t)(0u - (uint32_t)x)"}),
        "abs": Operator(
            UNARY,
            {
                "float32": "(x > 0.0f) ? x : 0.0f - x",
                "int32": "(x < 0) ? (int32_t)(0u - (uint32_t)x) : x",
            },
        ),
        "nn.relu": Operator(
            UNARY, {"float32": "(x < 0.0f) ? 0.0f : x", "int32": "(x < 0) ? 0 : x"}
        ),
    }
)


def _refusal(operator: Operator, call: OperatorCall) -> str | None:
    result = call.result
    if not isinstance(result, TensorType) or result.dtype not in operator.texts:
        return f"it is {_dtype(result)}, and {call.op} is taken of {' or '.join(operator.texts)}"
    for number, argument in enumerate(call.args):
        if argument != result:
            return f"its argument {number} is {argument}, and its result {result}: no broadcasting"
    return None


def _dtype(found: Type) -> str:
    return found.dtype if isinstance(found, TensorType) else str(found)


PREDICATES: Mapping[str, Predicate] = MappingProxyType(
    {name: partial(_refusal, operator) for name, operator in OPERATORS.items()}
)
