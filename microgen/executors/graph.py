"""The graph executor's JSON: nodes, their arguments, and storage ids that entries share.

Source of the format: TVM v0.14, ``src/relay/backend/graph_executor_codegen.cc``; of the storage
ids: ``src/relay/backend/graph_plan_memory.cc``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from microgen.errors import UnsupportedError
from microgen.executors.storage import Token, Tokens
from microgen.ir.graph import Array, DType, TensorType
from microgen.program import Argument, Call, Constant, PrimFunc, Program, Role, Storage

Entry = tuple[int, int, int]  # node, which of its outputs, version: as the JSON has them


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node. ``attrs`` is empty for inputs and parameters, whose ``op`` is "null"."""

    op: str
    name: str
    inputs: tuple[Entry, ...] = ()
    attrs: Mapping[str, str] = field(default_factory=dict)

    @property
    def outputs(self) -> int:
        """How many entries it has."""
        return int(self.attrs.get("num_outputs", "1"))

    def to_json(self) -> dict[str, Any]:
        """The node as the JSON has it."""
        attrs = {"attrs": dict(self.attrs)} if self.attrs else {}
        inputs = [list(entry) for entry in self.inputs]
        return {"op": self.op, "name": self.name, **attrs, "inputs": inputs}


@dataclass(frozen=True, slots=True)
class ExecutorGraph:
    """Nodes in execution order. ``types`` and ``storage_ids`` have one item per entry, node by
    node; ``storage_bytes`` one per storage id: what its largest entry needs."""

    nodes: tuple[GraphNode, ...]
    heads: tuple[Entry, ...]
    types: tuple[TensorType, ...]
    storage_ids: tuple[int, ...]
    storage_bytes: tuple[int, ...]

    @property
    def row_ptr(self) -> tuple[int, ...]:
        """Number of the first entry of each node, and how many entries there are."""
        numbers = [0]
        for node in self.nodes:
            numbers.append(numbers[-1] + node.outputs)
        return tuple(numbers)

    def to_json(self) -> dict[str, Any]:
        """The graph as data, its keys in TVM's order."""
        shapes = [list(kind.shape) for kind in self.types]
        return {
            "nodes": [node.to_json() for node in self.nodes],
            "arg_nodes": [i for i, node in enumerate(self.nodes) if node.op == "null"],
            "heads": [list(entry) for entry in self.heads],
            "attrs": {
                "dltype": ["list_str", [kind.dtype.value for kind in self.types]],
                "shape": ["list_shape", shapes],
                "storage_id": ["list_int", list(self.storage_ids)],
            },
            "node_row_ptr": list(self.row_ptr),
        }

    def dumps(self) -> str:
        """The JSON, without a blank that a board would have to store."""
        return json.dumps(self.to_json(), separators=(",", ":"))


def build(program: Program, types: Mapping[str, TensorType]) -> ExecutorGraph:
    """The graph of a program. ``types`` are those of the tensors that its buffers hold.

    Raises UnsupportedError for a program with devices: the JSON has no place for their hooks.
    """
    if program.devices:
        raise UnsupportedError(
            f"target {program.devices[0].target!r} has the device API, which only the AOT executor "
            "drives",
            where="--executor graph",
            hint="generate with --executor aot, or declare the target without :device-api",
        )
    state = _Building(program, types)
    for port in program.inputs:
        state.null(Argument(Storage.INPUT, port.name), port.type)
    for call in program.calls:
        state.call(call)
    return ExecutorGraph(
        nodes=tuple(state.nodes),
        heads=tuple(state.entries[Argument(Storage.OUTPUT, p.name)] for p in program.outputs),
        types=tuple(state.entry_types),
        storage_ids=tuple(token.storage_id for token in state.held),
        storage_bytes=tuple(token.nbytes for token in state.tokens.all),
    )


def function_hash(function: PrimFunc) -> str:
    """64 bits that tell functions apart, as 16 hexadecimal digits: equal on every machine for what
    has equal parameters and calls equal kernels, whatever its name."""
    meaning = repr((function.target, function.parameters, function.body))
    return hashlib.sha256(meaning.encode()).hexdigest()[:16]


