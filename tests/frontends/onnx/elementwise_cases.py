"""Nodes of ONNX's elementwise operators, with the values of their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.constraints import INTEGERS
from tests.frontends.onnx.one_node import OneNode
from tests.kernels.conformance.plain_integers import values

NEWEST = 28
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 3.0, -4.0, 20.0]
_RNG = np.random.default_rng(0)
FLOATS = np.concatenate([np.array(SPECIAL), _RNG.normal(0, 2, 22)]).astype(np.float32)
_PAIR = (FLOATS.reshape(4, 1, 9), FLOATS[::-1].reshape(4, 9)[:1])
UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Elu"),
    *("Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "IsInf", "IsNaN", "LeakyRelu"),
    *("Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign"),
    *("Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu"),
    *("Celu", "Identity"),
)
_NUMBERED: dict[str, dict[str, Any]] = {
    "Elu": {"alpha": 0.5},
    "Celu": {"alpha": 2.0},
    "Selu": {"alpha": 1.5, "gamma": 2.0},
    "Gelu": {"approximate": "tanh"},
    "HardSigmoid": {"alpha": 0.5, "beta": 0.25},
    "LeakyRelu": {"alpha": 0.125},
    "Shrink": {"lambd": 1.0, "bias": 0.5},
    "Swish": {"alpha": 1.5},
    "ThresholdedRelu": {"alpha": 2.0},
    "IsInf": {"detect_negative": 0},
}
ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Max", "Min")
COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
_BOOLS = (np.array([[True], [False]]), np.array([True, False, True]))


def node(op: str, *inputs: Array | None, opset: int = NEWEST, **attrs: Any) -> OneNode:
    """A node whose inputs are all the model's, except for scalars."""
    n_data = sum(1 for each in inputs if each is not None and each.ndim)
    return OneNode(op, inputs, attrs, n_data=n_data, opset=opset)


def _number(value: float, dtype: DType = DType.FLOAT32) -> Array:
    return np.array(value, dtype.numpy)


def _floats() -> Iterator[OneNode]:
    yield from (node(op, FLOATS) for op in UNARY)
    yield from (node(op, FLOATS, **attrs) for op, attrs in _NUMBERED.items())
    yield node("Shrink", FLOATS, lambd=-1.0, bias=0.25)  # both of its conditions may hold
    yield node("IsInf", FLOATS, detect_positive=0)
    yield node("IsInf", FLOATS, detect_positive=0, detect_negative=0)
    yield from (node(op, *_PAIR) for op in (*ARITHMETIC, *COMPARISONS))
    yield node("Mod", *_PAIR, fmod=1)
    yield node("PRelu", *_PAIR)
    yield node("Where", FLOATS.reshape(4, 1, 9) > 0, *_PAIR)
    yield from (node(op, *_PAIR, FLOATS[:9]) for op in ("Sum", "Mean", "Max"))
    yield node("Pow", np.abs(_PAIR[0]), _PAIR[1])
    yield from (node("Pow", FLOATS, _number(power)) for power in (1, 2, 3, -2, 0.25))
    for low, high in ((-1, 1), (0, 6), (0, None), (None, 2), (-0.5, 2.5), (3, -3)):
        ends = (None if end is None else _number(end) for end in (low, high))
        yield node("Clip", FLOATS, *ends)


