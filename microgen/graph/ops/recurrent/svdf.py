"""nn.svdf: a fully connected layer over the latest inputs, factored in features and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import float_range, quantize_multiplier, scale_of_products
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import Ball, Products, total
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shape, Shapes, writing
from microgen.graph.ops.constraints import (
    accumulator_constraint,
    activation_constraint,
    activations_constraint,
    dtype_constraint,
    first_of,
    refused,
    weight_constraint,
)
from microgen.graph.ops.cost import by_rows
from microgen.graph.ops.elementwise.broadcast import scale

STATE = 3  # position of the variable


@dataclass(frozen=True, slots=True)
class SvdfAttrs(Attrs):
    """Inputs: data [batch, features]; feature weights [filters, features]; time weights
    [filters, memory]; the state [batch, memory * filters], a variable, which has for each
    filter its latest ``memory`` results, oldest first; optionally a bias [units].

    Each unit sums ``rank`` neighbouring filters: the output is [batch, filters / rank]. Either
    everything is float32; or data, feature weights and output are int8, time weights and state are
    both int16 or, in TFLite Micro only, both int8, and the bias is int32. With integers the
    activation in the file is RELU, but values are only clamped to the int8 range.
    """

    rank: int
    activation: Activation


@dataclass(frozen=True, slots=True)
class SvdfScales:
    """(multiplier, shift) from sums of features to the state, and from sums over time to the
    output."""

    feature: tuple[int, int]
    time: tuple[int, int]


def infer(attrs: SvdfAttrs, inputs: Types) -> Shapes:
    """The shape [batch, filters / rank]."""
    if len(inputs) not in (4, 5):
        raise ValueError(f"nn.svdf has {len(inputs)} inputs; 4, or 5 with a bias, are expected")
    data, feature, time, state, *bias = inputs
    if any(len(t.shape) != 2 for t in (data, feature, time)):
        raise ValueError(f"{data}, {feature} and {time} must have 2 dimensions each")
    batch, features = data.shape
    filters, memory = time.shape
    if feature.shape != (filters, features):
        raise ValueError(
            f"the feature weights are {feature}; [{filters}, {features}], the filters of the "
            "time weights by the input's features, is expected"
        )
    if state.shape != (batch, memory * filters):
        raise ValueError(f"the state is {state}; [{batch}, {memory * filters}] is expected")
    if attrs.rank < 1 or filters % attrs.rank:
        raise ValueError(
            f"the rank is {attrs.rank}; a divisor of the {filters} filters is expected"
        )
    units = filters // attrs.rank
    if bias and bias[0].shape != (units,):
        raise ValueError(f"the bias is {bias[0]}; one value per unit, {units}, is expected")
    return ((batch, units),)


def check(attrs: SvdfAttrs, inputs: Types, outputs: Types) -> str | None:
    """All float32, or integers as ``SvdfAttrs`` says, with scales that the fixed point holds."""
    accepted = (DType.INT8, DType.FLOAT32)
    if sentence := activations_constraint(inputs[0], outputs[0], accepted):
        return sentence
    if floats.is_float(outputs[0]):
        return _all_float(inputs)
    return _integer_types(inputs) or _integer_scales(attrs, inputs, outputs[0])


def _all_float(inputs: Types) -> str | None:
    for role, tensor in zip(_ROLES, inputs[1:], strict=False):
        if tensor.dtype is not DType.FLOAT32:
            return (
                f"the {role} is {tensor} with float32 data, which quantizes while it runs "
                "(hybrid); all must be float32, or all integers"
            )
    return None


_ROLES = ("feature weight", "time weight", "state", "bias")


def _integer_types(inputs: Types) -> str | None:
    _, feature, time, state, *bias = inputs
    if sentence := (
        weight_constraint(feature, axis=0)
        or activation_constraint("time weight", time, (DType.INT16, DType.INT8))
        or activation_constraint("state", state, (time.dtype,))
    ):
        return sentence
    if feature.quant is None or not feature.quant.is_per_tensor:
        return f"the feature weight {feature} has a scale per filter; one for all is expected"
    if time.zero_point:
        return f"the zero point of the time weight is {time.zero_point}; it must be 0"
    return first_of(dtype_constraint("bias", tensor, (DType.INT32,)) for tensor in bias)


def _integer_scales(attrs: SvdfAttrs, inputs: Types, output: ArrayType) -> str | None:
    """The scales. Activations other than RELU are refused, as LiteRT refuses them."""
    if attrs.activation is not Activation.RELU:
        return f"the activation is {attrs.activation.value}; with int8 data it must be relu"
    if sentence := refused(scales, inputs, output):
        return sentence
    data, feature, _, state, *_ = inputs
    of_sums = np.array([scale_of_products(data, feature, state)])
    return accumulator_constraint(data, feature.shape[1], of_sums)


def scales(inputs: Types, output: ArrayType) -> SvdfScales:
    """The scales. Source: TFLite svdf.cc, Prepare. Everything is in float32, as measured with
    ai-edge-litert 2.3.0. ValueError if a scale is 2**30 or more."""
    data, feature, time, state = inputs[:4]
    return SvdfScales(
        quantize_multiplier(scale_of_products(data, feature, state)),
        quantize_multiplier(scale_of_products(state, time, output)),
    )


def reference(attrs: SvdfAttrs, operands: Operands) -> Arrays:
    """The output and the new state. Source: TFLite reference/svdf.h, EvalFloatSVDF and
    EvalIntegerSVDF; with an int8 state TFLite Micro's svdf_common.cc, EvalIntegerSvdfReference.
    Sums over time are taken modulo 2**32."""
    compute = _float if floats.is_float(operands.output_types[0]) else _integer
    return compute(attrs, operands)


def _float(attrs: SvdfAttrs, operands: Operands) -> Arrays:
    data, feature, time, state, *bias = (a.astype(np.float64) for a in operands.inputs)
    # The state is float32 between runs, so the latest value is rounded before it is read.
    memories = _shifted(state, data @ feature.T, time.shape).astype(np.float32)
    sums = np.einsum("bfm,fm->bf", memories.astype(np.float64), time)
    total = _reduced(attrs, sums) + (bias[0] if bias else 0.0)
    return (*floats.activated(total, attrs.activation), memories.reshape(state.shape))


def _balls(attrs: SvdfAttrs, inexact: Inexact) -> tuple[Ball, ...]:
    """The formula of ``_float``, step by step, for numbers with errors."""
    data, feature, time, state, *bias = bounds.inputs(inexact)
    filters, memory = time.value.shape
    latest = total([Products(data, feature, "bi,fi->bf", feature.value.shape[1])]).stored()
    memories = Ball.joined(
        (state, latest), lambda both: _shifted(both[0], both[1], time.value.shape)
    )
    units = (-1, filters // attrs.rank, attrs.rank, memory)
    seen, weight = (ball.moved(lambda x: x.reshape(units)) for ball in (memories, time))
    products = Products(seen, weight[0], "burm,urm->bu", attrs.rank * memory)
    kept = memories.moved(lambda x: x.reshape(state.value.shape))
    return total([products], bias).clipped(*float_range(attrs.activation)), kept


def _integer(attrs: SvdfAttrs, operands: Operands) -> Arrays:
    data, feature, time, state, *bias = (a.astype(np.int64) for a in operands.inputs)
    types, output = operands.input_types, operands.output_types[0]
    factors, kind = scales(types, output), types[STATE]
    limits = np.iinfo(kind.dtype.numpy)
    sums = (data - types[0].zero_point) @ feature.T
    latest = np.clip(scale(sums, *factors.feature), limits.min, limits.max)
    # TFLite Micro adds the zero point after it has saturated, so that an int8 state wraps around.
    kept = (latest + kind.zero_point).astype(limits.dtype).astype(np.int64)
    memories = _shifted(state, kept, time.shape)
    sums = np.einsum("bfm,fm->bf", memories - kind.zero_point, time)
    total = _reduced(attrs, sums) + (bias[0] if bias else 0)
    # The cast wraps: sums over time are modulo 2**32.
    scaled = scale(total.astype(np.int32), *factors.time)
    stored = np.clip((scaled + output.zero_point).astype(np.int32), -128, 127)
    return stored.astype(np.int8), memories.reshape(state.shape).astype(limits.dtype)


def _shifted(state: Array, latest: Array, shape: Shape) -> Array:
    """[batch, filters, memory]: the oldest value of each memory dropped, the latest appended."""
    filters, memory = shape
    kept = state.reshape(-1, filters, memory)[:, :, 1:]
    return np.concatenate([kept, latest[:, :, np.newaxis]], axis=2)


def _reduced(attrs: SvdfAttrs, sums: Array) -> Array:
    """Sums of ``rank`` neighbours: [batch, filters] -> [batch, units]."""
    batch, filters = sums.shape
    return np.asarray(sums.reshape(batch, filters // attrs.rank, attrs.rank).sum(axis=2))


OP = OpDefinition(
    "nn.svdf",
    SvdfAttrs,
    infer,
    check,
    reference,
    writes=writing(STATE),
    cost=by_rows,
    bound=bounds.balls(_balls),
)
