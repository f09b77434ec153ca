"""The kernel of argmax and argmin."""

from __future__ import annotations

from math import prod

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.arg_extreme import ArgExtremeAttrs


def _refusal(node: Node, graph: Graph) -> str | None:
    (data,), output = base.types(node, graph)
    if data.dtype is not DType.INT8:
        return f"{node.inputs[0]!r} is {data.dtype.value}, the kernel reads int8"
    if output.dtype is not DType.INT32:
        return f"{node.outputs[0]!r} is {output.dtype.value}, the kernel writes int32"
    return None


def kernel(*, is_minimum: bool) -> base.Kernel:
    """``mg_argmax_s8``, for one of the two directions."""

    def params(node: Node, graph: Graph) -> base.Fields:
        attrs = node.attrs
        assert isinstance(attrs, ArgExtremeAttrs)
        (data,), _ = base.types(node, graph)
        return (
            ("outer_size", prod(data.shape[: attrs.axis])),
            ("axis_size", data.shape[attrs.axis]),
            ("inner_size", prod(data.shape[attrs.axis + 1 :])),
            ("is_minimum", int(is_minimum)),
        )

    return base.Kernel("mg_argmax_s8", base.REFERENCE, _refusal, params)