def _integers(dtype: DType) -> Iterator[OneNode]:
    rng = np.random.default_rng(INTEGERS.index(dtype))
    lhs, rhs = values(rng, dtype, (3, 1, 4)), values(rng, dtype, (2, 4))
    divisor = np.where(rhs == 0, 1, np.where(rhs == -1, 3, rhs)).astype(dtype.numpy)
    others = (*(op for op in ARITHMETIC if op != "Div"), *COMPARISONS, *BITS)
    yield from (node(op, lhs, rhs) for op in others)
    yield from (node("Mod", lhs, divisor, fmod=fmod) for fmod in (0, 1))
    yield node("Div", np.abs(lhs // 2), divisor)  # numpy rounds negative quotients down
    shifts = rng.integers(0, 9, (2, 4)).astype(dtype.numpy)
    yield from (node("BitShift", lhs, shifts, direction=way) for way in ("LEFT", "RIGHT"))
    yield from (node(op, lhs) for op in ("Abs", "Sign", "BitwiseNot", "Identity"))
    yield node("Clip", lhs, _number(1, dtype), _number(5, dtype))
    yield node("Where", lhs > 2, lhs, rhs)
    if dtype.numpy.kind == "i":
        yield from (node(op, lhs) for op in ("Neg", "Relu"))


def _powers() -> Iterator[OneNode]:
    whole = np.array([-3, -1, 0, 1, 2, 7])
    for base, exponent in ((DType.INT32, DType.INT64), (DType.INT64, DType.INT32)):
        yield node("Pow", whole.astype(base.numpy), np.array([3], exponent.numpy))
    yield node("Pow", whole.astype(np.int32), np.array([2.0], np.float32))
    for kind in (np.int32, np.uint64, np.int64):
        yield node("Pow", FLOATS[5:14], np.array([3], kind))


def _casts() -> Iterator[OneNode]:
    """From every dtype to every other. Floats are in the range of the integers."""
    import onnx

    dtypes = (*INTEGERS, DType.FLOAT32, DType.BOOL)
    for source in dtypes:
        numbers = np.array([0, 1, 2, 3, 100, 127])
        if source.numpy.kind in "iu":
            numbers = np.append(numbers, [np.iinfo(source.numpy).max // 3])
        array = numbers.astype(source.numpy) + (0.5 if source is DType.FLOAT32 else 0)
        data = array.astype(source.numpy)
        for target in dtypes:
            code = onnx.helper.np_dtype_to_tensor_dtype(target.numpy)
            yield node("Cast", data, to=code)
    yield node("CastLike", np.abs(FLOATS[5:12]), np.zeros(1, np.uint16))
    bits = np.array([0, 1, 2**31, 0x40490FDB, 0xBF800000], np.uint32)
    yield node("BitCast", bits, to=onnx.TensorProto.FLOAT)
    yield node("BitCast", bits, to=onnx.TensorProto.INT32)


def _bools() -> Iterator[OneNode]:
    yield from (node(op, *_BOOLS) for op in ("And", "Or", "Xor", "Equal"))
    yield node("Not", _BOOLS[1])
    yield node("Where", _BOOLS[0], *_BOOLS[::-1])


CASES = (*_floats(), *_bools(), *_powers(), *(n for d in INTEGERS for n in _integers(d)))
CASTS = tuple(_casts())
OLD = (
    node("Clip", FLOATS, opset=7, min=-1.0, max=2.0),
    node("Clip", FLOATS, opset=10, min=0.0),
    node("Clip", FLOATS, _number(-1), None, opset=11),
    node("Clip", FLOATS, _number(-1), _number(0.5), opset=12),
    *(node(op, *_PAIR, opset=7) for op in ("Add", "Sub", "Mul", "Div", "Pow", "PRelu")),
    *(node(op, *_PAIR, opset=8) for op in ("Max", "Min", "Sum", "Mean")),
    *(node(op, *_PAIR, opset=9) for op in ("Greater", "Less")),
    node("Dropout", FLOATS, opset=7, ratio=0.25),
    node("Dropout", FLOATS, opset=10),
    node("Dropout", FLOATS, _number(0.5), opset=13),
    *(node(op, FLOATS, opset=9) for op in ("Abs", "Acosh", "Erf", "Sign", "Relu", "Shrink")),
    node("Cast", FLOATS[5:], opset=9, to=7),
    node("IsInf", FLOATS, opset=10),
    node("Round", FLOATS, opset=11),
    node("Celu", FLOATS, opset=12, alpha=0.5),
)
