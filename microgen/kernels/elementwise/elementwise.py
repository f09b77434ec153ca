"""Kernels for elementwise ops of two operands, but for products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.addition import (
    AdditionAttrs,
    parameters,
    squared_difference_parameters,
)
from microgen.graph.ops.elementwise.bitwise import BitFunction, BitwiseAttrs
from microgen.graph.ops.elementwise.rescaled import RescaledAttrs, of_product, of_sum
from microgen.kernels import base
from microgen.kernels.elementwise import affine, broadcast, in_float32, product, scaled_rows


def _addition_params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, AdditionAttrs)
    (lhs, rhs), output = base.types(node, graph)
    p = parameters(node.attrs, lhs, rhs, output)
    return broadcast.sum_params(p, node.attrs.activation, node, graph)


def _addition_kernels(op: str) -> tuple[base.Implementation, ...]:
    """The kernels ``mg_<op>_<dtype>`` for every dtype, and the affine kernels."""
    plain = broadcast.plain_params
    return (
        *affine.KERNELS,
        *scaled_rows.kernels(op),
        *scaled_rows.int16_kernels(op),
        *in_float32.elementwise(op),
        in_float32.without(
            broadcast.kernel(f"mg_{op}_s8", DType.INT8, _addition_params, is_scaled=True)
        ),
        in_float32.without(
            broadcast.kernel(f"mg_{op}_s16", DType.INT16, _addition_params, is_scaled=True)
        ),
        broadcast.kernel(f"mg_{op}_s32", DType.INT32, plain),
        broadcast.kernel(f"mg_{op}_s64", DType.INT64, broadcast.shapes),
        broadcast.of_float_rows(op),
        broadcast.kernel(f"mg_{op}_f32", DType.FLOAT32, plain),
        *broadcast.of_integers(op, "integer_arithmetic", but=(DType.INT32, DType.INT64)),
    )


def _squared_difference_params(node: Node, graph: Graph) -> base.Fields:
    (lhs, rhs), output = base.types(node, graph)
    return broadcast.sum_params(
        squared_difference_parameters(lhs, rhs, output), Activation.NONE, node, graph
    )


def _rescaled_sum_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_rescaled_sum_params``."""
    attrs = base.attrs_of(node, RescaledAttrs)
    lhs, rhs = of_sum(attrs)
    return (
        *_rescaled_fields(attrs, node, graph),
        *base.scale_fields(lhs, "lhs"),
        *base.scale_fields(rhs, "rhs"),
        ("ties", base.TIES[attrs.rounding]),
    )


def _rescaled_product_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_rescaled_product_params``."""
    attrs = base.attrs_of(node, RescaledAttrs)
    return (
        *_rescaled_fields(attrs, node, graph),
        *base.scale_fields(of_product(attrs)),
        ("ties", base.TIES[attrs.rounding]),
    )


def _rescaled_fields(attrs: RescaledAttrs, node: Node, graph: Graph) -> base.Fields:
    return (
        *broadcast.shapes(node, graph),
        ("lhs_offset", -attrs.lhs_zero_point),
        ("rhs_offset", -attrs.rhs_zero_point),
        ("output_offset", attrs.output_zero_point),
    )


def _rescaled_kernel(symbol: str, params: base.Params) -> base.Implementation:
    return broadcast.kernel(symbol, DType.INT8, params, family="rescaled_arithmetic_s8")


_EXTREMUM_DTYPES = (DType.INT8, DType.INT16, DType.INT32)  # also of scaled values


def _extremum_kernels(op: str) -> tuple[base.Implementation, ...]:
    """``mg_<op>_<dtype>`` for every dtype, and ``mg_<op>_nan_f32``, which keeps NaN."""
    return (
        *(
            broadcast.kernel(f"mg_{op}_{base.suffix(dtype)}", dtype, broadcast.shapes)
            for dtype in _EXTREMUM_DTYPES
        ),
        *broadcast.of_integers(op, but=_EXTREMUM_DTYPES),
        _extremum_of_floats(f"mg_{op}_f32", keeps_nan=False),
        _extremum_of_floats(f"mg_{op}_nan_f32", keeps_nan=True),
    )


def _extremum_of_floats(symbol: str, *, keeps_nan: bool) -> base.Implementation:
    why = "the kernel keeps NaN" if keeps_nan else "NaN of either operand must be kept"

    def other(node: Node, _graph: Graph) -> str | None:
        return None if getattr(node.attrs, "keeps_nan", False) is keeps_nan else why

    return base.made_for(broadcast.kernel(symbol, DType.FLOAT32, broadcast.shapes), other)


def _bitwise_kernels(function: BitFunction) -> Iterator[base.Implementation]:
    def refusal(of: base.Implementation, node: Node, graph: Graph) -> str | None:
        found = base.attrs_of(node, BitwiseAttrs).function
        if found is function:
            return of.refusal(node, graph)
        why = f"it is {found.value}, the kernel computes {function.value}"
        return base.Mismatch(base.Trait.ARITHMETIC, why)

    for kernel in broadcast.of_integers(function.value, "bitwise"):
        yield replace(kernel, refusal=partial(refusal, kernel))


def _where_params(node: Node, graph: Graph) -> base.Fields:
    fields = broadcast.strided(node, graph, ("condition_stride", "lhs_stride", "rhs_stride"))
    return (*fields, ("element_bytes", graph.types[node.outputs[0]].dtype.nbytes))


def _where_in_place(node: Node, graph: Graph) -> base.Lags:
    return {i: lag for i, lag in broadcast.in_place(node, graph).items() if i > 0}


WHERE_KERNELS = (
    base.Implementation(
        symbol="mg_where",
        refusal=broadcast.too_many_axes,
        params=_where_params,
        inputs=(0, 1, 2),
        in_place=_where_in_place,
    ),
)


BY_OP = {
    "add": _addition_kernels("add"),
    "subtract": _addition_kernels("subtract"),
    "squared_difference": (
        *scaled_rows.kernels("squared_difference"),
        broadcast.kernel("mg_squared_difference_s8", DType.INT8, _squared_difference_params),
        broadcast.kernel("mg_squared_difference_s32", DType.INT32, broadcast.shapes),
        broadcast.kernel("mg_squared_difference_f32", DType.FLOAT32, broadcast.shapes),
    ),
    "qnn.add": (*affine.KERNELS, _rescaled_kernel("mg_rescaled_add_s8", _rescaled_sum_params)),
    "qnn.subtract": (
        *affine.KERNELS,
        _rescaled_kernel("mg_rescaled_subtract_s8", _rescaled_sum_params),
    ),
    "qnn.mul": (
        product.SCALED_PRODUCT,
        _rescaled_kernel("mg_rescaled_multiply_s8", _rescaled_product_params),
    ),
    "maximum": _extremum_kernels("maximum"),
    "minimum": _extremum_kernels("minimum"),
    "bitwise": tuple(kernel for function in BitFunction for kernel in _bitwise_kernels(function)),
    "where": WHERE_KERNELS,
}
