"""Det: the determinant of small matrices."""

from __future__ import annotations

from microgen.frontends.onnx.composing import binary, part
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import DType

_MOST = 4  # rows: n! products, each a node


def _det(node: OnnxNode) -> Tensor:
    """The determinant of each matrix of [..., n, n], expanded along the first row."""
    data = node.tensor(0)
    node.expect(data, DType.FLOAT32)
    *batches, rows, columns = data.shape if len(data.shape) > 1 else (0, 1)
    if rows != columns:
        raise node.invalid(f"has the input {data.type}; square matrices are expected")
    if rows > _MOST:
        raise node.unsupported(
            f"of matrices of {rows} rows has no kernel", supported=f"up to {_MOST} rows"
        )
    found = _expanded(node, data, 0, tuple(range(columns)))
    return node.reshaped(found, tuple(batches))


def _expanded(node: OnnxNode, data: Tensor, row: int, columns: tuple[int, ...]) -> Tensor:
    """The determinant of the rows from ``row`` on and these columns, [..., 1, 1]."""
    if len(columns) == 1:
        return _element(node, data, row, columns[0])
    terms = [
        binary(
            node,
            "multiply",
            _element(node, data, row, column),
            _expanded(node, data, row + 1, columns[:i] + columns[i + 1 :]),
        )
        for i, column in enumerate(columns)
    ]
    total = terms[0]
    for i, term in enumerate(terms[1:], 1):
        total = binary(node, "subtract" if i % 2 else "add", total, term)
    return total


def _element(node: OnnxNode, data: Tensor, row: int, column: int) -> Tensor:
    rank = len(data.shape)
    return part(node, part(node, data, rank - 2, row, 1), rank - 1, column, 1)


IMPORTERS = {"Det": _det}
