"""The outside oracle: it runs one op, as a .tflite file, by LiteRT's reference kernels."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tflite

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from tests.kernels.conformance import within
from tests.support.arrays import assert_same
from tests.support.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

Array = npt.NDArray[Any]

needs_litert = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None,
    reason="the oracle, ai-edge-litert, is not installed (pip install microgen[oracle])",
)

FUSED = {
    Activation.NONE: tflite.ActivationFunctionType.NONE,
    Activation.RELU: tflite.ActivationFunctionType.RELU,
    Activation.RELU6: tflite.ActivationFunctionType.RELU6,
    Activation.RELU_N1_TO_1: tflite.ActivationFunctionType.RELU_N1_TO_1,
}
PADDING = {"SAME": tflite.Padding.SAME, "VALID": tflite.Padding.VALID}


@dataclass(frozen=True)
class Case:
    """One op as a node of ours and as a TFLite operator.

    ``arrays`` are the op's inputs. Those at ``constants`` are in the file, the others are fed.
    ``extra`` are constants that only the TFLite operator has (for example the shape of a RESHAPE).
    ``order`` has the names of the operator's inputs if they are not ``input0``, ``input1``, ...,
    then those of ``extra``.
    """

    op: str
    attrs: Attrs
    types: Sequence[ArrayType]
    arrays: Sequence[Array]
    output_quant: Quant | None
    code: str
    options_type: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    constants: Sequence[int] = ()
    extra: Sequence[TensorSpec] = ()
    order: Sequence[str] = ()
    version: int = 1
    output_dtype: DType = DType.INT8


def activation_type(shape: tuple[int, ...], scale: float, zero_point: int) -> ArrayType:
    """An int8 tensor's type. The scale is rounded to float32, because a file's is."""
    return ArrayType(shape, DType.INT8, Quant((float(np.float32(scale)),), (zero_point,)))


def random_activation(rng: np.random.Generator, shape: tuple[int, ...]) -> ArrayType:
    """An int8 tensor's type with a usual scale and any zero point, often the least or greatest."""
    zero_point = int(rng.choice([-128, 127, 0, int(rng.integers(-128, 128))]))
    return activation_type(shape, 2.0 ** rng.uniform(-9, 1), zero_point)


