"""The quantization of TFLite's tensors, and the accepted uint8 tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from microgen.base.errors import UnsupportedError, short
from microgen.frontends.quantization import ZERO_POINTS, DeclaredTensor
from microgen.frontends.tflite.records import ABSENT, OperatorRecord, TensorRecord
from microgen.graph.ir.graph import Array, ArrayType, Quant
from microgen.graph.unsigned import HALF

_PLAIN = ("int32", "int64")


def quant_of(record: TensorRecord, where: str) -> Quant | None:
    """The tensor's quantization; None if it has no scale, or if its dtype needs none.

    ModelError if a value or a length is impossible, UnsupportedError for schemes other than one
    scale per tensor or per channel.
    """
    stored = record.quantization
    if stored is not None and stored.details == "blockwise":
        raise UnsupportedError(
            f'tensor "{short(record.name)}" has a scale for each block of values',
            where=where,
            hint="quantize the weights with a scale per channel (in ai-edge-quantizer: "
            "granularity CHANNELWISE) and 4 or 8 bits",
        )
    if stored is None or stored.scale.size == 0 or record.dtype not in ZERO_POINTS:
        return None
    if not record.is_constant and record.dtype in _PLAIN and not stored.scale.any():
        return None  # a converter wrote parameters for numbers that it did not quantize
    called = f'tensor "{short(record.name)}"'
    if stored.details:
        raise UnsupportedError(
            f"{called} has custom quantization",
            where=where,
            hint="supported: one scale per tensor, or one per channel for weights",
        )
    declared = DeclaredTensor(called, record.shape, record.dtype, record.is_constant, where, True)
    return declared.quant(stored.scale, stored.zero_point, stored.axis)


# Which quantized uint8 tensors TFLite models may have, and how LiteRT computes with them.

DETECTION = "CUSTOM:TFLite_Detection_PostProcess"
# Operators whose results LiteRT computes in uint8 exactly as their importers do in int8. It has
# other arithmetic for uint8 in L2_NORMALIZATION, and no uint8 in others.
EXACT = frozenset(
    f"""
    ADD ARG_MAX ARG_MIN ASSIGN_VARIABLE AVERAGE_POOL_2D BATCH_TO_SPACE_ND BROADCAST_TO CAST
    CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE DIV EQUAL EXPAND_DIMS FILL
    FULLY_CONNECTED GATHER GATHER_ND GREATER GREATER_EQUAL HARD_SWISH LEAKY_RELU LESS LESS_EQUAL
    LOGISTIC LOG_SOFTMAX MAXIMUM MAX_POOL_2D MEAN MINIMUM MIRROR_PAD MUL NOT_EQUAL PACK PAD
    PADV2 PRELU QUANTIZE RANK READ_VARIABLE REDUCE_MAX REDUCE_MIN RELU RELU6 RELU_N1_TO_1 RESHAPE
    RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 SELECT SELECT_V2 SHAPE
    SLICE SOFTMAX SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT SPLIT_V SQUEEZE STABLEHLO_COMPOSITE
    STRIDED_SLICE SUB SUM TANH TILE TRANSPOSE TRANSPOSE_CONV UNPACK {DETECTION}
    """.split()
)
CONVERSIONS = frozenset(("CAST", "DEQUANTIZE", "QUANTIZE"))
_MIXED = CONVERSIONS | {DETECTION}  # its outputs are float32
_OTHERS = ("float32", "int8", "int16")  # LiteRT computes none of these together with uint8


def is_signed_inside(record: TensorRecord) -> bool:
    """Whether a tensor is a quantized uint8 tensor. Without a scale, uint8 values are plain
    numbers."""
    stored = record.quantization
    return record.dtype == "uint8" and stored is not None and stored.scale.size > 0


def lacks(
    operator: OperatorRecord, records: Sequence[TensorRecord], exact: Collection[str]
) -> Iterator[str]:
    """The unsupported part of an operator that uses quantized uint8 tensors, if there is one.
    microgen can compute the operators ``exact``.
    """
    used = [records[i] for i in (*operator.inputs, *operator.outputs) if i != ABSENT]
    if not any(map(is_signed_inside, used)):
        return
    others = (record.dtype for record in used if record.dtype in _OTHERS)
    if operator.key not in exact:
        yield operator.name
    elif operator.key not in _MIXED and (other := next(others, None)):
        yield f"{operator.name} with {other} tensors, too"


def rescaling(data: ArrayType, output: ArrayType) -> Array:
    """The table int8[256] that converts each int8 value, from -128 on, to the output's
    quantization."""
    # Source: TFLite reference/concatenation.h, ConcatenationWithScaling of uint8. It computes in
    # float32, and rounds halves away from zero.
    with np.errstate(over="ignore", invalid="ignore"):
        scale = np.float32(data.scale) * (np.float32(1) / np.float32(output.scale))
        bias = np.float32(-HALF - data.zero_point) * scale
        exact = np.arange(2 * HALF, dtype=np.float32) * scale + bias
    exact = np.nan_to_num(exact.astype(np.float64))  # scales whose ratio exceeds float32
    rounded = np.trunc(exact + np.copysign(0.5, exact)) + output.zero_point
    table: Array = np.clip(rounded, -HALF, HALF - 1).astype(np.int8)
    return table
