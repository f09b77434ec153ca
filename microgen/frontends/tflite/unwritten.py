"""The rows that LiteRT leaves unwritten in outputs of TFLite_Detection_PostProcess.

They keep old contents of the memory. microgen's firmware writes zeros, so the oracle's are zeroed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from microgen.frontends.tflite import flexbuffer
from microgen.frontends.tflite.quantization import DETECTION
from microgen.frontends.tflite.records import FileRecord, OperatorRecord
from microgen.graph.ir.graph import Array


@dataclass(frozen=True, slots=True)
class UnwrittenRows:
    """The rows [1, n, ...] of one output."""

    number: int  # the tensor with the number of detections
    each: int  # rows of a detection
    written: int  # of these, the first ones have values

    def settled(self, value: Array, count: int) -> Array:
        """The output of so many detections, with zeros where LiteRT writes nothing."""
        row = np.arange(value.shape[1])
        has_value = (row // self.each < count) & (row % self.each < self.written)
        return np.where(has_value.reshape(1, -1, *[1] * (value.ndim - 2)), value, 0)


def rows(model: FileRecord) -> Mapping[int, UnwrittenRows]:
    """The outputs that have such rows, by the numbers of their tensors."""
    found: dict[int, UnwrittenRows] = {}
    for operator in model.operators:
        if operator.key == DETECTION and len(operator.outputs) == 4:
            found |= dict.fromkeys(operator.outputs[:3], _of(model, operator))
    return found


def _of(model: FileRecord, operator: OperatorRecord) -> UnwrittenRows:
    """The rows of a detection. CORRUPT if its options are, which its importer has refused."""
    options = flexbuffer.mapping(model.reader.array(operator.table, "CustomOptions").tobytes())
    number = operator.outputs[3]
    if flexbuffer.optional(options, "use_regular_nms", "AsBool", 0):
        return UnwrittenRows(number, 1, 1)
    each, classes = (
        int(options[name].AsInt) for name in ("max_classes_per_detection", "num_classes")
    )
    return UnwrittenRows(number, each, min(each, classes))
