"""Shared by maximum and minimum."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.graph.ir.graph import Attrs, DType, TensorType
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise import broadcast

_DTYPES = (DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32)


def check(_attrs: Attrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> str | None:
    """One dtype throughout. Stored values are compared whatever the quantizations, as in TFLite; a
    converter gives all three tensors the same one."""
    return broadcast.constraint(inputs, outputs, accepted=_DTYPES, plain=INTEGERS)
