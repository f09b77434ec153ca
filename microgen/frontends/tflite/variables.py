"""Resource variables: their initial values, and the values that they have while a network is read.

A variable is identified by its container and its shared name; tensors of the type RESOURCE are
handles to it. Operators are imported in execution order, so a READ_VARIABLE has the value of the
last ASSIGN_VARIABLE before it. Only a read before all assignments has the value of the inference
before. The graph has a variable for it, and the last value assigned is the graph's update of this
variable. So the graph has neither reads nor assignments whose order a pass could change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from tflite.VarHandleOptions import VarHandleOptions

from microgen.base.errors import ModelError, UnsupportedError, few, short
from microgen.frontends.tflite.quantization import is_signed_inside
from microgen.frontends.tflite.reader import Reader
from microgen.frontends.tflite.records import FileRecord, OperatorRecord, SubgraphRecord
from microgen.frontends.tflite.tensors import FileTensors
from microgen.graph.builder import BuiltTensor, GraphBuilder
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.unsigned import flipped

RESOURCE = "resource"  # the dtype of handles
HANDLE = "VAR_HANDLE"
ASSIGN = "ASSIGN_VARIABLE"
WITH_HANDLES = (HANDLE, ASSIGN, "READ_VARIABLE")  # the operators that read or make handles
WITHOUT_OUTPUTS = ("CALL_ONCE", ASSIGN)

_CONTAINER, _SHARED_NAME = 0, 1  # field numbers in schema.fbs
_MADE_ONCE = "variables that an initialisation subgraph sets to constants"

Key = tuple[str, str]  # container and shared name


class Variables:
    """The variables of a model while it is imported. ``are_used``: one was read or assigned."""

    def __init__(self, model: FileRecord, graph: GraphBuilder) -> None:
        self._model = model
        self._graph = graph
        self._handles = _handles(model.reader, model.operators)
        self._assigned = {
            self._handles.get(each.inputs[0])
            for each in model.operators
            if each.name == ASSIGN and each.inputs
        }
        self._stored: dict[Key, ArrayType] = {}
        self._initial: dict[Key, BuiltTensor] = {}
        self._kept: dict[Key, BuiltTensor] = {}
        self._latest: dict[Key, BuiltTensor] = {}
        self.are_used = False

    def key(self, handle: int) -> Key | None:
        """The variable of a handle; None if the tensor is not one."""
        return self._handles.get(handle)

    def initialise(self, number: int, where: str) -> None:
        """Run an initialisation subgraph. Raises an error, with the operator ``where`` that runs
        it, unless it only sets variables to constants."""
        if number == self._model.main:
            raise ModelError(f"runs its own subgraph {number} again", where=where)
        if number not in self._model.called:
            raise ModelError(f"runs subgraph {number}, which the file does not have", where=where)
        _check_init(self._model.called[number], number, where)
        for key, tensor, kind in _constants(self._model.called[number], self._model.reader, where):
            self._expect(key, kind, "is set to", where)
            self._initial[key] = tensor

    def read(
        self, key: Key, declared: BuiltTensor, stored: ArrayType, where: str
    ) -> BuiltTensor | None:
        """The tensor that has a variable's value. None if it is the value of the inference before,
        which no tensor has yet. ``declared`` is the tensor as which it is read, ``stored`` the type
        of this tensor in the file."""
        self.are_used = True
        self._expect(key, stored, "is read as", where)
        value = self._value(key, declared, where)
        if value is None:
            raise UnsupportedError(
                f"reads {_named(key)}, which has no initial value",
                where=where,
                hint=f"supported: {_MADE_ONCE}",
            )
        # A variable that no operator assigns keeps its initial value, so it is a constant.
        if key in self._latest or key not in self._assigned:
            return value
        return self._kept.get(key)

    def keep(self, key: Key, tensor: BuiltTensor) -> None:
        """Let a tensor be the variable's value from the inference before."""
        values = self._initial[key].value
        assert values is not None, "initial values are constants"
        self._kept[key] = tensor
        self._graph.keep(tensor, values)

    def assign(self, key: Key, tensor: BuiltTensor, stored: ArrayType, where: str) -> None:
        """Give a variable a new value, which the file declares as ``stored``."""
        self.are_used = True
        self._expect(key, stored, "is assigned", where)
        self._value(key, tensor, where)
        self._latest[key] = tensor

    def updates(self) -> dict[str, BuiltTensor]:
        """The names of the variables of the graph, each with its next value."""
        return {tensor.name: self._latest[key] for key, tensor in self._kept.items()}

    def _value(self, key: Key, like: BuiltTensor, where: str) -> BuiltTensor | None:
        """The tensor that has a variable's value, if there is one. Its stored values have the same
        form as the values of the tensor ``like``: uint8 if they are plain numbers, int8 if they are
        quantized uint8."""
        value = self._latest.get(key) or self._kept.get(key) or self._initial.get(key)
        if value is None or value.dtype is like.dtype:
            return value
        if value is not self._initial.get(key) or value.value is None:
            raise UnsupportedError(
                f"uses {_named(key)} both with a scale and as plain numbers",
                where=where,
                hint="supported: uint8 variables that are always quantized, or never",
            )
        kind = dataclasses.replace(value.type, dtype=like.dtype, quant=None)
        self._initial[key] = dataclasses.replace(value, type=kind, given=flipped(value.value))
        return self._initial[key]

    def _expect(self, key: Key, stored: ArrayType, what: str, where: str) -> None:
        """Raise ModelError unless a variable keeps its shape and dtype."""
        known = self._stored.setdefault(key, stored)
        if (known.shape, known.dtype) != (stored.shape, stored.dtype):
            raise ModelError(
                f"{_named(key)} {what} {stored}, but it is {known}",
                where=where,
                hint="a variable has one shape and one dtype",
            )


