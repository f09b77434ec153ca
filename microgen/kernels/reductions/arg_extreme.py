"""Kernels for the positions of extremes."""

from __future__ import annotations

from math import prod

from microgen.base.errors import short
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.extremes import ArgExtremeAttrs, TopKAttrs
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


_LETTERS = {"i": "s", "u": "u", "f": "f"}  # of suffixes, by numpy's kind


def _topk_params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, TopKAttrs)
    (data,), output = base.types(node, graph)
    return (
        ("outer_size", prod(data.shape[: attrs.axis])),
        ("axis_size", data.shape[attrs.axis]),
        ("inner_size", prod(data.shape[attrs.axis + 1 :])),
        ("k", attrs.k),
        ("is_largest", int(attrs.is_largest)),
        ("output_bytes", output.dtype.nbytes),
    )


def _suffix(dtype: DType) -> str:
    return f"{_LETTERS[dtype.numpy.kind]}{8 * dtype.nbytes}"


BY_OP = {
    "argmax": kernels(is_minimum=False),
    "argmin": kernels(is_minimum=True),
    "topk": tuple(
        base.Implementation(
            f"mg_topk_{_suffix(dtype)}",
            base.REFERENCE,
            _refusal(dtype),
            _topk_params,
            family="topk",
        )
        for dtype in DType
        if dtype is not DType.BOOL
    ),
}
