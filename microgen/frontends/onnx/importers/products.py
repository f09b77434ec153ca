"""Convolutions, products of matrices, and determinants."""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto

from microgen.frontends.onnx import composing, convolution_nodes, windows
from microgen.frontends.onnx.composing import binary
from microgen.frontends.onnx.importers import Importer, arguments
from microgen.frontends.onnx.importers.quantization import Group
from microgen.frontends.onnx.move_nodes import cut, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs


def _conv(node: OnnxNode) -> BuiltTensor:
    """Source: ONNX's specification of Conv; in the weight, O is the first axis."""
    data, weight, bias = node.tensor(0), node.tensor(1), node.optional(2)
    rank = arguments.spatial_rank(node, data)
    groups = arguments.groups(node, data, weight, bias)
    if weight.shape[1] * groups != data.shape[1] or weight.shape[0] % groups:
        raise node.invalid(
            f"has the weight {weight.type} and {groups} groups for the input {data.type}"
        )
    kernel = windows.kernel_shape(node, rank, weight.shape[2:])
    window = windows.window(node, data.shape[2:], kernel)
    layer = convolution_nodes.OnnxConvolution(node, weight, bias, groups, window)
    result = layer.of(convolution_nodes.channels_last(node, data))
    return convolution_nodes.channels_second(node, result)


def _matmul(node: OnnxNode) -> BuiltTensor:
    """Source: numpy.matmul; a vector is a row on the left, and a column on the right."""
    lhs = node.tensor(0, DType.FLOAT32, DType.INT32, DType.INT64)
    rhs = node.tensor(1, lhs.dtype)
    if not lhs.shape or not rhs.shape:
        raise node.invalid(f"multiplies {lhs.type} by {rhs.type}; vectors or matrices are expected")
    # A vector gets an axis of size 1, which the result loses again.
    rows = lhs if len(lhs.shape) > 1 else node.reshaped(lhs, (1, *lhs.shape))
    columns = rhs if len(rhs.shape) > 1 else node.reshaped(rhs, (*rhs.shape, 1))
    product = composing.matrix_product(node, rows, columns)
    *batches, height, width = product.shape
    kept = (*([height] if len(lhs.shape) > 1 else []), *([width] if len(rhs.shape) > 1 else []))
    return node.reshaped(product, (*batches, *kept))


def _gemm(node: OnnxNode) -> BuiltTensor:
    """Alpha * A * B + beta * C, where A and B may be transposed. A product by a constant B is a
    dense layer."""
    lhs, rhs = (node.tensor(i, DType.FLOAT32) for i in (0, 1))
    for operand in (lhs, rhs):
        if len(operand.shape) != 2:
            raise node.invalid(f"has the operand {operand.type}; a matrix is expected")
    alpha = np.float32(node.attr("alpha", 1.0))
    flips = bool(node.attr("transA", 0)), bool(node.attr("transB", 0))
    offset = _offset(node)
    # A computed B is no weight of a dense layer, so the offset is added after the product.
    if not rhs.is_constant:
        result = node.emit("nn.batch_matmul", BatchMatmulAttrs(*flips), (lhs, rhs))
        return _plus(node, _times(node, result, alpha), offset)
    rows = transposed(node, lhs, (1, 0)) if flips[0] else lhs
    weight = rhs if flips[1] else transposed(node, rhs, (1, 0))
    scaled = _times(node, weight, alpha)
    bias = _bias(node, offset, scaled.shape[0], rows.shape[0])
    attrs = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=False)
    if bias is not None:
        return node.emit("nn.dense", attrs, (rows, scaled, bias))
    return _plus(node, node.emit("nn.dense", attrs, (rows, scaled)), offset)


def _offset(node: OnnxNode) -> BuiltTensor | None:
    """The last operand times beta; None if it is left out, or beta is 0."""
    offset, beta = node.optional(2, DType.FLOAT32), np.float32(node.attr("beta", 1.0))
    if offset is None or beta == 0:
        return None
    return _times(node, offset, beta)


def _times(node: OnnxNode, data: BuiltTensor, factor: np.float32) -> BuiltTensor:
    return data if factor == 1 else binary(node, "multiply", data, float(factor))


def _plus(node: OnnxNode, data: BuiltTensor, offset: BuiltTensor | None) -> BuiltTensor:
    if offset is None:
        return data
    result = binary(node, "add", data, offset)
    if result.shape != data.shape:
        raise node.invalid(f"adds {offset.type} to the product {data.type}")
    return result


def _bias(node: OnnxNode, offset: BuiltTensor | None, units: int, rows: int) -> BuiltTensor | None:
    """The offset as one value per column; None if it has more values, or is absent."""
    if offset is None:
        return None
    shape = (1,) * (2 - len(offset.shape)) + offset.shape
    if shape == (1, units) or (rows == 1 and shape[-2:] == (1, units)):
        return node.reshaped(offset, (units,))
    if offset.value is None or shape not in ((1, 1), (rows, 1)) or shape[0] != 1:
        return None
    return node.constant(np.full(units, offset.value.reshape(()), np.float32), "bias")


_EXACT = 2**24  # floats have all whole numbers up to it
_LARGEST = 255 * 255  # magnitude of a product
_INT32 = TensorProto.INT32


