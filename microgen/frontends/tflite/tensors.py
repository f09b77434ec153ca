"""The tensors of a model: unique names, checked types, constants as arrays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import numpy as np

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.frontends.tflite import constants
from microgen.frontends.tflite.quantization import is_signed_inside, quant_of
from microgen.frontends.tflite.records import TensorRecord
from microgen.graph import unsigned
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import MAX_BYTES, Array, ArrayType, DType, Stored, frozen
from microgen.graph.ops import budget
from microgen.graph.ops.base import Shape
from microgen.graph.ops.cost import ReferenceCost

_MAX_RANK = 8

CONVERT = "convert the model with int8 quantization, inputs and outputs included"
_TEXTS = "no kernel reads texts: turn them into numbers before the model, for example into indices"
_NARROW = "quantize the weights to 4 or 8 bits (in ai-edge-quantizer: num_bits=4 or num_bits=8)"
_SPECTRA = "compute the spectrum outside of the model"
_SINGLE = 'compute in float32: cast to it before the model (in Keras: dtype="float32")'
_COUNTS = "cast the numbers to int32 before the model; LiteRT only casts uint16 and uint32"
_CONVERSIONS = {
    **dict.fromkeys(("complex64", "complex128"), _SPECTRA),
    **dict.fromkeys(("bfloat16", "float16", "float64"), _SINGLE),
    **dict.fromkeys(("uint16", "uint32", "uint64"), _COUNTS),
    **dict.fromkeys(("int2", "uint4"), _NARROW),
    "string": _TEXTS,
}


def conversion(dtypes: Iterable[str]) -> str:
    """The advice for tensors of dtypes that nothing computes."""
    return next((_CONVERSIONS[dtype] for dtype in dtypes if dtype in _CONVERSIONS), CONVERT)


# LiteRT's CAST has the two; no other operator has them, and none has uint64.
CASTS: Mapping[str, DType] = {"uint16": DType.UINT16, "uint32": DType.UINT32}
NODE_DTYPES = {d.value: d for d in DType if d not in (*CASTS.values(), DType.UINT64)}
_TENSOR_DTYPES = {**NODE_DTYPES, **CASTS}
_KNOWN_DTYPES = {**_TENSOR_DTYPES, **constants.SMALL}
_INTEGER_DTYPES = {"int32": DType.INT32, "int64": DType.INT64}


class Names:
    """Makes names unique: a name that is already taken gets the suffix ``#2``, ``#3``, ..."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """``name`` itself if it is not taken yet."""
        base = name or "tensor"
        candidate = base
        while candidate in self._last:
            self._last[base] += 1
            candidate = f"{base}#{self._last[base]}"
        self._last[candidate] = 1
        return candidate


