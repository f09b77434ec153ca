"""The interface of TFLite's importers. It checks an operator's tensors and options when an importer
reads them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from microgen.base.errors import short
from microgen.frontends.numerics import Numerics
from microgen.frontends.rounds import MostRounds
from microgen.frontends.tflite import declarations
from microgen.frontends.tflite.options import OperatorOptions
from microgen.frontends.tflite.quantization import is_signed_inside, quant_of
from microgen.frontends.tflite.reader import Reader
from microgen.frontends.tflite.records import (
    ABSENT,
    FileRecord,
    OperatorRecord,
    TensorRecord,
    called_by,
)
from microgen.frontends.tflite.tensors import FileTensors
from microgen.frontends.tflite.variables import Key, Variables
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value, fields
from microgen.graph.ir.graph import (
    MAX_BYTES,
    Array,
    ArrayType,
    Attrs,
    DType,
    Node,
    Origin,
    Quant,
    Stored,
    frozen,
)
from microgen.graph.ops import budget
from microgen.graph.ops.base import Shape, StatusError

_QUANTIZED = (DType.INT8, DType.INT16)  # dtypes that mean nothing without a scale
_BIASES = (DType.INT32, DType.INT64, DType.FLOAT32)


@dataclass(frozen=True, slots=True)
class Fix:
    """An input of the model that an operator reads as a parameter, so that no node reads it."""

    tensor: str
    value: tuple[int, ...]  # the only one that the shapes allow, which the caller must feed
    origin: Origin


@dataclass(frozen=True, slots=True)
class Importing:
    """The parts of a file and of its graph that all operators share."""

    model: FileRecord
    tensors: FileTensors
    numerics: Numerics
    graph: GraphBuilder
    variables: Variables
    fixes: list[Fix] = field(default_factory=list)
    depth: int = 0  # of subgraphs within subgraphs
    most: MostRounds = field(default_factory=lambda: MostRounds({}))

    @property
    def reader(self) -> Reader:
        """Reads the file's tables."""
        return self.model.reader


