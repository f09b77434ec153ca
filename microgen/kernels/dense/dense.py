"""Kernels for nn.dense."""

from __future__ import annotations

import dataclasses
import functools

from microgen.graph.arithmetic.int8 import conv_scales
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.kernels import base, weights
from microgen.kernels.constant import Tables
from microgen.kernels.requantization import weighted
from microgen.kernels.requantization.sums import largest_sums
from microgen.kernels.requantization.weighted import (
    FLOAT,
    FLOAT_FPU,
    FLOAT_MVE,
    NEAREST,
    SUMS,
    TWICE,
    UPWARD,
    Layer,
    Loop,
)

OP_NAME = "nn.dense"
_FIXED = (Rounding.DOUBLE, Rounding.REDUCED, Rounding.FLOAT)  # requantize_s16.h: MG_ROUND_*


def _is_per_channel(node: Node, graph: Graph) -> bool:
    quant = graph.types[node.inputs[1]].quant
    return quant is not None and not quant.is_per_tensor


def scales(node: Node, graph: Graph) -> int:
    """The number of scales that sums have: one, or one for each output feature."""
    return graph.types[node.inputs[1]].shape[0] if _is_per_channel(node, graph) else 1


def sizes(node: Node, graph: Graph) -> base.Fields:
    """Rows of data, and the extents of the weight."""
    inputs, output = base.types(node, graph)
    output_features, input_features = inputs[1].shape
    return (
        ("batches", output.size // output_features),
        ("input_features", input_features),
        ("output_features", output_features),
    )


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, DenseAttrs)
    inputs, output = base.types(node, graph)
    return (
        *sizes(node, graph),
        ("per_channel", int(_is_per_channel(node, graph))),
        *base.offsets(inputs[0], output),
        *base.activation_fields(attrs.activation, output),
    )


def _constants(node: Node, graph: Graph) -> Tables:
    if _is_per_channel(node, graph):
        channels = graph.types[node.inputs[1]].shape[0]
        return weights.weights_and_tables(node, graph, "conv", channels)
    # LiteRT, which rounds once, multiplies scales in double. TensorFlow Lite Micro uses float32 if
    # there is one weight scale.
    rule: weights.Rule = (
        "conv" if base.attrs_of(node, DenseAttrs).rounding is Rounding.SINGLE else "dense"
    )
    return weights.weights_and_tables(node, graph, rule, 1)


def _refuses_wide(node: Node, graph: Graph) -> str | None:
    """Refusal if a result of mg_requantize_real may exceed int32 for some data."""
    refusal = weights.constant_weights(
        node, graph, axis=0, dtype=DType.INT16, roundings=(Rounding.REAL,)
    )
    if refusal:
        return refusal
    inputs, output = base.types(node, graph)
    scales = conv_scales(inputs[0], inputs[1], output)
    worst = float((largest_sums(node, graph, 0).sum(axis=0) * scales).max())
    if worst >= 2**31 - 256:
        return f"outputs with its bias may reach {worst:g} before the clamp, int32 holds less"
    return None


def _wide_constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    return weights.weights_and_real_scales(node, graph, scales(node, graph))


def _wide_params(node: Node, graph: Graph) -> base.Fields:
    *extents, least, most = plain_params(node, graph)
    return (*extents, ("per_channel", int(_is_per_channel(node, graph))), least, most)


def _fixed_params(node: Node, graph: Graph) -> base.Fields:
    *extents, least, most = plain_params(node, graph)
    output = graph.types[node.outputs[0]]
    return (
        *extents,
        *base.wide_rounding(base.attrs_of(node, DenseAttrs).rounding, output),
        least,
        most,
    )


def _fixed_constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    return weights.weights_and_tables(node, graph, "dense", graph.types[node.inputs[1]].shape[0])


def plain_params(node: Node, graph: Graph) -> base.Fields:
    """The fields of float32 kernels, which are in those of int16 kernels, too."""
    output = graph.types[node.outputs[0]]
    return (
        *sizes(node, graph),
        *base.activation_fields(base.attrs_of(node, DenseAttrs).activation, output),
    )


LAYER = Layer(axis=0, params=_params, constants=_constants, usual="nearest")
_OFFSET = dataclasses.replace(LAYER, params=weights.with_offset(_params, "dense"))

_MVE = weighted.vectors(Loop(stem="dense_s8"))
_INT4_MVE = weighted.vectors(Loop(stem="dense_s4", takes_int4=True))
_INT4_PLAIN = Loop(stem="dense_s4", takes_int4=True)
_INT4 = (*weighted.blocks(_INT4_PLAIN), _INT4_PLAIN)
_REFERENCE = Loop(stem="dense_s8")
_OFFSET_REFERENCE = Loop(stem="dense_s8_offset", has_offset=True)

_TFLITE = (NEAREST, TWICE)
IMPLEMENTATIONS = (
    *LAYER.kernels((_INT4_MVE,), _TFLITE),
    *LAYER.kernels(_INT4, (*_TFLITE, FLOAT_FPU, FLOAT)),
    *LAYER.kernels((_MVE,), (*_TFLITE, FLOAT_MVE)),
    *LAYER.kernels(weighted.blocks(Loop(stem="dense_s8")), (*_TFLITE, UPWARD, FLOAT_FPU, FLOAT)),
    *LAYER.kernels((_REFERENCE,), (*_TFLITE, FLOAT_FPU, FLOAT, SUMS)),
    *_OFFSET.kernels((_OFFSET_REFERENCE,), (*_TFLITE, FLOAT, SUMS)),
    base.Implementation(
        symbol="mg_dense_s16",
        refusal=_refuses_wide,
        params=_wide_params,
        constants=_wide_constants,
    ),
    base.Implementation(
        symbol="mg_dense_s16_fixed",
        refusal=functools.partial(
            weights.constant_weights, axis=0, dtype=DType.INT16, roundings=_FIXED
        ),
        params=_fixed_params,
        constants=_fixed_constants,
    ),
    base.float_kernel("mg_dense_f32", params=plain_params, inputs=base.DATA_WEIGHT_BIAS, ulps=8),
)
