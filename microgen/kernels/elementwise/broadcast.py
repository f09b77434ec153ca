"""Shared by kernels of broadcast operands: ``crt/include/microgen/elementwise/broadcast.h``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence

from microgen.graph.arithmetic.int8 import AddParameters
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.base import Shape
from microgen.kernels import base
from microgen.kernels.moves.strided import row_major
from microgen.kernels.work import Work, work
from microgen.target.cpu import Feature

_AXES = 4
_ROW_AXES = 2  # rows, and elements of a row
_EIGHT = 8  # elements of an iteration with MVE
_QUAD = 4


@functools.lru_cache(maxsize=1024)  # networks have few shapes, and every kernel needs them
def _strides(shape: Shape, rank: int) -> tuple[int, ...]:
    """Elements to step per axis of an output of that rank, 0 if this operand is broadcast."""
    padded = (1,) * (rank - len(shape)) + shape
    return tuple(0 if n == 1 else s for n, s in zip(padded, row_major(padded), strict=True))


def merged_axes(node: Node, graph: Graph) -> list[tuple[int, tuple[int, ...]]]:
    """(size, stride of each operand) of the fewest axes that visit the elements in order."""
    inputs, output = base.types(node, graph)
    rank = len(output.shape)
    strides = zip(*(_strides(operand.shape, rank) for operand in inputs), strict=True)
    found: list[tuple[int, tuple[int, ...]]] = []
    for size, steps in zip(output.shape, strides, strict=True):
        if size == 1:
            continue
        if found and found[-1][1] == tuple(size * step for step in steps):
            found[-1] = (found[-1][0] * size, steps)
        else:
            found.append((size, steps))
    return found


def too_many_axes(node: Node, graph: Graph, most: int = _AXES) -> str | None:
    """Refusal of more than ``most`` axes. Adjacent axes are merged first where possible."""
    count = len(merged_axes(node, graph))
    if count > most:
        return f"its elements lie along {count} axes, the kernel takes at most {most}"
    return None


def too_many_for_rows(node: Node, graph: Graph) -> str | None:
    """Refusal unless the elements lie along two axes: rows, and the elements of a row."""
    return too_many_axes(node, graph, _ROW_AXES)


def in_rows(node: Node, graph: Graph) -> tuple[tuple[str, int], ...]:
    """Fields of kernels that compute rows: their number and size, and the steps of both
    operands."""
    axes = merged_axes(node, graph)
    (rows, of_row), (size, of_element) = [(1, (0, 0))] * (_ROW_AXES - len(axes)) + axes
    return (
        ("rows", rows),
        ("size", size),
        ("lhs_row", of_row[0]),
        ("rhs_row", of_row[1]),
        ("lhs_step", of_element[0]),
        ("rhs_step", of_element[1]),
    )


def _row_work(node: Node, graph: Graph) -> Work:
    """Parts of the loops of kernels of rows: groups of four elements, remaining elements, rows."""
    fields, counted = dict(in_rows(node, graph)), work(node, graph)
    rows, size = fields["rows"], fields["size"]
    return {
        "call": 1,
        "output": counted["output"],
        "quad": rows * (size // 4),
        "left": rows * (size % 4),
        "row": rows - 1,
        "clamped": counted["clamped"],
    }


def vector_work(node: Node, graph: Graph) -> Work:
    """Parts of the loops with MVE of kernels of rows: eights, remaining quads, rows."""
    fields = dict(in_rows(node, graph))
    rows, size = fields["rows"], fields["size"]
    return {
        "call": 1,
        "eight": rows * (size // _EIGHT),
        "quad": rows * -(-(size % _EIGHT) // _QUAD),
        "row": rows - 1,
    }


def strided(node: Node, graph: Graph, names: Sequence[str]) -> base.Fields:
    """The output's shape, and the strides of every operand as a field, called as ``names`` says."""
    axes = merged_axes(node, graph)
    axes = [(1, (0,) * len(names))] * (_AXES - len(axes)) + axes
    strides = zip(*(steps for _, steps in axes), strict=True)
    return (("shape", tuple(size for size, _ in axes)), *zip(names, strides, strict=True))


def shapes(node: Node, graph: Graph) -> base.Fields:
    """The fields of ``mg_broadcast_params``, the first ones of every kernel of two operands."""
    return strided(node, graph, ("lhs_stride", "rhs_stride"))


