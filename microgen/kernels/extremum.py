"""The kernels of maximum and minimum."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import base, broadcast

_SUFFIXES = {DType.INT8: "s8", DType.INT16: "s16", DType.INT32: "s32", DType.FLOAT32: "f32"}


def kernels(op: str) -> tuple[base.Implementation, ...]:
    """``mg_<op>_<dtype>`` for every dtype."""
    return tuple(
        broadcast.kernel(f"mg_{op}_{suffix}", dtype, broadcast.shapes, family="extremum")
        for dtype, suffix in _SUFFIXES.items()
    )
