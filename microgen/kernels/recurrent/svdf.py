"""Kernels for nn.svdf."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.recurrent import svdf
from microgen.graph.ops.recurrent.svdf import SvdfAttrs
from microgen.kernels import base
from microgen.kernels.recurrent import recurrent

OP_NAME = "nn.svdf"


def _shape(node: Node, graph: Graph) -> base.Fields:
    inputs, output = base.types(node, graph)
    batches, features = inputs[0].shape
    return (
        ("batches", batches),
        ("features", features),
        ("units", output.shape[1]),
        ("rank", base.attrs_of(node, SvdfAttrs).rank),
        ("memory", inputs[2].shape[1]),
    )


def _integer_params(node: Node, graph: Graph) -> base.Fields:
    inputs, output = base.types(node, graph)
    found, state = svdf.scales(inputs, output), inputs[svdf.STATE]
    is_narrow = state.dtype is DType.INT8  # an int16 memory has no zero point
    return (
        *_shape(node, graph),
        *base.offsets(inputs[0], output),
        *([("state_offset", state.zero_point)] if is_narrow else []),
        *base.scale_fields(found.feature, "feature"),
        *base.scale_fields(found.time, "time"),
    )


def _float_params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (
        *_shape(node, graph),
        *base.activation_fields(base.attrs_of(node, SvdfAttrs).activation, output),
    )


def _constants(*types: str) -> Callable[[Node, Graph], tuple[base.KernelConstant, ...]]:
    """Feature weight, time weight, and bias or NULL, with these C types."""

    def constants(node: Node, _graph: Graph) -> tuple[base.KernelConstant, ...]:
        feature, time, _, *bias = node.inputs[1:]
        sources = (feature, time, bias[0] if bias else "")
        names = ("feature_weight", "time_weight", "bias")
        return tuple(map(base.KernelConstant, names, types, sources))

    return constants


def _remembering(dtype: DType) -> base.Refuse:
    """Refusal unless the data is int8 and the memory of that dtype."""
    constants = recurrent.constants_but_variables(DType.INT8)

    def refusal(node: Node, graph: Graph) -> str | None:
        found = graph.types[node.inputs[svdf.STATE]].dtype
        if found is not dtype:
            return f"the memory is {found.value}, the kernel's is {dtype.value}"
        return constants(node, graph)

    return refusal


_INTEGER = base.Implementation(
    symbol="mg_svdf_s8",
    refusal=_remembering(DType.INT16),
    params=_integer_params,
    inputs=(0, svdf.STATE),
    constants=_constants("int8_t", "int16_t", "int32_t"),
    writes=(svdf.STATE,),
)

IMPLEMENTATIONS = (
    dataclasses.replace(_INTEGER, symbol="mg_svdf_s8_mve", needs=base.MVE),
    dataclasses.replace(_INTEGER, symbol="mg_svdf_s8_dsp", needs=base.DSP),
    _INTEGER,
    dataclasses.replace(
        _INTEGER,
        symbol="mg_svdf_s8_narrow",
        refusal=_remembering(DType.INT8),
        constants=_constants("int8_t", "int8_t", "int32_t"),
    ),
    base.Implementation(
        symbol="mg_svdf_f32",
        refusal=recurrent.constants_but_variables(DType.FLOAT32),
        params=_float_params,
        inputs=(0, svdf.STATE),
        constants=_constants("float", "float", "float"),
        writes=(svdf.STATE,),
        ulps=8,
    ),
)
