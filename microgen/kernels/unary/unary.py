"""Kernels of one tensor that work value by value: ``crt/include/microgen/unary/unary.h``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from microgen.graph.arithmetic.int8 import clip_multiplier
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node
from microgen.graph.ops.unary import activations, functions, roots, sigmoid
from microgen.graph.ops.unary.activations import ClipAttrs, LeakyReluAttrs, leaky_relu_multipliers
from microgen.graph.ops.unary.functions import abs_multiplier
from microgen.graph.ops.unary.real_function import FORMULAS, RealFunctionAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidParameters
from microgen.kernels import base
from microgen.kernels.base import Params

_SUFFIXES = {DType.INT8: "s8", DType.INT16: "s16", DType.FLOAT32: "f32"}


def size(node: Node, graph: Graph) -> base.Fields:
    """The number of elements. It is the first field of each of these kernels, and often the only
    one."""
    return (("size", graph.types[node.outputs[0]].size),)


def scaled(parameters: Callable[[ArrayType], SigmoidParameters]) -> Params:
    """The fields of int16 kernels that look their scaled data up in the table of sigmoid."""

    def params(node: Node, graph: Graph) -> base.Fields:
        p = parameters(graph.types[node.inputs[0]])
        return (*size(node, graph), ("multiplier", p.multiplier), ("shift", p.shift))

    return params


def kernel(name: str, dtype: DType, params: Params = size, ulps: int = 0) -> base.Implementation:
    """The kernel ``mg_<name>_<dtype>`` with data and output of that dtype.

    ``ulps``, for a float kernel, are the ulps that ``float_math.h`` states, plus half for the
    reference's own rounding; results differ by whole units.
    """
    return base.Implementation(
        symbol=f"mg_{name}_{_SUFFIXES[dtype]}",
        refusal=base.only(dtype),
        params=params,
        in_place=base.as_is,
        ulps=ulps,
    )


def _abs_params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (*size(node, graph), *base.scale_fields(abs_multiplier(data, output)))


def _clip_int8(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, ClipAttrs)
    (data,), output = base.types(node, graph)
    return (
        ("size", output.size),
        *base.offsets(data, output),
        *base.scale_fields(clip_multiplier(data, output)),  # 0: the kernel then only clamps
        *base.activation_fields(attrs.activation, output),
    )


def _clip_int16(node: Node, graph: Graph) -> base.Fields:
    """The fields of int8 kernels, but without zero points."""
    # int16 values have the zero point 0.
    return tuple(field for field in _clip_int8(node, graph) if not field[0].endswith("_offset"))


def _clip_float(node: Node, graph: Graph) -> base.Fields:
    output = graph.types[node.outputs[0]]
    limits = base.activation_fields(base.attrs_of(node, ClipAttrs).activation, output)
    return (*size(node, graph), *limits)


def _leaky_relu_int16(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    scale, alpha = leaky_relu_multipliers(base.attrs_of(node, LeakyReluAttrs), data, output)
    return (*size(node, graph), *base.scale_fields(scale), *base.scale_fields(alpha, "alpha"))


def _leaky_relu_float(node: Node, graph: Graph) -> base.Fields:
    return (*size(node, graph), ("alpha", base.attrs_of(node, LeakyReluAttrs).alpha))


def _sqrt_params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        *size(node, graph),
        *_significand("input", data.scale),
        *_significand("output", output.scale),
    )


def _significand(name: str, scale: float) -> base.Fields:
    """A float32 number as 24 bits and a power of two."""
    fraction, exponent = math.frexp(float(np.float32(scale)))
    # The fraction is below 1, and a float32 has 24 significant bits, so this is an integer.
    significand = int(fraction * 2**24)
    return ((f"{name}_significand", significand), (f"{name}_exponent", exponent - 24))


def _real_function_numbers(node: Node, graph: Graph) -> base.Fields:
    names = ("alpha", "beta", "gamma")
    numbers = zip(names, map(float, base.attrs_of(node, RealFunctionAttrs).numbers), strict=True)
    return (*size(node, graph), *numbers)


def _real_function_kernel(function: str) -> base.Implementation:
    formula = FORMULAS[function]
    found = kernel(
        function, DType.FLOAT32, _real_function_numbers, ulps=formula.ulps + formula.units
    )

    def refusal(node: Node, _graph: Graph) -> str | None:
        assert isinstance(node.attrs, RealFunctionAttrs)
        if node.attrs.function == function:
            return None
        why = f"it is {node.attrs.function}, the kernel computes {function}"
        return base.Mismatch(base.Trait.ARITHMETIC, why)

    variant = (f"MG_FUNCTION_{function.upper()}",)
    return replace(found, refusal=refusal, family="real_function", variant=variant)


BY_OP = {
    "abs": (
        kernel("abs", DType.INT16, _abs_params),
        kernel("abs", DType.FLOAT32),
    ),
    "ceil": (kernel("ceil", DType.FLOAT32),),
    "clip": (
        kernel("clip", DType.INT8, _clip_int8),
        kernel("clip", DType.INT16, _clip_int16),
        kernel("clip", DType.FLOAT32, _clip_float),
    ),
    "cos": (kernel("cos", DType.FLOAT32, ulps=functions.WAVE_ULPS),),
    "nn.elu": (kernel("elu", DType.FLOAT32, ulps=activations.ELU_ULPS),),
    "exp": (kernel("exp", DType.FLOAT32, ulps=functions.EXP_ULPS),),
    "floor": (kernel("floor", DType.FLOAT32),),
    "nn.hard_swish": (kernel("hard_swish", DType.FLOAT32),),
    "nn.leaky_relu": (
        kernel("leaky_relu", DType.INT16, _leaky_relu_int16),
        kernel("leaky_relu", DType.FLOAT32, _leaky_relu_float),
    ),
    "log": (kernel("log", DType.FLOAT32, ulps=functions.LOG_ULPS),),
    "negative": (
        kernel("negative", DType.INT16),
        kernel("negative", DType.FLOAT32),
    ),
    "round": (kernel("round", DType.FLOAT32),),
    "rsqrt": (kernel("rsqrt", DType.FLOAT32, ulps=roots.RSQRT_ULPS),),
    "sigmoid": (
        kernel("sigmoid", DType.INT16, scaled(sigmoid.sigmoid_parameters)),
        kernel("sigmoid", DType.FLOAT32, ulps=sigmoid.SIGMOID_ULPS),
    ),
    "sin": (kernel("sin", DType.FLOAT32, ulps=functions.WAVE_ULPS),),
    "sqrt": (
        kernel("sqrt", DType.INT16, _sqrt_params),
        kernel("sqrt", DType.FLOAT32),
    ),
    "tanh": (
        kernel("tanh", DType.INT16, scaled(sigmoid.tanh_parameters)),
        kernel("tanh", DType.FLOAT32, ulps=sigmoid.TANH_ULPS),
    ),
    "real_function": tuple(_real_function_kernel(function) for function in FORMULAS),
}