def offsets(node: Node, graph: Graph) -> base.Fields:
    """The zero points as kernels use them: added to each operand, added to the output."""
    (lhs, rhs), output = base.types(node, graph)
    return (
        ("lhs_offset", -lhs.zero_point),
        ("rhs_offset", -rhs.zero_point),
        ("output_offset", output.zero_point),
    )


def plain_params(node: Node, graph: Graph) -> base.Fields:
    """The fields of kernels for plain numbers that have an activation."""
    return (*shapes(node, graph), *_activation(node, graph))


def _activation(node: Node, graph: Graph) -> base.Fields:
    activation = getattr(node.attrs, "activation", Activation.NONE)
    return base.activation_fields(activation, graph.types[node.outputs[0]])


def sum_params(p: AddParameters, activation: Activation, node: Node, graph: Graph) -> base.Fields:
    """The fields of ``mg_scaled_sum_params``."""
    output = graph.types[node.outputs[0]]
    return (
        *shapes(node, graph),
        *offsets(node, graph),
        *base.fields_of(p),
        *base.activation_fields(activation, output),
    )


def in_place(node: Node, graph: Graph) -> base.Lags:
    """The operands with the output's layout: each element is read before it is written."""
    inputs, output = base.types(node, graph)
    return {
        i: 0
        for i, operand in enumerate(inputs)
        if (operand.shape, operand.dtype.nbytes) == (output.shape, output.dtype.nbytes)
    }


# Suffixes of the kernels of plain integers, in the order of their kernels. Kernels of scaled values
# have "s8" and "s16".
_INTEGERS = {
    DType.INT8: "i8",
    DType.UINT8: "u8",
    DType.INT16: "i16",
    DType.UINT16: "u16",
    DType.INT32: "s32",
    DType.UINT32: "u32",
    DType.INT64: "s64",
    DType.UINT64: "u64",
}


def of_integers(
    op: str,
    family: str = "",
    *,
    but: Collection[DType] = (),
    params: Callable[[Node, Graph], base.Fields] = shapes,
) -> tuple[base.Implementation, ...]:
    """The kernels ``mg_<op>_<dtype>`` of plain integers of every dtype that is not in ``but``."""
    return tuple(
        kernel(f"mg_{op}_{suffix}", dtype, params, family=family, is_scaled=False)
        for dtype, suffix in _INTEGERS.items()
        if dtype not in but
    )


def row_kernel(
    symbol: str, needs: frozenset[Feature], refusal: base.Refuse, params: base.Params
) -> base.Implementation:
    """The kernel ``symbol``, which computes rows of two operands."""
    return base.Implementation(
        symbol=symbol,
        needs=needs,
        refusal=refusal,
        params=params,
        inputs=(0, 1),
        in_place=in_place,
        work=_row_work,
    )


def of_float_rows(op: str) -> base.Implementation:
    """The kernel ``mg_<op>_f32_rows`` of ``arithmetic_f32_rows.h``."""

    def refusal(node: Node, graph: Graph) -> str | None:
        return base.only(DType.FLOAT32)(node, graph) or too_many_for_rows(node, graph)

    def params(node: Node, graph: Graph) -> base.Fields:
        return (*in_rows(node, graph), *_activation(node, graph))

    return row_kernel(f"mg_{op}_f32_rows", base.FPU, refusal, params)


def kernel(
    symbol: str,
    dtype: DType,
    params: Callable[[Node, Graph], base.Fields],
    *,
    family: str = "",
    is_scaled: bool | None = None,
) -> base.Implementation:
    """The reference kernel ``symbol`` for two operands of that dtype. If ``is_scaled`` is given,
    the first operand must have a scale, or must have none."""

    # Not base.only: comparisons have outputs of another dtype, and many kernels take any scale.
    def refusal(node: Node, graph: Graph) -> str | None:
        found = graph.types[node.inputs[0]]
        if found.dtype is not dtype:
            return f"{node.inputs[0]!r} is {found.dtype.value}, the kernel computes {dtype.value}"
        if is_scaled is not None and is_scaled is (found.quant is None):
            has, wanted = ("no scale", "one") if is_scaled else ("a scale", "plain numbers")
            return f"{node.inputs[0]!r} has {has}, the kernel computes values with {wanted}"
        return too_many_axes(node, graph)

    return base.Implementation(
        symbol, refusal, params, inputs=(0, 1), in_place=in_place, family=family
    )
