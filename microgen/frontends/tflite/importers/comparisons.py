"""Operators that compare two tensors, and logic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tflite.EqualOptions import EqualOptions
from tflite.GreaterEqualOptions import GreaterEqualOptions
from tflite.GreaterOptions import GreaterOptions
from tflite.LessEqualOptions import LessEqualOptions
from tflite.LessOptions import LessOptions
from tflite.LogicalAndOptions import LogicalAndOptions
from tflite.LogicalNotOptions import LogicalNotOptions
from tflite.LogicalOrOptions import LogicalOrOptions
from tflite.NotEqualOptions import NotEqualOptions

from microgen.frontends.tflite.importers.arguments import Importer, plain
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs, LogicalAttrs
from microgen.graph.ops.moves.layouts import BroadcastToAttrs


def _equality(op: str, schema: Any, *, if_equal: bool) -> Importer:
    """The importer of EQUAL or NOT_EQUAL."""

    def importer(layer: FileLayer) -> BuiltTensor:
        # ai-edge-quantizer gives a comparison with infinity, such as that of torch's logsumexp, a
        # constant of infinite scale. LiteRT converts the scale to an integer, which is undefined in
        # C: it compares with 0 on x86, and aborts on ARM. No quantized number is infinite, so the
        # result is known.
        infinite = [position for position in range(2) if _is_infinite(layer, position)]
        if len(infinite) != 1:
            return layer.computed(op, ComparisonAttrs())
        constant, other = layer.record(infinite[0]), layer.data(1 - infinite[0])
        layer.expect(other, DType(constant.dtype))
        try:
            shape = np.broadcast_shapes(constant.shape, other.shape)
        except ValueError as error:
            raise layer.invalid(f"compares tensors of other shapes: {error}") from None
        known = layer.constant(np.array(not if_equal), "known")
        return layer.emit("broadcast_to", BroadcastToAttrs(shape), (known,), layer.output())

    return Importer(importer, (2,), optional=schema)


def _is_infinite(layer: FileLayer, position: int) -> bool:
    """Whether an input is a quantized constant whose only scale is infinite."""
    record = layer.record(position)
    is_quantized = record.is_constant and record.dtype in ("int8", "int16")
    scales = record.quantization.scale.tolist() if is_quantized and record.quantization else []
    return scales == [math.inf]


_COMPARISON, _LOGICAL = ComparisonAttrs(), LogicalAttrs()


IMPORTERS = {
    "EQUAL": _equality("equal", EqualOptions, if_equal=True),
    "GREATER": plain("greater", _COMPARISON, 2, GreaterOptions),
    "GREATER_EQUAL": plain("greater_equal", _COMPARISON, 2, GreaterEqualOptions),
    "LESS": plain("less", _COMPARISON, 2, LessOptions),
    "LESS_EQUAL": plain("less_equal", _COMPARISON, 2, LessEqualOptions),
    "LOGICAL_AND": plain("logical_and", _LOGICAL, 2, LogicalAndOptions),
    "LOGICAL_NOT": plain("logical_not", _LOGICAL, 1, LogicalNotOptions),
    "LOGICAL_OR": plain("logical_or", _LOGICAL, 2, LogicalOrOptions),
    "NOT_EQUAL": _equality("not_equal", NotEqualOptions, if_equal=False),
}