class FileTensors:
    """The model's tensors by index. Each is interpreted when an operator first uses it.

    Operators see quantized uint8 tensors as int8 ones. If such a tensor is one of the inputs and
    outputs of the graph, whose numbers the constructor gets, the int8 tensor has a name of its own.
    ``labels`` are the names that a signature has for inputs and outputs, by their numbers, no name
    twice.
    """

    def __init__(
        self,
        records: Iterable[TensorRecord],
        inputs: Collection[int] = (),
        outputs: Collection[int] = (),
        labels: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.records = tuple(records)
        self._inputs, ports = frozenset(inputs), (*inputs, *outputs)
        self._names = Names()
        # Before the tensors' own names, which give way.
        own = {index: self._names.unique(label) for index, label in labels.items()}
        self.names = tuple(
            own.get(index) or self._names.unique(record.name)
            for index, record in enumerate(self.records)
        )
        self._inner = {
            index: self._names.unique(f"{self.names[index]}#int8")
            for index in dict.fromkeys(ports)
            if is_signed_inside(self.records[index])
        }
        self._seen: dict[int, BuiltTensor] = {}
        self._computed: dict[str, Array] = {}
        self._stored: dict[str, Stored] = {}
        # name -> the declared shape, and the inferred one that differs from it
        self.redeclared: dict[str, tuple[Shape, Shape]] = {}

    def derived_name(self, base: str) -> str:
        """A name for a tensor that the frontend adds."""
        return self._names.unique(base)

    def define(self, name: str, value: Array) -> None:
        """Make a tensor a constant, because operators compute it from constants only."""
        self._computed[name] = frozen(value)

    def keep(self, name: str, stored: Stored) -> None:
        """Make a tensor the float constant for which the file stores integers."""
        self._stored[name] = stored

    def with_value(self, tensor: BuiltTensor) -> BuiltTensor:
        """The tensor, with its value if it has become a constant."""
        value = self._computed.get(tensor.name)
        if value is None:
            return dataclasses.replace(tensor, stored=self._stored.get(tensor.name))
        return dataclasses.replace(tensor, given=value)

    def inner(self, index: int) -> str:
        """The name under which operators know the tensor."""
        return self._inner.get(index, self.names[index])

    def port(self, index: int, where: str) -> BuiltTensor:
        """The tensor at ``index`` as the file declares it."""
        tensor = self.get(index, where)
        return unsigned.stored(tensor, self.names[index]) if index in self._inner else tensor

    def in_graph(self, index: int, value: Array) -> dict[str, Array]:
        """The values of the graph's tensors that represent the tensor at ``index``, by name."""
        if index >= len(self.records):
            return {}
        if not is_signed_inside(self.records[index]):
            return {self.names[index]: value}
        ends = {self.names[index]: value} if index in self._inner else {}
        return {**ends, self.inner(index): unsigned.flipped(value)}

    def get(self, index: int, where: str) -> BuiltTensor:
        """The tensor at ``index``, which must not be a variable. ``where`` is for messages."""
        if self.records[index].is_variable:
            raise UnsupportedError(
                f'"{short(self.records[index].name)}" is a variable tensor',
                where=where,
                hint="supported: variables that are the state of SVDF or LSTM operators",
            )
        return self._get(index, where)

    def infer(self, index: int, shape: tuple[int, ...], where: str) -> BuiltTensor:
        """Give a computed tensor the shape that its operator computes."""
        # Like LiteRT, which infers all shapes when it allocates tensors: converters write 1 for
        # every size that they do not know.
        tensor = self.get(index, where)
        if tensor.shape != shape:
            self._seen[index] = dataclasses.replace(
                self._seen[index], type=dataclasses.replace(tensor.type, shape=shape)
            )
            self.redeclared[self.names[index]] = (self.records[index].shape, shape)
        return self.get(index, where)

    def declared(self, index: int, where: str) -> tuple[int, ...]:
        """The shape that the file declares, for an operator that does not determine it. Raises an
        error unless it is a fixed shape."""
        tensor = self.get(index, where)
        return _shape(self.records[index], tensor.dtype, where)

    def variable(self, index: int, where: str) -> BuiltTensor:
        """The variable tensor at ``index``."""
        record = self.records[index]
        if not record.is_variable:
            raise ModelError(f'"{short(record.name)}" must be a variable tensor', where=where)
        if record.is_constant:
            raise ModelError(
                f'the variable "{short(record.name)}" has initial values; it must begin at 0',
                where=where,
            )
        return self._get(index, where)

    def _get(self, index: int, where: str) -> BuiltTensor:
        if index not in self._seen:
            self._seen[index] = self._interpret(index, where)
        return self.with_value(self._seen[index])

    def integers(self, index: int, where: str) -> Array:
        """The value of a constant that is a parameter of an operator, as int64, in its shape."""
        record = self.records[index]
        _check_storage(record, where)
        dtype = _dtype(record, _INTEGER_DTYPES, where)
        # Operators may have computed it from constants, such as a SHAPE that a RESHAPE reads.
        computed = self._computed.get(self.names[index])
        if record.is_empty:
            return np.zeros(0, np.int64)
        shape = _shape(record, dtype, where) if computed is None else computed.shape
        # Many layers may share one tensor, and each gets a copy.
        budget.spend(ReferenceCost(8 * math.prod(shape), math.prod(shape)), where)
        if computed is not None:
            return computed.astype(np.int64)
        if not record.is_constant:
            raise UnsupportedError(
                f'tensor "{short(record.name)}" is computed while the model runs; '
                "this operator needs it to be a constant",
                where=where,
                hint="it depends on what the model computes from its inputs, and not on shapes: "
                "make it a constant, or use GATHER, which takes computed positions",
            )
        return constants.value(record, ArrayType(shape, dtype), where).astype(np.int64)

    def _interpret(self, index: int, where: str) -> BuiltTensor:
        record, name = self.records[index], self.inner(index)
        is_known = record.is_constant or name in self._computed
        _check_storage(record, where)
        dtype = _dtype(record, _KNOWN_DTYPES if is_known else _TENSOR_DTYPES, where)
        # The shape of a tensor that an operator computes is inferred afterwards.
        is_given = record.is_constant or record.is_variable or index in self._inputs
        shape = _shape(record, dtype, where) if is_given else record.shape
        type_ = ArrayType(shape, dtype, quant_of(record, where))
        value = constants.value(record, type_, where) if record.is_constant else None
        is_int4 = record.dtype == "int4"
        tensor = BuiltTensor(name, type_, value, record.is_variable, is_int4)
        return unsigned.signed(tensor, where) if is_signed_inside(record) else tensor


def _check_storage(record: TensorRecord, where: str) -> None:
    if record.sparsity is not None and not record.is_constant:
        raise UnsupportedError(
            f'"{short(record.name)}" is a sparse tensor without values in the file',
            where=where,
            hint="supported: sparse constants",
        )


def _dtype(record: TensorRecord, accepted: Mapping[str, DType], where: str) -> DType:
    if record.dtype not in accepted:
        raise UnsupportedError(
            f'tensor "{short(record.name)}" is {record.dtype}',
            where=where,
            hint=conversion([record.dtype]),
            details=[f"supported: {', '.join(accepted)}"],
        )
    return accepted[record.dtype]


def _shape(record: TensorRecord, dtype: DType, where: str) -> tuple[int, ...]:
    shape, name = record.shape, short(record.name)
    if len(shape) > _MAX_RANK:
        raise UnsupportedError(
            f'tensor "{name}" has {len(shape)} dimensions', where=where, hint="supported: up to 8"
        )
    if any(size <= 0 for size in shape):
        raise UnsupportedError(
            f'tensor "{name}" has the dynamic or empty shape {list(shape)}',
            where=where,
            hint="supported: fixed shapes; convert the model with a fixed input shape",
        )
    if record.signature and len(record.signature) != len(shape):
        raise ModelError(
            f'tensor "{name}" has the shape {list(shape)}, but the shape signature '
            f"{list(record.signature[:_MAX_RANK])}",
            where=where,
        )
    nbytes = math.prod(shape) * dtype.nbytes
    if nbytes > MAX_BYTES:
        raise ModelError(
            f'tensor "{name}" of shape {list(shape)} has {nbytes} bytes; '
            f"at most {MAX_BYTES} are accepted",
            where=where,
        )
    return shape