class _Building:
    """The graph as it grows, call by call."""

    def __init__(self, program: Program, types: Mapping[str, TensorType]) -> None:
        self.functions = {function.name: function for function in program.functions}
        self.types = _argument_types(program, types)
        self.reads_left = _reads(program, self.functions)
        self.nodes: list[GraphNode] = []
        self.entries: dict[Argument, Entry] = {}
        self.entry_types: list[TensorType] = []
        self.held: list[Token] = []
        self.token_of: dict[Argument, Token] = {}
        self.tokens = Tokens()
        self.names: dict[str, int] = {}

    def null(self, argument: Argument, kind: TensorType) -> None:
        """Append an input or a parameter: its storage is its own for good."""
        self.entries[argument] = (len(self.nodes), 0, 0)
        self.nodes.append(GraphNode("null", argument.name))
        self._entry(argument, kind, self.tokens.new(kind.nbytes))

    def call(self, call: Call) -> None:
        """Append an operator, and the parameters that it is the first to read."""
        function = self.functions[call.function]
        reads, writes = _sides(call, function)
        for argument in reads:
            if argument not in self.entries:
                self.null(argument, self.types[argument])
        number = len(self.nodes)
        attrs = {
            "num_outputs": str(len(writes)),
            "num_inputs": str(len(reads)),
            "flatten_data": "0",
            "func_name": call.function,
            "hash": function_hash(function),
            **dict(call.layouts),
        }
        inputs = tuple(self.entries[argument] for argument in reads)
        self.nodes.append(GraphNode("tvm_op", self._unique(call.function), inputs, attrs))
        for index, argument in enumerate(writes):
            kind = self.types[argument]
            self.entries[argument] = (number, index, 0)
            self._entry(argument, kind, self.tokens.request(kind.nbytes))
        self._release(reads, writes)

    def _entry(self, argument: Argument, kind: TensorType, token: Token) -> None:
        self.entry_types.append(kind)
        self.held.append(token)
        self.token_of[argument] = token

    def _release(self, reads: list[Argument], writes: list[Argument]) -> None:
        for argument in reads:
            self.reads_left[argument] -= 1
        for argument in dict.fromkeys((*reads, *writes)):
            # What the caller sees keeps its storage: inputs, parameters, outputs.
            if argument.storage is Storage.SID and self.reads_left.get(argument, 0) == 0:
                self.tokens.release(self.token_of[argument])

    def _unique(self, name: str) -> str:
        """The function's name, with a number behind it where it was used before, as TVM's
        ``_GetUniqueName`` makes it."""
        if name not in self.names:
            self.names[name] = 1
            return name
        self.names[name] += 1
        return self._unique(f"{name}{self.names[name] - 1}")


def _sides(call: Call, function: PrimFunc) -> tuple[list[Argument], list[Argument]]:
    """What a call reads and what it writes, each in the order of its parameters."""
    roles = [p.role for p in function.parameters if p.role is not Role.SCRATCH]
    pairs = list(zip(call.args, roles, strict=True))
    reads = [argument for argument, role in pairs if role is not Role.OUTPUT]
    return reads, [argument for argument, role in pairs if role is Role.OUTPUT]


def _reads(program: Program, functions: Mapping[str, PrimFunc]) -> dict[Argument, int]:
    counts: dict[Argument, int] = {}
    for call in program.calls:
        for argument in _sides(call, functions[call.function])[0]:
            counts[argument] = counts.get(argument, 0) + 1
    return counts


def _argument_types(
    program: Program, types: Mapping[str, TensorType]
) -> dict[Argument, TensorType]:
    ports = ((Storage.INPUT, program.inputs), (Storage.OUTPUT, program.outputs))
    return {
        **{Argument(s, port.name): port.type for s, group in ports for port in group},
        **{Argument(Storage.SID, b.name): types[b.tensor] for b in program.buffers},
        **dict(_constant_types(program.constants)),
    }


def _constant_types(constants: tuple[Constant, ...]) -> Iterator[tuple[Argument, TensorType]]:
    for constant in constants:
        yield Argument(Storage.CONSTANT, constant.name), _type_of(constant.array)


def _type_of(array: Array) -> TensorType:
    return TensorType(array.shape, DType(array.dtype.name))
