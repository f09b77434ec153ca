"""Kernels for clip."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.clip import ClipAttrs
from microgen.quantize import clip_multiplier

OP_NAME = "clip"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, ClipAttrs)
    (data,), output = base.types(node, graph)
    multiplier, shift = clip_multiplier(data, output)  # 0: the kernel then only clamps
    return (
        ("size", output.size),
        *base.offsets(data, output),
        ("multiplier", multiplier),
        ("shift", shift),
        *base.activation_fields(attrs.activation, output),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_clip_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_params,
        in_place=base.as_is,
    ),
)
