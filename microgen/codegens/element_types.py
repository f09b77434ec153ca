"""The C types of tensors' elements."""

from __future__ import annotations

from microgen.ir.graph import DType

C_TYPES = {
    DType.INT8: "int8_t",
    DType.UINT8: "uint8_t",
    DType.INT16: "int16_t",
    DType.INT32: "int32_t",
    DType.INT64: "int64_t",
    DType.FLOAT32: "float",
    DType.BOOL: "uint8_t",  # 0 or 1
}
