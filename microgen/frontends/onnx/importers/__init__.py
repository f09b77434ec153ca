"""Importers of ONNX operators, one function each, by the operator's name. Operators of other
domains than ONNX's have the domain in front: ``com.microsoft.QLinearAdd``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from microgen.frontends import importers
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import Attrs, DType

Importer = Callable[[OnnxNode], Value]


@functools.cache
def registry() -> Mapping[str, Importer]:
    """Operator name -> importer, sorted."""
    return importers.table(__name__, __path__)


def direct(
    op: str, attrs: Attrs, *accepted: DType, dtype: DType | None = None
) -> Callable[[OnnxNode], BuiltTensor]:
    """The importer of an operator that is one node of the graph. ``accepted`` are the dtypes of the
    first operand. The result has the operand's dtype, unless ``dtype`` is given."""

    def importer(node: OnnxNode) -> BuiltTensor:
        operands = node.tensors()
        # Operands of another dtype than the first are refused by the schema or by the op.
        node.expect(operands[0], *accepted)
        return node.emit(op, attrs, operands, dtype=dtype)

    return importer
