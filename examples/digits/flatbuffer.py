"""Writes the flatbuffer of a .tflite file, with the builders of the ``tflite`` package.

The order of every object is fixed, so equal networks give equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flatbuffers
import numpy as np
import numpy.typing as npt
import tflite
from quantize import Scale

SCHEMA_VERSION = 3
# Readers map constants in place and expect them aligned to 16 bytes (schema.fbs: force_align).
BUFFER_ALIGNMENT = 16
TENSOR_TYPES = {"int8": tflite.TensorType.INT8, "int32": tflite.TensorType.INT32}

# Writes an operator's options into the builder; returns their union tag and offset.
Options = Callable[[flatbuffers.Builder], tuple[int, int]]


class ModelWriter:
    """Collects tensors, constants and operators; ``finish`` returns the file's bytes."""

    def __init__(self, name: str, description: str) -> None:
        self._builder = flatbuffers.Builder(1024)
        self._name = name
        self._description = description
        self._tensors: list[int] = []
        self._operators: list[int] = []
        self._codes: list[tuple[int, int]] = []
        # By convention buffer 0 is empty and stands for "computed at run time".
        self._buffers: list[bytes] = [b""]

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        scale: Scale | None,
        buffer: int = 0,
    ) -> int:
        """Add a tensor; returns its index."""
        builder = self._builder
        name_offset = builder.CreateString(name)
        shape_offset = builder.CreateNumpyVector(np.array(shape, np.int32))
        scale_offset = _quantization(builder, scale) if scale else None
        tflite.TensorStart(builder)
        tflite.TensorAddName(builder, name_offset)
        tflite.TensorAddShape(builder, shape_offset)
        tflite.TensorAddType(builder, TENSOR_TYPES[dtype.name])
        tflite.TensorAddBuffer(builder, buffer)
        if scale_offset is not None:
            tflite.TensorAddQuantization(builder, scale_offset)
        self._tensors.append(tflite.TensorEnd(builder))
        return len(self._tensors) - 1

    def constant(self, name: str, values: npt.NDArray[Any], scale: Scale | None) -> int:
        """Add a tensor with data; returns its index."""
        self._buffers.append(values.astype(values.dtype.newbyteorder("<")).tobytes())
        return self.tensor(name, values.shape, values.dtype, scale, len(self._buffers) - 1)

    def operator(
        self, code: int, version: int, inputs: Sequence[int], output: int, options: Options
    ) -> None:
        """Add an operator: a BuiltinOperator, the tensors it reads and the one it writes."""
        if (code, version) not in self._codes:
            self._codes.append((code, version))
        builder = self._builder
        inputs_offset = builder.CreateNumpyVector(np.array(inputs, np.int32))
        outputs_offset = builder.CreateNumpyVector(np.array([output], np.int32))
        options_type, options_offset = options(builder)
        tflite.OperatorStart(builder)
        tflite.OperatorAddOpcodeIndex(builder, self._codes.index((code, version)))
        tflite.OperatorAddInputs(builder, inputs_offset)
        tflite.OperatorAddOutputs(builder, outputs_offset)
        tflite.OperatorAddBuiltinOptionsType(builder, options_type)
        tflite.OperatorAddBuiltinOptions(builder, options_offset)
        self._operators.append(tflite.OperatorEnd(builder))

    def finish(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """The file, ready to write."""
        builder = self._builder
        # The oldest runtime that has every operator version used here.
        self._buffers.append(b"1.14.0".ljust(16, b"\0"))
        metadata = _metadata(builder, "min_runtime_version", len(self._buffers) - 1)
        subgraphs = _offsets(builder, [self._subgraph(inputs, outputs)])
        codes = _offsets(builder, [_operator_code(builder, *code) for code in self._codes])
        buffers = _offsets(builder, [_buffer(builder, data) for data in self._buffers])
        metadata_vector = _offsets(builder, [metadata])
        description = builder.CreateString(self._description)
        tflite.ModelStart(builder)
        tflite.ModelAddVersion(builder, SCHEMA_VERSION)
        tflite.ModelAddOperatorCodes(builder, codes)
        tflite.ModelAddSubgraphs(builder, subgraphs)
        tflite.ModelAddDescription(builder, description)
        tflite.ModelAddBuffers(builder, buffers)
        tflite.ModelAddMetadata(builder, metadata_vector)
        builder.Finish(tflite.ModelEnd(builder), file_identifier=b"TFL3")
        return bytes(builder.Output())

    def _subgraph(self, inputs: Sequence[int], outputs: Sequence[int]) -> int:
        builder = self._builder
        name = builder.CreateString(self._name)
        tensors = _offsets(builder, self._tensors)
        inputs_offset = builder.CreateNumpyVector(np.array(inputs, np.int32))
        outputs_offset = builder.CreateNumpyVector(np.array(outputs, np.int32))
        operators = _offsets(builder, self._operators)
        tflite.SubGraphStart(builder)
        tflite.SubGraphAddTensors(builder, tensors)
        tflite.SubGraphAddInputs(builder, inputs_offset)
        tflite.SubGraphAddOutputs(builder, outputs_offset)
        tflite.SubGraphAddOperators(builder, operators)
        tflite.SubGraphAddName(builder, name)
        return int(tflite.SubGraphEnd(builder))


def conv2d(activation: int) -> Options:
    """Stride 1, SAME."""

    def write(builder: flatbuffers.Builder) -> tuple[int, int]:
        tflite.Conv2DOptionsStart(builder)
        tflite.Conv2DOptionsAddPadding(builder, tflite.Padding.SAME)
        tflite.Conv2DOptionsAddStrideW(builder, 1)
        tflite.Conv2DOptionsAddStrideH(builder, 1)
        tflite.Conv2DOptionsAddFusedActivationFunction(builder, activation)
        return tflite.BuiltinOptions.Conv2DOptions, tflite.Conv2DOptionsEnd(builder)

    return write


def depthwise_conv2d(activation: int) -> Options:
    """Stride 1, SAME, depth multiplier 1."""

    def write(builder: flatbuffers.Builder) -> tuple[int, int]:
        tflite.DepthwiseConv2DOptionsStart(builder)
        tflite.DepthwiseConv2DOptionsAddPadding(builder, tflite.Padding.SAME)
        tflite.DepthwiseConv2DOptionsAddStrideW(builder, 1)
        tflite.DepthwiseConv2DOptionsAddStrideH(builder, 1)
        tflite.DepthwiseConv2DOptionsAddDepthMultiplier(builder, 1)
        tflite.DepthwiseConv2DOptionsAddFusedActivationFunction(builder, activation)
        return (
            tflite.BuiltinOptions.DepthwiseConv2DOptions,
            tflite.DepthwiseConv2DOptionsEnd(builder),
        )

    return write


def add(activation: int) -> Options:
    def write(builder: flatbuffers.Builder) -> tuple[int, int]:
        tflite.AddOptionsStart(builder)
        tflite.AddOptionsAddFusedActivationFunction(builder, activation)
        return tflite.BuiltinOptions.AddOptions, tflite.AddOptionsEnd(builder)

    return write


def pool2d(size: int) -> Options:
    """Windows of size x size that do not overlap."""

    def write(builder: flatbuffers.Builder) -> tuple[int, int]:
        tflite.Pool2DOptionsStart(builder)
        tflite.Pool2DOptionsAddPadding(builder, tflite.Padding.VALID)
        tflite.Pool2DOptionsAddStrideW(builder, size)
        tflite.Pool2DOptionsAddStrideH(builder, size)
        tflite.Pool2DOptionsAddFilterWidth(builder, size)
        tflite.Pool2DOptionsAddFilterHeight(builder, size)
        return tflite.BuiltinOptions.Pool2DOptions, tflite.Pool2DOptionsEnd(builder)

    return write


def reshape(shape: tuple[int, ...]) -> Options:
    def write(builder: flatbuffers.Builder) -> tuple[int, int]:
        shape_offset = builder.CreateNumpyVector(np.array(shape, np.int32))
        tflite.ReshapeOptionsStart(builder)
        tflite.ReshapeOptionsAddNewShape(builder, shape_offset)
        return tflite.BuiltinOptions.ReshapeOptions, tflite.ReshapeOptionsEnd(builder)

    return write


def dense(activation: int) -> Options:
    def write(builder: flatbuffers.Builder) -> tuple[int, int]:
        tflite.FullyConnectedOptionsStart(builder)
        tflite.FullyConnectedOptionsAddFusedActivationFunction(builder, activation)
        return (
            tflite.BuiltinOptions.FullyConnectedOptions,
            tflite.FullyConnectedOptionsEnd(builder),
        )

    return write


def softmax() -> Options:
    def write(builder: flatbuffers.Builder) -> tuple[int, int]:
        tflite.SoftmaxOptionsStart(builder)
        tflite.SoftmaxOptionsAddBeta(builder, 1.0)
        return tflite.BuiltinOptions.SoftmaxOptions, tflite.SoftmaxOptionsEnd(builder)

    return write


def _quantization(builder: flatbuffers.Builder, scale: Scale) -> int:
    zero_points = np.full(scale.scale.size, scale.zero_point, np.int64)
    scale_offset = builder.CreateNumpyVector(scale.scale)
    zero_point_offset = builder.CreateNumpyVector(zero_points)
    tflite.QuantizationParametersStart(builder)
    tflite.QuantizationParametersAddScale(builder, scale_offset)
    tflite.QuantizationParametersAddZeroPoint(builder, zero_point_offset)
    tflite.QuantizationParametersAddQuantizedDimension(builder, scale.axis)
    return int(tflite.QuantizationParametersEnd(builder))


def _operator_code(builder: flatbuffers.Builder, code: int, version: int) -> int:
    tflite.OperatorCodeStart(builder)
    # Both fields are set, because readers from before 2020 know only the int8 one.
    tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, code)
    tflite.OperatorCodeAddBuiltinCode(builder, code)
    tflite.OperatorCodeAddVersion(builder, version)
    return int(tflite.OperatorCodeEnd(builder))


def _buffer(builder: flatbuffers.Builder, data: bytes) -> int:
    if not data:
        tflite.BufferStart(builder)
        return int(tflite.BufferEnd(builder))
    builder.StartVector(1, len(data), BUFFER_ALIGNMENT)
    for byte in reversed(data):
        builder.PrependByte(byte)
    data_offset = builder.EndVector()
    tflite.BufferStart(builder)
    tflite.BufferAddData(builder, data_offset)
    return int(tflite.BufferEnd(builder))


def _metadata(builder: flatbuffers.Builder, name: str, buffer: int) -> int:
    name_offset = builder.CreateString(name)
    tflite.MetadataStart(builder)
    tflite.MetadataAddName(builder, name_offset)
    tflite.MetadataAddBuffer(builder, buffer)
    return int(tflite.MetadataEnd(builder))


def _offsets(builder: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    """A vector of tables."""
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())
