"""Writes small .tflite files for tests: valid, unusual or wrong ones, as the test asks."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import numpy.typing as npt
import tflite

SCHEMA_VERSION = 3
_BUFFER_ALIGNMENT = 16  # schema.fbs: Buffer.data has force_align 16

Array = npt.NDArray[Any]
Ref = str | int  # a tensor's name or index; -1 means that an optional input is left out
OptionValue = int | float | bool | str | bytes | Sequence[int] | Sequence[float]


@dataclass(frozen=True)
class LevelSpec:
    """One level of a sparse tensor: dense with ``size`` indices, or compressed, with segments and
    indices of an integer ``dtype``."""

    size: int = 0
    segments: Sequence[int] = ()
    indices: Sequence[int] = ()
    dtype: str = "int32"


@dataclass(frozen=True)
class SparsitySpec:
    """Which places of a tensor its data are for: the fields of schema.fbs's SparsityParameters."""

    order: Sequence[int]
    levels: Sequence[LevelSpec]
    blocks: Sequence[int] = ()


@dataclass(frozen=True)
class TensorSpec:
    """One tensor.

    ``dtype`` is a name of schema.fbs's TensorType, in lower case. ``data`` makes it a constant;
    bytes are stored unchanged, so a buffer may have a wrong size. Without ``scale`` it has no
    quantization. ``shape_signature`` has -1 for dynamic dimensions. ``shares`` names an earlier
    tensor that has the same buffer.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "int8"
    data: Array | bytes | None = None
    scale: tuple[float, ...] = ()
    zero_point: tuple[int, ...] = ()
    axis: int = 0
    shape_signature: tuple[int, ...] | None = None
    is_variable: bool = False
    shares: str = ""
    sparsity: SparsitySpec | None = None


@dataclass(frozen=True)
class OperatorSpec:
    """One operator.

    ``code`` is a name of schema.fbs's BuiltinOperator. ``options_type`` is the name of its options
    table. ``options`` are the table's fields with their names in schema.fbs, in camelCase.
    """

    code: str
    inputs: Sequence[Ref]
    outputs: Sequence[Ref]
    options_type: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    version: int = 1
    custom_code: str = ""
    intermediates: Sequence[Ref] = ()
    custom_options: bytes = b""


def packed(values: Array) -> bytes:
    """Values of int4, two to a byte, the first in the lower half."""
    halves = np.append(values.reshape(-1) % 16, [0] * (values.size % 2)).astype(np.uint8)
    return bytes(halves[0::2] | halves[1::2] << 4)


@dataclass(frozen=True)
class SignatureSpec:
    """A signature: its key, and the pairs of a name and a tensor that it lists, in order."""

    key: str
    inputs: Sequence[tuple[str, Ref]] = ()
    outputs: Sequence[tuple[str, Ref]] = ()


@dataclass(frozen=True)
class SubgraphSpec:
    """A further subgraph of a file. If it has a ``signature``, the name is that of a signature."""

    tensors: Sequence[TensorSpec]
    operators: Sequence[OperatorSpec]
    inputs: Sequence[Ref] = ()
    outputs: Sequence[Ref] = ()
    signature: str = ""


def build_model(
    tensors: Sequence[TensorSpec],
    operators: Sequence[OperatorSpec],
    inputs: Sequence[Ref],
    outputs: Sequence[Ref],
    description: str = "",
    signatures: Sequence[str | SignatureSpec] = (),
    more: Sequence[SubgraphSpec] = (),
) -> bytes:
    """The bytes of a .tflite file with one subgraph, or with one for each of these signatures,
    followed by ``more``. A signature that is a key only lists no inputs and outputs."""
    writer = _Writer(tensors)
    return writer.model(operators, inputs, outputs, description, signatures, more)


@functools.cache
def _schema(name: str) -> Any:
    """The generated code of a table."""
    return importlib.import_module(f"tflite.{name}")


class _Writer:
    def __init__(self, tensors: Sequence[TensorSpec]) -> None:
        self._builder = flatbuffers.Builder(1024)
        self._index = {tensor.name: i for i, tensor in enumerate(tensors)}
        self._buffers: list[bytes] = [b""]  # buffer 0 means computed at run time
        self._buffer_of: dict[str, int] = {}
        self._codes: list[tuple[str, int, str]] = []
        self._tensors = [self._tensor(tensor) for tensor in tensors]

    def model(
        self,
        operators: Sequence[OperatorSpec],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        description: str,
        signatures: Sequence[str | SignatureSpec] = (),
        more: Sequence[SubgraphSpec] = (),
    ) -> bytes:
        builder = self._builder
        graph = self._graph("main", operators, inputs, outputs)
        specs = [SignatureSpec(own) if isinstance(own, str) else own for own in signatures]
        signed = [self._signature(spec, i) for i, spec in enumerate(specs)]
        graphs = [graph] * max(1, len(signed))
        for spec in more:
            self._index = {tensor.name: i for i, tensor in enumerate(spec.tensors)}
            self._tensors = [self._tensor(tensor) for tensor in spec.tensors]
            if spec.signature:
                ends = ([(str(ref), ref) for ref in refs] for refs in (spec.inputs, spec.outputs))
                signed.append(self._signature(SignatureSpec(spec.signature, *ends), len(graphs)))
            graphs.append(self._graph("more", spec.operators, spec.inputs, spec.outputs))
        model = {
            "Version": SCHEMA_VERSION,
            "Subgraphs": self._vector(graphs),
            "OperatorCodes": self._vector([self._code(*code) for code in self._codes]),
            "Description": builder.CreateString(description),
            "Buffers": self._vector([self._buffer(data) for data in self._buffers]),
            "SignatureDefs": self._vector(signed),
        }
        builder.Finish(self._table("Model", model), b"TFL3")
        return bytes(builder.Output())

    def _graph(
        self,
        name: str,
        operators: Sequence[OperatorSpec],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
    ) -> int:
        fields = {
            "Tensors": self._vector(self._tensors),
            "Inputs": self._ints(self._indices(inputs)),
            "Outputs": self._ints(self._indices(outputs)),
            "Operators": self._vector([self._operator(spec) for spec in operators]),
            "Name": self._builder.CreateString(name),
        }
        return self._table("SubGraph", fields)

    def _signature(self, spec: SignatureSpec, subgraph: int) -> int:
        fields = {
            "SignatureKey": self._builder.CreateString(spec.key),
            "SubgraphIndex": subgraph,
            "Inputs": self._vector([self._port(*pair) for pair in spec.inputs]),
            "Outputs": self._vector([self._port(*pair) for pair in spec.outputs]),
        }
        return self._table("SignatureDef", fields)

    def _port(self, name: str, ref: Ref) -> int:
        fields = {
            "Name": self._builder.CreateString(name),
            "TensorIndex": self._indices([ref])[0],
        }
        return self._table("TensorMap", fields)

    def _table(self, name: str, fields: Mapping[str, Any]) -> int:
        module = _schema(name)
        module.Start(self._builder)
        for field_name, value in fields.items():
            getattr(module, f"Add{field_name}")(self._builder, value)
        return int(module.End(self._builder))

    def _vector(self, offsets: Sequence[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())

    def _ints(self, values: Sequence[float]) -> int:
        return int(self._builder.CreateNumpyVector(np.array(values, np.int32)))

    def _indices(self, refs: Sequence[Ref]) -> list[int]:
        return [self._index[ref] if isinstance(ref, str) else ref for ref in refs]

    def _tensor(self, spec: TensorSpec) -> int:
        fields: dict[str, Any] = {
            "Shape": self._ints(spec.shape),
            "Type": getattr(tflite.TensorType, spec.dtype.upper()),
            "Buffer": self._add_buffer(spec),
            "Name": self._builder.CreateString(spec.name),
            "IsVariable": spec.is_variable,
        }
        if spec.scale:
            fields["Quantization"] = self._quantization(spec)
        if spec.shape_signature is not None:
            fields["ShapeSignature"] = self._ints(spec.shape_signature)
        if spec.sparsity is not None:
            fields["Sparsity"] = self._sparsity(spec.sparsity)
        return self._table("Tensor", fields)

    def _sparsity(self, spec: SparsitySpec) -> int:
        fields = {
            "TraversalOrder": self._ints(spec.order),
            "BlockMap": self._ints(spec.blocks),
            "DimMetadata": self._vector([self._level(level) for level in spec.levels]),
        }
        return self._table("SparsityParameters", fields)

    def _level(self, spec: LevelSpec) -> int:
        fields: dict[str, Any] = {"Format": int(bool(spec.segments)), "DenseSize": spec.size}
        if spec.segments:
            vector = f"{spec.dtype.capitalize()}Vector"
            for name, values in (("Segments", spec.segments), ("Indices", spec.indices)):
                numbers = self._builder.CreateNumpyVector(np.array(values, spec.dtype))
                fields[f"Array{name}Type"] = getattr(tflite.SparseIndexVector, vector)
                fields[f"Array{name}"] = self._table(vector, {"Values": numbers})
        return self._table("DimensionMetadata", fields)

    def _add_buffer(self, spec: TensorSpec) -> int:
        if spec.shares:
            return self._buffer_of[spec.shares]
        if spec.data is None:
            return 0
        data = spec.data
        if not isinstance(data, bytes):
            data = data.astype(np.dtype(spec.dtype).newbyteorder("<")).tobytes()
        self._buffers.append(data)
        self._buffer_of[spec.name] = len(self._buffers) - 1
        return len(self._buffers) - 1

    def _quantization(self, spec: TensorSpec) -> int:
        fields = {
            "Scale": self._builder.CreateNumpyVector(np.array(spec.scale, np.float32)),
            "ZeroPoint": self._builder.CreateNumpyVector(np.array(spec.zero_point, np.int64)),
            "QuantizedDimension": spec.axis,
        }
        return self._table("QuantizationParameters", fields)

    def _operator(self, spec: OperatorSpec) -> int:
        code = (spec.code, spec.version, spec.custom_code)
        if code not in self._codes:
            self._codes.append(code)
        fields: dict[str, Any] = {
            "OpcodeIndex": self._codes.index(code),
            "Inputs": self._ints(self._indices(spec.inputs)),
            "Outputs": self._ints(self._indices(spec.outputs)),
        }
        if spec.intermediates:
            fields["Intermediates"] = self._ints(self._indices(spec.intermediates))
        if spec.options_type:
            is_new = hasattr(tflite.BuiltinOptions2, spec.options_type)
            union = "BuiltinOptions2" if is_new else "BuiltinOptions"
            fields[f"{union}Type"] = getattr(getattr(tflite, union), spec.options_type)
            fields[union] = self._options(spec)
        if spec.custom_options:
            numbers = np.frombuffer(spec.custom_options, np.uint8)
            fields["CustomOptions"] = self._builder.CreateNumpyVector(numbers)
        return self._table("Operator", fields)

    def _options(self, spec: OperatorSpec) -> int:
        fields = {
            name[0].upper() + name[1:]: self._option(value, spec.options_type)
            for name, value in spec.options.items()
        }
        return self._table(spec.options_type, fields)

    def _option(self, value: OptionValue, table: str) -> Any:
        if isinstance(value, str):
            return self._builder.CreateString(value)
        if isinstance(value, bytes):
            return self._builder.CreateNumpyVector(np.frombuffer(value, np.uint8))
        if isinstance(value, Sequence) and any(isinstance(each, float) for each in value):
            return self._builder.CreateNumpyVector(np.array(value, np.float32))
        if isinstance(value, Sequence) and table.startswith("Stablehlo"):
            return self._builder.CreateNumpyVector(np.array(value, np.int64))
        return self._ints(value) if isinstance(value, Sequence) else value

    def _code(self, name: str, version: int, custom_code: str) -> int:
        code = getattr(tflite.BuiltinOperator, name)
        fields: dict[str, Any] = {
            "DeprecatedBuiltinCode": min(code, 127),  # readers use the greater of the two
            "Version": version,
            "BuiltinCode": code,
        }
        if custom_code:
            fields["CustomCode"] = self._builder.CreateString(custom_code)
        return self._table("OperatorCode", fields)

    def _buffer(self, data: bytes) -> int:
        if not data:
            return self._table("Buffer", {})
        self._builder.StartVector(1, len(data), _BUFFER_ALIGNMENT)
        start = self._builder.head - len(data)
        self._builder.head = start
        self._builder.Bytes[start : start + len(data)] = data
        return self._table("Buffer", {"Data": self._builder.EndVector()})