def _products(op: str, lhs_axis: int, rhs_axis: int) -> Importer:
    """The importer of the integer form of the float operator ``op``. If an operand has several zero
    points, they are along the axis that is given for it."""

    def importer(node: OnnxNode) -> Value:
        data, weight = (node.tensor(i, DType.INT8, DType.UINT8) for i in (0, 1))
        group, zero = Group(node), node.optional(2)
        # MatMul refuses a scalar, so any number of products is right for it.
        count = math.prod(weight.shape[1:] if op == "Conv" else weight.shape[-2:][:1])
        _check_exact(node, count, zero)
        is_computed, middle = zero is not None and zero.value is None, group.operand_name(2)
        if is_computed:
            # A constant zero point takes the place of the computed one, and the sums are corrected.
            value = np.array(128 if data.dtype is DType.UINT8 else 0, data.dtype.numpy)
            middle = group.constant(value, "middle")
        lhs = _floats(group, "x0", middle, lhs_axis)
        operands = (lhs, _floats(group, "x1", group.operand_name(3), rhs_axis))
        floats = group.add(op, operands, "floats", node.attributes())
        sums = group.add("Cast", (floats,), "sums" if is_computed else "result", to=_INT32)
        if is_computed:
            _subtract_zero(group, op, (sums, operands[1]), middle)
        return group.value()

    return importer


def _check_exact(node: OnnxNode, count: int, zero: BuiltTensor | None) -> None:
    """UnsupportedError if sums of ``count`` products are not exact."""
    weight, zeros = node.tensor(1), node.optional(3)
    # Sums of constant weights are computed in integers; others must be exact in floats.
    is_simple = weight.is_constant and (zeros is None or zeros.is_constant)
    is_simple = is_simple and (zero is None or zero.type.size == 1)
    if not is_simple and count * _LARGEST > _EXACT:
        raise node.unsupported(
            f"adds {count} products of computed integers",
            supported=f"up to {_EXACT // _LARGEST}, or constant weights and one zero point of data",
        )


def _floats(group: Group, data: str, zero: str, axis: int) -> str:
    """Integers minus their zero points, as floats."""
    zeros = group.node.optional(int(zero[1:])) if zero.startswith("x") else None
    ones = np.ones(() if zeros is None else zeros.shape, np.float32)
    scale = group.constant(ones, f"scale_{data}")
    return group.add("DequantizeLinear", (data, scale, zero), f"float_{data}", axis=axis)


def _subtract_zero(group: Group, op: str, sums: tuple[str, str], middle: str) -> None:
    """The sums, corrected from the zero point ``middle`` of the data to the computed one."""
    node = group.node
    ones = group.constant(np.ones(node.tensor(0).shape, np.float32), "ones")
    # Ones in place of the data give the sums of the weights that each output reads.
    weights = group.add(op, (ones, sums[1]), "weights", node.attributes())
    total = group.add("Cast", (weights,), "total", to=_INT32)
    both = (group.operand_name(2), middle)
    lhs, rhs = (group.add("Cast", (each,), f"{each}_int32", to=_INT32) for each in both)
    # Each product has to be less by the difference of the zero points times its weight.
    more = group.add("Mul", (group.add("Sub", (lhs, rhs), "difference"), total), "more")
    group.add("Sub", (sums[0], more), "result")


_MOST = 4  # rows: n! products, each a node


def _det(node: OnnxNode) -> BuiltTensor:
    """The determinant of each matrix of [..., n, n], expanded along the first row."""
    data = node.tensor(0, DType.FLOAT32)
    *batches, rows, columns = data.shape if len(data.shape) > 1 else (0, 1)
    if rows != columns:
        raise node.invalid(f"has the input {data.type}; square matrices are expected")
    if rows > _MOST:
        raise node.unsupported(
            f"of matrices of {rows} rows has no kernel", supported=f"up to {_MOST} rows"
        )
    result = _expanded(node, data, 0, tuple(range(columns)))
    return node.reshaped(result, tuple(batches))


def _expanded(node: OnnxNode, data: BuiltTensor, row: int, columns: tuple[int, ...]) -> BuiltTensor:
    """The determinant of the submatrix of the rows from ``row`` on and of ``columns``, [...,
    1, 1]."""
    if len(columns) == 1:
        return _element(node, data, row, columns[0])
    terms = []
    for i, column in enumerate(columns):
        element = _element(node, data, row, column)
        others = _expanded(node, data, row + 1, columns[:i] + columns[i + 1 :])
        terms.append(binary(node, "multiply", element, others))
    total = terms[0]
    for i, term in enumerate(terms[1:], 1):
        # The signs of cofactors alternate.
        total = binary(node, "subtract" if i % 2 else "add", total, term)
    return total


def _element(node: OnnxNode, data: BuiltTensor, row: int, column: int) -> BuiltTensor:
    rank = len(data.shape)
    return cut(node, cut(node, data, rank - 2, row, 1), rank - 1, column, 1)


IMPORTERS = {
    "Conv": _conv,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "ConvInteger": _products("Conv", 0, 0),
    "MatMulInteger": _products("MatMul", -2, -1),
    "Det": _det,
}
