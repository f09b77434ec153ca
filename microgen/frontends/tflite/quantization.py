"""Makes ``Quant`` from the quantization arrays of a TFLite tensor."""

from __future__ import annotations

from microgen.base.errors import UnsupportedError, short
from microgen.frontends.quantization import ZERO_POINTS, Declared
from microgen.frontends.tflite.records import TensorRecord
from microgen.graph.ir.graph import Quant

_PLAIN = ("int32", "int64")


def quant_of(record: TensorRecord, where: str) -> Quant | None:
    """The tensor's quantization; None if it has no scale, or if its dtype needs none.

    ModelError if a value or a length is impossible, UnsupportedError for schemes other than one
    scale per tensor or per channel.
    """
    found = record.quantization
    if found is None or found.scale.size == 0 or record.dtype not in ZERO_POINTS:
        return None
    if not record.is_constant and record.dtype in _PLAIN and not found.scale.any():
        return None  # a converter wrote parameters for numbers that it did not quantize
    called = f'tensor "{short(record.name)}"'
    if found.has_details:
        raise UnsupportedError(
            f"{called} has custom or blockwise quantization",
            where=where,
            hint="supported: one scale per tensor, or one per channel for weights",
        )
    declared = Declared(called, record.shape, record.dtype, record.is_constant, where, True)
    return declared.quant(found.scale, found.zero_point, found.axis)