def _named(key: Key) -> str:
    return f'the variable "{short(key[1] or key[0])}"'


def _handles(reader: Reader, operators: Iterable[OperatorRecord]) -> Mapping[int, Key]:
    """The variables by the numbers of the tensors that are their handles."""
    handles = {}
    for operator in operators:
        if operator.name == HANDLE and len(operator.outputs) == 1:
            options = reader.union(operator.table, "BuiltinOptions", VarHandleOptions)
            if options is not None:
                key = (reader.text(options, _CONTAINER), reader.text(options, _SHARED_NAME))
                handles[operator.outputs[0]] = key
    return handles


def _check_init(graph: SubgraphRecord, number: int, where: str) -> None:
    """Raise unless the subgraph has only operators that set variables."""
    others = dict.fromkeys(o.name for o in graph.operators if o.name not in (HANDLE, ASSIGN))
    if others:
        raise UnsupportedError(
            f"runs subgraph {number}, which has other operators than {HANDLE} and {ASSIGN}: "
            f"{few(list(others))}",
            where=where,
            hint=f"supported: {_MADE_ONCE}",
        )
    if graph.inputs or graph.outputs:
        raise ModelError(f"runs subgraph {number}, which has inputs or outputs", where=where)


def stored(tensor: BuiltTensor, *, is_unsigned: bool) -> ArrayType:
    """The shape and dtype of a tensor in the file, which has quantized uint8 for int8 if the tensor
    ``is_unsigned``."""
    return ArrayType(tensor.shape, DType.UINT8 if is_unsigned else tensor.dtype)


def _constants(
    graph: SubgraphRecord, reader: Reader, where: str
) -> Sequence[tuple[Key, BuiltTensor, ArrayType]]:
    """The variables that an initialisation subgraph sets, with their values, and the types of these
    in the file."""
    handles, tensors = _handles(reader, graph.operators), FileTensors(graph.tensors)
    assigned = []
    for operator in graph.operators:
        if operator.name == HANDLE:
            continue
        handle, value = operator.inputs if len(operator.inputs) == 2 else (-1, -1)
        if handle not in handles or value < 0:
            raise ModelError(f"sets something that is not a variable ({ASSIGN})", where=where)
        tensor = tensors.get(value, where)
        if tensor.value is None:
            raise UnsupportedError(
                f'sets {_named(handles[handle])} to "{short(tensor.name)}", which is computed',
                where=where,
                hint=f"supported: {_MADE_ONCE}",
            )
        kind = stored(tensor, is_unsigned=is_signed_inside(graph.tensors[value]))
        assigned.append((handles[handle], tensor, kind))
    return assigned
