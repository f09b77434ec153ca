"""Running sums and products: CumSum and CumProd."""

from __future__ import annotations

from microgen.frontends.onnx.importers import Importer, arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.ops.reductions.running import DTYPES, CumprodAttrs, CumsumAttrs


def _running(op: str, attrs: type[CumsumAttrs] | type[CumprodAttrs]) -> Importer:
    def importer(node: OnnxNode) -> Tensor:
        data = node.tensor(0)
        node.expect(data, *DTYPES)
        stated = node.constant_of(1, "axis")
        if stated.size != 1 or not data.shape:
            raise node.invalid(f"has {stated.size} axes for {data.type}; one is expected")
        axis = arguments.checked_axis(node, int(stated.reshape(())), len(data.shape))
        exclusive, reverse = (bool(node.attr(name, 0)) for name in ("exclusive", "reverse"))
        return node.emit(op, attrs(axis, exclusive, reverse), (data,))

    return importer


IMPORTERS = {
    "CumProd": _running("cumprod", CumprodAttrs),
    "CumSum": _running("cumsum", CumsumAttrs),
}
