"""Kernels for float32 layers whose weights are stored as integers, which they dequantize."""

from __future__ import annotations

import math
from collections.abc import Callable

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.weight_only.weight_only import DenseWeightOnlyAttrs
from microgen.kernels import base, hybrid, weights, window
from microgen.kernels.dense import dense

_FILTERS = 4  # conv2d_weight_only_f32.h: MG_FILTERS
_FLOAT = DType.FLOAT32.nbytes
_SUFFIXES = {"s4": "_int4", "s8": ""}  # weight_only.h: MG_WEIGHTS_*


def _dense_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, DenseWeightOnlyAttrs)
    return (*dense.sizes(node, graph), *hybrid.scaled_fields(attrs.activation, node, graph))


def _filters(node: Node, graph: Graph) -> int:
    """Scratch for the floats of the filters that are dequantized at a time."""
    inputs, output = base.types(node, graph)
    group = output.shape[3] // (inputs[0].shape[3] // inputs[1].shape[3])
    return min(_FILTERS, group) * math.prod(inputs[1].shape[1:]) * _FLOAT


def _transposed_filters(node: Node, graph: Graph) -> int:
    weight = graph.types[node.inputs[1]]
    return min(_FILTERS, weight.shape[0]) * math.prod(weight.shape[1:]) * _FLOAT


def _all_weights(node: Node, graph: Graph) -> int:
    return graph.types[node.inputs[1]].size * _FLOAT


def _stored(stored: str, node: Node) -> base.KernelConstant:
    if stored == "s4":
        return base.KernelConstant("weight", "uint8_t", node.inputs[1], transform="pack_int4")
    return base.KernelConstant("weight", "int8_t", node.inputs[1])


def _only(stored: str, refusal: base.Refuse) -> base.Refuse:
    """``refusal``, preceded by the refusal of weights that are not stored in this form."""

    def refuses(node: Node, graph: Graph) -> str | None:
        if stored == "s4" and node.inputs[1] not in graph.int4:
            return base.Mismatch(base.Trait.WEIGHTS, "its weights are not int4")
        return refusal(node, graph)

    return refuses


def _kernels(
    layer: str,
    params: base.Params,
    *,
    family: str = "",
    variant: tuple[str, ...] = (),
    scratch: Callable[[Node, Graph], int] = base.no_scratch,
) -> tuple[base.Implementation, ...]:
    """The kernels for weights of 4 and of 8 bits of a layer with a weight and a bias."""

    def kernel(stored: str) -> base.Implementation:
        def constants(node: Node, _graph: Graph) -> tuple[base.KernelConstant, ...]:
            bias = node.inputs[2] if len(node.inputs) > 2 else ""
            return (
                _stored(stored, node),
                base.KernelConstant("bias", "float", bias),
                base.KernelConstant("scale", "float", node.inputs[1], "scale"),
            )

        return base.Implementation(
            symbol=f"mg_{layer}_weight_only_f32{_SUFFIXES[stored]}",
            refusal=_only(stored, weights.constant_float_weights),
            params=params,
            constants=constants,
            scratch=scratch,
            ulps=window.FLOAT_ULPS,
            family=f"{family or layer}_weight_only_f32",
            variant=(f"MG_WEIGHTS_{stored.upper()}", *variant),
            takes_int4=stored == "s4",
        )

    # Packed weights are smaller, so they come first.
    return tuple(map(kernel, _SUFFIXES))


def _embedding_params(node: Node, graph: Graph) -> base.Fields:
    indices, table = graph.type_of(node.inputs)
    return (
        ("count", indices.size),
        ("rows", table.shape[0]),
        ("row_size", math.prod(table.shape[1:])),
        ("per_channel", int(hybrid.scale_count(node, graph) > 1)),
    )


def _embedding_refusal(node: Node, graph: Graph) -> str | None:
    return base.computed(node.inputs[1], graph)


def _embedding(stored: str) -> base.Implementation:
    def constants(node: Node, _graph: Graph) -> tuple[base.KernelConstant, ...]:
        scale = base.KernelConstant("scale", "float", node.inputs[1], "scale")
        return _stored(stored, node), scale

    return base.Implementation(
        symbol=f"mg_embedding_f32{_SUFFIXES[stored]}",
        refusal=_only(stored, _embedding_refusal),
        params=_embedding_params,
        constants=constants,
        can_fail=True,
        family="embedding_f32",
        variant=(f"MG_WEIGHTS_{stored.upper()}",),
        takes_int4=stored == "s4",
    )


BY_OP = {
    "nn.conv2d_transpose_weight_only": _kernels(
        "conv2d_transpose",
        hybrid.window_params,
        family="conv2d",
        variant=("MG_TRANSPOSED",),
        scratch=_transposed_filters,
    ),
    "nn.conv2d_weight_only": _kernels(
        "conv2d", hybrid.window_params, variant=("MG_FORWARD",), scratch=_filters
    ),
    "nn.dense_weight_only": _kernels("dense", _dense_params),
    "nn.depthwise_conv2d_weight_only": _kernels(
        "depthwise_conv2d", hybrid.window_params, scratch=_all_weights
    ),
    "nn.embedding": tuple(map(_embedding, _SUFFIXES)),
}
