"""The kernels of argmax and argmin."""

from __future__ import annotations

from math import prod

from microgen.base.errors import short
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.extremes import ArgExtremeAttrs
from microgen.kernels import base


def _refusal(dtype: DType) -> base.Refuse:
    def refusal(node: Node, graph: Graph) -> str | None:
        found = graph.types[node.inputs[0]].dtype
        if found is not dtype:
            why = f"{short(node.inputs[0])!r} is {found.value}, the kernel reads {dtype.value}"
            return base.Mismatch(base.Trait.DTYPE, why)
        return None

    return refusal


def kernels(*, is_minimum: bool) -> tuple[base.Implementation, ...]:
    """``mg_argmax_<dtype>`` in one of the two directions, for any output dtype of the ops."""

    def params(node: Node, graph: Graph) -> base.Fields:
        attrs = node.attrs
        assert isinstance(attrs, ArgExtremeAttrs)
        (data,), output = base.types(node, graph)
        return (
            ("outer_size", prod(data.shape[: attrs.axis])),
            ("axis_size", data.shape[attrs.axis]),
            ("inner_size", prod(data.shape[attrs.axis + 1 :])),
            ("is_minimum", int(is_minimum)),
            ("output_bytes", output.dtype.nbytes),
        )

    dtypes = {"s8": DType.INT8, "s32": DType.INT32, "f32": DType.FLOAT32}
    return tuple(
        base.Implementation(
            f"mg_argmax_{suffix}", base.REFERENCE, _refusal(dtype), params, family="argmax"
        )
        for suffix, dtype in dtypes.items()
    )
