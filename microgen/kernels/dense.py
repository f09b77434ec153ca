"""Kernels for nn.dense."""

from __future__ import annotations

import functools

from microgen.arithmetic.int8 import conv_scales
from microgen.arithmetic.terms import Rounding
from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, blocks, int4, mve
from microgen.ops.constraints import weight_zero
from microgen.ops.dense import DenseAttrs

OP_NAME = "nn.dense"
_ONCE = (Rounding.SINGLE, Rounding.NEAREST)  # mg_requantize_single
_ROUNDINGS = (Rounding.DOUBLE, Rounding.PRODUCT, *_ONCE)
_FIXED = (Rounding.DOUBLE, Rounding.REDUCED)  # requantize_s16.h: MG_ROUND_*


def _is_per_channel(node: Node, graph: Graph) -> bool:
    quant = graph.types[node.inputs[1]].quant
    return quant is not None and not quant.is_per_tensor


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
    attrs = node.attrs
    assert isinstance(attrs, DenseAttrs)
    inputs, output = base.types(node, graph)
    return (
        *sizes(node, graph),
        ("per_channel", int(_is_per_channel(node, graph))),
        ("single_rounding", int(attrs.rounding in _ONCE)),
        *base.offsets(inputs[0], output),
        *base.activation_fields(attrs.activation, output),
    )


def _offset_params(node: Node, graph: Graph) -> base.Fields:
    nested = tuple((f"dense.{name}", value) for name, value in _params(node, graph))
    return (*nested, ("weight_offset", -weight_zero(graph.types[node.inputs[1]])))


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    """Tables of one entry, or of one per output feature. LiteRT, which rounds once, multiplies the
    scales in double. TensorFlow Lite Micro uses float32 if there is one weight scale."""
    assert isinstance(node.attrs, DenseAttrs)
    if _is_per_channel(node, graph):
        channels = graph.types[node.inputs[1]].shape[0]
        return base.weights_and_tables(node, graph, "conv", channels)
    rule: base.Rule = "conv" if node.attrs.rounding is Rounding.SINGLE else "dense"
    return base.weights_and_tables(node, graph, rule, 1)


def _refuses_wide(node: Node, graph: Graph) -> str | None:
    """Refusal if a result of mg_requantize_real may exceed int32 for some data."""
    refusal = base.constant_weights(
        node, graph, axis=0, dtype=DType.INT16, roundings=(Rounding.REAL,)
    )
    if refusal:
        return refusal
    inputs, output = base.types(node, graph)
    scales = conv_scales(inputs[0], inputs[1], output)
    worst = float((base.largest_sums(node, graph, 0).sum(axis=0) * scales).max())
    if worst >= 2**31 - 256:
        return f"outputs with its bias may reach {worst:g} before the clamp, int32 holds less"
    return None


def _wide_constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    channels = graph.types[node.inputs[1]].shape[0] if _is_per_channel(node, graph) else 1
    return base.weights_and_real_scales(node, graph, channels)


def _wide_params(node: Node, graph: Graph) -> base.Fields:
    *extents, least, most = _plain_params(node, graph)
    return (*extents, ("per_channel", int(_is_per_channel(node, graph))), least, most)


def _fixed_params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, DenseAttrs)
    *extents, least, most = _plain_params(node, graph)
    output = graph.types[node.outputs[0]]
    return (*extents, *base.wide_rounding(node.attrs.rounding, output), least, most)


def _fixed_constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    return base.weights_and_tables(node, graph, "dense", graph.types[node.inputs[1]].shape[0])


def _plain_params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, DenseAttrs)
    output = graph.types[node.outputs[0]]
    return (*sizes(node, graph), *base.activation_fields(node.attrs.activation, output))


def _sums_params(node: Node, graph: Graph) -> base.Fields:
    return (*sizes(node, graph), ("input_offset", -graph.types[node.inputs[0]].zero_point))


_constant = functools.partial(base.constant_weights, axis=0)
_taken = functools.partial(_constant, roundings=_ROUNDINGS)

KERNELS = (
    int4.entry("mg_dense_s4_mve", _taken, _params, _constants, needs=mve.NEEDS),
    *int4.variants("mg_dense_s4", _taken, _params, _constants),
    int4.entry("mg_dense_s4", _taken, _params, _constants),
    base.Kernel(
        symbol="mg_dense_s8_mve",
        needs=mve.NEEDS,
        refusal=_taken,
        params=_params,
        constants=_constants,
    ),
    *blocks.variants("mg_dense_s8", _taken, _params, _constants),
    base.Kernel(
        symbol="mg_dense_s8",
        needs=base.REFERENCE,
        refusal=_taken,
        params=_params,
        constants=_constants,
    ),
    *blocks.upward("mg_dense_s8", _constant, _params, _constants),
    base.Kernel(
        symbol="mg_dense_s8_s32",
        needs=base.REFERENCE,
        refusal=functools.partial(_constant, output=DType.INT32),
        params=_sums_params,
        constants=base.weight_and_bias,
    ),
    base.Kernel(
        symbol="mg_dense_s8_offset",
        needs=base.REFERENCE,
        refusal=functools.partial(_taken, has_offset=True),
        params=_offset_params,
        constants=_constants,
    ),
    base.Kernel(
        symbol="mg_dense_s16",
        needs=base.REFERENCE,
        refusal=_refuses_wide,
        params=_wide_params,
        constants=_wide_constants,
    ),
    base.Kernel(
        symbol="mg_dense_s16_fixed",
        needs=base.REFERENCE,
        refusal=functools.partial(_constant, dtype=DType.INT16, roundings=_FIXED),
        params=_fixed_params,
        constants=_fixed_constants,
    ),
    base.Kernel(
        symbol="mg_dense_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=_plain_params,
        inputs=base.DATA_WEIGHT_BIAS,
        ulps=8,
    ),
)