def random_values(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Random int8 values; in some tensors most are the extremes."""
    if rng.random() < 0.3:
        return rng.choice(np.array([-128, 127], np.int8), shape)
    return rng.integers(-128, 128, shape).astype(np.int8)


def float_type(shape: tuple[int, ...]) -> ArrayType:
    """A float32 tensor's type."""
    return ArrayType(shape, DType.FLOAT32)


def random_floats(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Normally distributed float32 values with a random standard deviation; some are 0."""
    values = rng.normal(0, 10.0 ** rng.uniform(-3, 3), shape)
    return np.where(rng.random(shape) < 0.05, 0.0, values).astype(np.float32)


def output_type(case: Case) -> ArrayType:
    """The type of the case's output, by ``infer``."""
    (shape,) = registry()[case.op].infer(case.attrs, case.types)
    return ArrayType(shape, case.output_dtype, case.output_quant)


def by_reference(case: Case) -> Array:
    """The output of our reference. The case must pass ``check``."""
    op = registry()[case.op]
    output = output_type(case)
    assert op.check(case.attrs, case.types, (output,)) is None
    (result,) = op.reference(case.attrs, Operands(tuple(case.arrays), tuple(case.types), (output,)))
    assert result.dtype == output.dtype.numpy
    assert result.shape == output.shape
    return result


def by_litert(case: Case) -> Array:
    """The output of LiteRT's reference kernel."""
    fed = [i for i in range(len(case.arrays)) if i not in case.constants]
    interpreter = interpreter_of(_model(case, fed))
    for details, i in zip(interpreter.get_input_details(), fed, strict=True):
        interpreter.set_tensor(details["index"], case.arrays[i])
    interpreter.invoke()
    result: Array = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return result


def assert_equal(case: Case) -> None:
    """Checks that both outputs have the same shape and bytes. Floats may differ by the op's
    bound."""
    ours, theirs = by_reference(case), by_litert(case)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), repr(case)
    if ours.dtype.kind == "f":
        wrong = np.argwhere(beyond(case, theirs))
        assert not len(wrong), f"{case!r}: {ours} {theirs}, first at {wrong[0]}"
    else:
        assert_same(ours, theirs, case)


def beyond(case: Case, theirs: Array) -> Array:
    """Where LiteRT's output differs from ours by more than the op's bound."""
    operands = Operands(tuple(case.arrays), tuple(case.types), (output_type(case),))
    return within.beyond_litert(case.op, case.attrs, operands, (theirs,))


def _model(case: Case, fed: Sequence[int]) -> bytes:
    tensors = [
        _spec(f"input{i}", kind, None if i in fed else array)
        for i, (kind, array) in enumerate(zip(case.types, case.arrays, strict=True))
    ]
    tensors += case.extra
    operator = OperatorSpec(
        case.code,
        case.order or [tensor.name for tensor in tensors],
        ["output"],
        case.options_type,
        case.options,
        case.version,
    )
    tensors.append(_spec("output", output_type(case), None))
    return build_model(tensors, [operator], [f"input{i}" for i in fed], ["output"])


def _spec(name: str, kind: ArrayType, data: Array | None) -> TensorSpec:
    if kind.quant is None:
        return TensorSpec(name, kind.shape, kind.dtype.value, data)
    scale, zero_point, axis = kind.quant.scale, kind.quant.zero_point, kind.quant.axis or 0
    return TensorSpec(name, kind.shape, kind.dtype.value, data, scale, zero_point, axis)


def interpreter_of(model: bytes) -> Any:
    """A LiteRT interpreter with reference kernels, ready for its inputs."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_content=model,
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    return interpreter


def random_activation_function(rng: np.random.Generator) -> Activation:
    """NONE for half of the cases, otherwise any of them."""
    choices = [Activation.NONE] * 3 + [Activation.RELU, Activation.RELU6, Activation.RELU_N1_TO_1]
    return choices[int(rng.integers(len(choices)))]


@dataclass(frozen=True)
class Weighted:
    """The inputs of a convolution or dense layer, and a quantization that suits its sums."""

    types: tuple[ArrayType, ...]
    arrays: tuple[Array, ...]
    output_quant: Quant


def random_weighted(
    rng: np.random.Generator,
    data_shape: tuple[int, ...],
    weight_shape: tuple[int, ...],
    axis: int,
    products: int,
    has_bias: bool,
) -> Weighted:
    """Random data, per-tensor or per-channel weights, and a bias.

    The output's scale is usual for that many products, or up to 2**12 times off.
    """
    channels = weight_shape[axis]
    data = random_activation(rng, data_shape)
    per_channel = channels > 1 and rng.random() < 0.6
    spread = 2.0 ** rng.uniform(-12, 2, channels if per_channel else 1)
    scales = tuple(float(np.float32(s)) for s in spread)
    quant = Quant(scales, (0,) * len(scales), axis if per_channel else None)
    weight = ArrayType(weight_shape, DType.INT8, quant)
    types, arrays = [data, weight], [random_values(rng, t.shape) for t in (data, weight)]
    if has_bias:
        bias_scales = tuple(float(np.float32(data.scale) * np.float32(s)) for s in scales)
        bias_quant = Quant(bias_scales, quant.zero_point, 0 if per_channel else None)
        types.append(ArrayType((channels,), DType.INT32, bias_quant))
        arrays.append(rng.integers(-(2**12) * products, 2**12 * products, channels))
        arrays[-1] = arrays[-1].astype(np.int32)
    off = 2.0 ** (rng.uniform(-12, 12) if rng.random() < 0.3 else 0)
    scale_out = data.scale * max(scales) * 64 * products**0.5 * off
    output = activation_type((), scale_out, int(rng.integers(-128, 128)))
    assert output.quant is not None
    return Weighted(tuple(types), tuple(arrays), output.quant)


def int32_constant(name: str, values: Array) -> TensorSpec:
    """A constant without quantization, for ``Case.extra``."""
    return TensorSpec(name, values.shape, "int32", values)