class FileLayer(OperatorOptions):
    """One operator of the model.

    Methods that return tensors raise UnsupportedError or ModelError, which name the layer, if the
    model contradicts the methods' descriptions.
    """

    def __init__(self, record: OperatorRecord, file: Importing) -> None:
        known = [index for index in (*record.outputs, *record.inputs) if index != ABSENT]
        # An operator has no name in the file, so its first tensor's name stands for the layer.
        name = file.tensors.names[known[0]] if known else record.name
        origin = Origin(file.reader.file, name)
        super().__init__(record.key, name, origin, graph=file.graph, moved={})
        self.numerics, self.variables = file.numerics, file.variables
        self._record, self._tensors, self._reader = record, file.tensors, file.reader
        self.file, self._fixes = file, file.fixes

    # Tensors

    def expect_inputs(self, *counts: int, outputs: int = 1) -> None:
        """Raise unless ``counts`` has the number of inputs, and there are ``outputs`` outputs."""
        counted = (len(self._record.inputs), len(self._record.outputs))
        if counted[0] not in counts or counted[1] != outputs:
            expected = " or ".join(map(str, counts))
            raise self.invalid(
                f"has {counted[0]} inputs and {counted[1]} outputs; "
                f"{expected} and {outputs} are expected"
            )

    def plain_operands(self) -> tuple[BuiltTensor, ...]:
        """All inputs, quantized or not, computed or constant."""
        return tuple(map(self.plain, range(len(self._record.inputs))))

    def operands(self) -> tuple[BuiltTensor, ...]:
        """All inputs, as ``data`` returns them, of an operator with inputs and one output."""
        number = len(self._record.inputs)
        self.expect_inputs(max(1, number))
        return tuple(map(self.data, range(number)))

    def computed(self, op: str, attrs: Attrs) -> BuiltTensor:
        """The output of an operator that is one node of all its inputs."""
        return self.emit(op, attrs, self.operands(), self.output())

    def has_input(self, position: int) -> bool:
        """Whether the optional input is present."""
        inputs = self._record.inputs
        return position < len(inputs) and inputs[position] != ABSENT

    def data(self, position: int) -> BuiltTensor:
        """An input, computed or constant. It is float32, or int8 or int16 quantized per tensor, or
        plain numbers of another dtype. The op's ``check`` refuses dtypes that the op lacks.
        """
        return self._per_tensor(self.plain(position))

    def plain(self, position: int) -> BuiltTensor:
        """An input, quantized or not, computed or constant."""
        return self._tensors.get(self._index(position), self.where)

    def plain_output(self) -> BuiltTensor:
        """The output, quantized or not."""
        return self._tensors.get(self._record.outputs[0], self.where)

    def variable(self, position: int) -> BuiltTensor:
        """An input that keeps its value between inferences; otherwise like ``data``."""
        return self._per_tensor(self._tensors.variable(self._index(position), self.where))

    def resource(self, position: int) -> Key:
        """The resource variable of a handle. ModelError if the input is not one."""
        key = self.variables.key(self._index(position))
        if key is None:
            raise self.invalid("has a first input that is not the handle of a variable")
        return key

    def intermediate(self, position: int) -> Quant:
        """The quantization, per tensor, of an intermediate result that no tensor holds."""
        indices = self._record.intermediates
        record = self._tensors.records[indices[position]] if position < len(indices) else None
        quant = quant_of(record, self.where) if record else None
        if quant is None or not quant.is_per_tensor:
            raise self.invalid(f"lacks the scale of its intermediate {position}")
        return quant

    def output(self) -> BuiltTensor:
        """The output. ModelError unless its dtype is one that ``data`` accepts."""
        return self._per_tensor(self.plain_output())

    def subgraphs(self) -> tuple[int, ...]:
        """The numbers of the subgraphs that the operator runs."""
        return called_by(self._reader, self._record)

    def plain_outputs(self) -> tuple[BuiltTensor, ...]:
        """All outputs, quantized or not."""
        return tuple(self._tensors.get(index, self.where) for index in self._record.outputs)

    def settled_output(self, position: int, shape: Shape) -> BuiltTensor:
        """An output by its position, with the shape that was inferred for it."""
        index = self._record.outputs[position]
        self._tensors.infer(index, shape, self.where)
        return self._per_tensor(self._tensors.get(index, self.where))

    def add_node(self, node: Node, tensors: Sequence[BuiltTensor]) -> None:
        """Append a node that the importer has made and checked."""
        self._graph.add(node, tensors)

    def is_read(self, position: int) -> bool:
        """Whether an operator or the graph's user reads an output."""
        model, index = self.file.model, self._record.outputs[position]
        return index in model.outputs or any(index in each.inputs for each in model.operators)

    def outputs(self) -> tuple[BuiltTensor, ...]:
        """All outputs. ModelError unless each has a dtype that ``data`` accepts."""
        return tuple(map(self._per_tensor, self.plain_outputs()))

    def is_unsigned(self, position: int) -> bool:
        """Whether an input is quantized uint8 in the file."""
        return is_signed_inside(self._tensors.records[self._index(position)])

    def makes_unsigned(self) -> bool:
        """Whether the output is quantized uint8 in the file."""
        return is_signed_inside(self._tensors.records[self._record.outputs[0]])

    def declared_outputs(self) -> tuple[BuiltTensor, ...]:
        """All outputs, of the declared shapes, which the operator itself leaves open. Raises an
        error unless they are fixed shapes."""
        for index in self._record.outputs:
            self._tensors.infer(index, self._tensors.declared(index, self.where), self.where)
        return self.outputs()

    def weights(self, position: int, rank: int, *, any_zero: bool = False) -> BuiltTensor:
        """A constant with ``rank`` dimensions: float32, or symmetric int8, quantized per tensor or
        per channel. With ``any_zero``, int8 with one scale may have any zero point."""
        tensor = self._with_quant(self.plain(position))
        self._expect_constant(tensor)
        self.expect_rank(tensor, rank)
        quant = tensor.type.quant
        if quant is None:
            return tensor
        # Many layers may share one weight, and each layer checks all its scales.
        self._reader.spend(len(quant.scale))
        if any(quant.zero_point) and not (any_zero and quant.is_per_tensor):
            zero = 128 if self.is_unsigned(position) else 0
            raise self.unsupported(
                f'has weights "{short(tensor.name)}" with a zero point other than {zero}',
                supported="symmetric int8 weights, as TFLite's own quantization makes them",
            )
        return tensor

    def bias(self, position: int, channels: int) -> tuple[BuiltTensor, ...]:
        """The bias as a constant of shape [channels]: int32, int64 or float32. No tensor if there
        is no bias."""
        if not self.has_input(position):
            return ()
        tensor = self.plain(position)
        if tensor.type.dtype not in _BIASES:
            raise self.unsupported(
                f'has a bias "{short(tensor.name)}" of dtype {tensor.type.dtype.value}',
                supported="biases of int32, of int64 with int16 data, and of float32",
            )
        value = self._expect_constant(tensor)
        if value.size != channels:
            raise self.invalid(f"has {value.size} bias values; {channels} are expected")
        if tensor.type.shape == (channels,):
            return (tensor,)
        flat = ArrayType((channels,), tensor.type.dtype, tensor.type.quant)
        name = self._new_name(tensor.name)
        return (BuiltTensor(name, flat, frozen(value.reshape(channels))),)

    def integers(self, position: int) -> Array:
        """An int32 or int64 constant that is a parameter of the operator, as int64."""
        return self._tensors.integers(self._index(position), self.where)

    def record(self, position: int) -> TensorRecord:
        """An input as the file stores it."""
        return self._tensors.records[self._index(position)]

    def define(self, value: Array) -> BuiltTensor:
        """The output as a constant, without a node. ModelError if it is declared otherwise."""
        self._tensors.define(self.name, value)  # before its dtype is read: constants have more
        output = self._settled(self.plain_output(), value.shape)
        if output.type.dtype.numpy != value.dtype:
            raise self.invalid(
                f'computes {value.dtype}, but its output "{short(output.name)}" is declared '
                f"{output.type}"
            )
        budget.spend_array(value.nbytes, self.where)
        return self._constant(output, value)

    def define_stored(self, stored: Stored) -> BuiltTensor:
        """The output as the float constant for which the file stores integers, without a node."""
        output = self._settled(self.plain_output(), stored.values.shape)
        self.expect(output, DType.FLOAT32)
        self._tensors.keep(output.name, stored)
        return self._tensors.with_value(output)

    def fix(self, tensor: BuiltTensor, value: tuple[int, ...]) -> None:
        """Restrict an input of the model to a single value."""
        self._fixes.append(Fix(tensor.name, value, self.origin))

    def expect_rank(self, tensor: BuiltTensor, rank: int) -> None:
        """Raise unless the tensor has ``rank`` dimensions."""
        if len(tensor.type.shape) != rank:
            raise self.invalid(
                f'has "{short(tensor.name)}" of shape {list(tensor.type.shape)}; '
                f"{rank} dimensions are expected"
            )

    def _index(self, position: int) -> int:
        if not self.has_input(position):
            raise self.invalid(f"lacks its input {position}")
        return self._record.inputs[position]

    def _with_quant(self, tensor: BuiltTensor) -> BuiltTensor:
        """The tensor. UnsupportedError if it lacks a quantization that its dtype needs."""
        if tensor.type.dtype in _QUANTIZED and tensor.type.quant is None:
            raise self.unsupported(
                f'uses "{short(tensor.name)}", which has no quantization parameters',
                supported=f"{tensor.type.dtype.value} tensors with a scale and a zero point",
            )
        return tensor

    def _per_tensor(self, tensor: BuiltTensor) -> BuiltTensor:
        quant = self._with_quant(tensor).type.quant
        if quant is not None and not quant.is_per_tensor:
            raise self.unsupported(
                f'uses "{short(tensor.name)}", which has a scale per channel',
                supported="one scale per tensor for activations, per channel for weights only",
            )
        return tensor

    def constant_value(self, position: int) -> Array:
        """The value of an input that must be a constant."""
        return self._expect_constant(self.plain(position))

    def _expect_constant(self, tensor: BuiltTensor) -> Array:
        if tensor.value is None:
            raise self.unsupported(
                f'needs "{short(tensor.name)}" to be a constant, but it is computed',
                supported="weights and biases that are constants",
            )
        return tensor.value

    # Nodes

    def finished(self, value: Value) -> None:
        """Check that an importer has made all of the operator's outputs."""
        made = [tensor.name for tensor in fields(value)]
        expected = [self._tensors.inner(index) for index in self._record.outputs]
        assert made == expected, f"the importer of {self.op} gives {made}, not {expected}"

    def _check(
        self,
        op: str,
        attrs: Attrs,
        inputs: Sequence[BuiltTensor],
        shape: tuple[int, ...],
        output: BuiltTensor,
    ) -> None:
        """Raise ModelError if the file's declarations contradict the op's result."""
        del shape  # the output has it
        if output.type.nbytes > MAX_BYTES:
            raise self.invalid(
                f"computes {output.type}, {output.type.nbytes} bytes; at most {MAX_BYTES} are "
                "accepted"
            )
        kinds = [tensor.type for tensor in inputs]
        sentence = declarations.contradiction(op, attrs, kinds, output.type)
        if sentence is None:
            return
        error = self.invalid(sentence)
        # Converters write int16 for operators that LiteRT has for int8 only. A sentence about a
        # bound has its own advice. SVDF and LSTM of int8 data have int16 weights and states.
        is_int16 = kinds[0].dtype is not DType.INT8 and any(
            kind.dtype is DType.INT16 for kind in (*kinds, output.type)
        )
        if is_int16 and not sentence.endswith("leave the bound out"):
            error.hint = "convert the model with another quantization, such as int8"
        raise error

    def _settled(self, output: BuiltTensor, shape: Shape) -> BuiltTensor:
        for index in self._record.outputs:
            if self._tensors.inner(index) == output.name:
                return self._tensors.infer(index, shape, self.where)
        return output

    def _failing(self, error: StatusError) -> NoReturn:
        raise self.invalid(f"is computed from constants, which fails: {error}") from None

    def _constant(self, output: BuiltTensor, value: Array) -> BuiltTensor:
        self._tensors.define(output.name, value)
        return self._tensors.with_value(output)

    def _new_name(self, hint: str) -> str:
        return self._tensors.derived_name(hint)

    def _node(
        self, op: str, attrs: Attrs, inputs: Sequence[BuiltTensor], output: BuiltTensor
    ) -> Node:
        """A node, with an origin of its own if the operator has several outputs."""
        node = super()._node(op, attrs, inputs, output)
        for index in self._record.outputs:
            if self._tensors.inner(index) == output.name:
                origin = Origin(self.origin.file, self._tensors.names[index])
                return dataclasses.replace(node, origin=origin)
        return node
