"""The comparisons: each op, its TFLite operator, and the dtypes that both accept."""

from __future__ import annotations

from microgen.graph.ir.graph import DType

OPERATORS = {
    "less": ("LESS", "LessOptions"),
    "less_equal": ("LESS_EQUAL", "LessEqualOptions"),
    "greater": ("GREATER", "GreaterOptions"),
    "greater_equal": ("GREATER_EQUAL", "GreaterEqualOptions"),
    "equal": ("EQUAL", "EqualOptions"),
    "not_equal": ("NOT_EQUAL", "NotEqualOptions"),
}
ORDERED = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32)
QUANTIZED = (DType.INT8, DType.INT16)
PAIRS = [
    *((op, dtype) for op in OPERATORS for dtype in ORDERED),
    ("equal", DType.BOOL),
    ("not_equal", DType.BOOL),
]
