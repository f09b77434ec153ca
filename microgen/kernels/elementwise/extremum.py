"""Kernels for maximum and minimum."""

from __future__ import annotations

from dataclasses import replace

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast

_SUFFIXES = {DType.INT8: "s8", DType.INT16: "s16", DType.INT32: "s32"}


def kernels(op: str) -> tuple[base.Implementation, ...]:
    """``mg_<op>_<dtype>`` for every dtype, and ``mg_<op>_nan_f32``, which keeps NaN."""
    return (
        *(
            broadcast.kernel(f"mg_{op}_{suffix}", dtype, broadcast.shapes, family="extremum")
            for dtype, suffix in _SUFFIXES.items()
        ),
        *broadcast.of_integers(op, "integer_extremum", but=tuple(_SUFFIXES)),
        _of_floats(f"mg_{op}_f32", "extremum", keeps_nan=False),
        _of_floats(f"mg_{op}_nan_f32", "extremum_nan", keeps_nan=True),
    )


def _of_floats(symbol: str, family: str, *, keeps_nan: bool) -> base.Implementation:
    kernel = broadcast.kernel(symbol, DType.FLOAT32, broadcast.shapes, family=family)

    def refusal(node: Node, graph: Graph) -> str | None:
        why = kernel.refusal(node, graph)
        if why or getattr(node.attrs, "keeps_nan", False) is keeps_nan:
            return why
        why = "the kernel keeps NaN" if keeps_nan else "NaN of either operand must be kept"
        return base.Mismatch(base.Trait.ARITHMETIC, why)

    return replace(kernel, refusal=refusal)


BY_OP = {
    "maximum": kernels("maximum"),
    "minimum": kernels("minimum"),
}
