"""The graph executor's JSON: nodes, their arguments, and storage ids that entries share.

Source of the format: TVM v0.14, ``src/relay/backend/graph_executor_codegen.cc``; of the storage
ids: ``src/relay/backend/graph_plan_memory.cc``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.planner.program.types import Argument, PrimFunc, Program, Role, RunnerCall, Storage

# A free storage is not used if it is more than this many times too large or too small (TVM's
# match_range_).
_MATCH_RANGE = 16


@dataclass(slots=True, eq=False)
class StorageToken:
    """A storage: its id, and the bytes of the largest value that it will hold."""

    storage_id: int
    nbytes: int


@dataclass(slots=True)
class Tokens:
    """All storages, and the free ones among them.

    Source: TVM v0.14, graph_plan_memory.cc, TokenAllocator1D.
    """

    all: list[StorageToken] = field(default_factory=list)
    free: list[StorageToken] = field(default_factory=list)

    def new(self, nbytes: int) -> StorageToken:
        """A storage that nothing has used yet."""
        token = StorageToken(len(self.all), nbytes)
        self.all.append(token)
        return token

    def request(self, nbytes: int) -> StorageToken:
        """The free storage that fits best, grown if necessary; a new one if none is close."""
        near = [
            token
            for token in self.free
            if token.nbytes * _MATCH_RANGE >= nbytes and token.nbytes <= nbytes * _MATCH_RANGE
        ]
        # As in TVM: the smallest that is large enough, otherwise the largest, which has to grow
        # least.
        larger = [token for token in near if token.nbytes >= nbytes]
        if larger:
            found = min(larger, key=lambda token: token.nbytes)
        elif near:
            found = max(near, key=lambda token: token.nbytes)
        else:
            return self.new(nbytes)
        self.free.remove(found)
        found.nbytes = max(found.nbytes, nbytes)
        return found

    def release(self, token: StorageToken) -> None:
        """Let other values use the storage."""
        if token not in self.free:
            self.free.append(token)


NOP = "__nop"  # the function of a node whose output is its input in another shape
Entry = tuple[int, int, int]  # node, number of its output, version: as in the JSON


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node. ``attrs`` is empty for inputs and parameters, whose ``op`` is "null"."""

    op: str
    name: str
    inputs: tuple[Entry, ...] = ()
    attrs: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_call(self) -> bool:
        """False for inputs, parameters, and views, whose function is ``__nop``."""
        return self.op != "null" and self.attrs["func_name"] != NOP

    @property
    def outputs(self) -> int:
        """One entry for each result; 1 for inputs and parameters."""
        return int(self.attrs.get("num_outputs", "1"))

    def to_json(self) -> dict[str, Any]:
        """Plain data; the key ``attrs`` is absent if there are none."""
        attrs = {"attrs": dict(self.attrs)} if self.attrs else {}
        inputs = [list(entry) for entry in self.inputs]
        return {"op": self.op, "name": self.name, **attrs, "inputs": inputs}


@dataclass(frozen=True, slots=True)
class ExecutorGraph:
    """Nodes in execution order. ``types`` and ``storage_ids`` have one item per entry, node by
    node. ``storage_bytes`` has one item per storage id: the bytes of its largest entry."""

    nodes: tuple[GraphNode, ...]
    heads: tuple[Entry, ...]
    types: tuple[ArrayType, ...]
    storage_ids: tuple[int, ...]
    storage_bytes: tuple[int, ...]

    @property
    def row_ptr(self) -> tuple[int, ...]:
        """The number of the first entry of each node, and at the end the number of entries."""
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
        """The JSON without blanks, which a board would have to store."""
        return json.dumps(self.to_json(), separators=(",", ":"))


def build(program: Program) -> ExecutorGraph:
    """The program's graph. Contexts of devices are not in it, because operators find them by
    themselves."""
    state = _Building(program)
    for port in program.inputs:
        state.null(Argument(Storage.INPUT, port.name), port.type)
    for call in program.calls:
        state.call(call)
    outputs = [(Argument(Storage.OUTPUT, port.name), port.type) for port in program.outputs]
    heads = tuple(state.seen_as(argument, kind) for argument, kind in outputs)
    return ExecutorGraph(
        nodes=tuple(state.nodes),
        heads=heads,
        types=tuple(state.entry_types),
        storage_ids=tuple(token.storage_id for token in state.held),
        storage_bytes=tuple(token.nbytes for token in state.tokens.all),
    )


def function_hash(function: PrimFunc) -> str:
    """64 bits that identify a function, as 16 hexadecimal digits. They are equal on every machine
    for functions with equal parameters that call equal kernels, even if their names differ."""
    # The hash contains neither the name, which is made from the layers, nor the values of
    # constants.
    meaning = repr((function.target, function.parameters, function.body))
    return hashlib.sha256(meaning.encode()).hexdigest()[:16]


class _Building:
    """The graph as it grows, call by call."""

    def __init__(self, program: Program) -> None:
        self.functions = {function.name: function for function in program.functions}
        self.constants = {constant.name: constant for constant in program.constants}
        self.reads_left = _reads(program, self.functions)
        self.nodes: list[GraphNode] = []
        self.entries: dict[Argument, Entry] = {}
        self.views: dict[tuple[Entry, ArrayType], Entry] = {}
        self.type_of: dict[Entry, ArrayType] = {}
        self.entry_types: list[ArrayType] = []
        self.held: list[StorageToken] = []
        self.token_of: dict[Argument, StorageToken] = {}
        self.tokens = Tokens()
        self.names: dict[str, int] = {}

    def null(self, argument: Argument, kind: ArrayType) -> None:
        """Append an input or a parameter, which owns its storage permanently."""
        self.entries[argument] = (len(self.nodes), 0, 0)
        self.nodes.append(GraphNode("null", argument.name))
        # Never a free storage, and never released: inputs and parameters are set before the first
        # operator runs, and remain for the next run.
        self._entry(argument, kind, self.tokens.new(kind.nbytes))

    def call(self, call: RunnerCall) -> None:
        """Append an operator, preceded by the parameters that it is the first to read."""
        function = self.functions[call.function]
        reads, writes = _sides(call, function)
        for argument, _ in reads:
            if argument.storage is Storage.CONSTANT and argument not in self.entries:
                self.null(argument, _type_of(self.constants[argument.name].array))
        inputs = tuple(self.seen_as(argument, kind) for argument, kind in reads)
        number = len(self.nodes)
        attrs = {
            "num_outputs": str(len(writes)),
            "num_inputs": str(len(reads)),
            "flatten_data": "0",  # "1" would pass operators tensors of one dimension
            "func_name": call.function,
            "hash": function_hash(function),
            **dict(call.layouts),
        }
        self.nodes.append(GraphNode("tvm_op", self._unique(call.function), inputs, attrs))
        for index, (argument, kind) in enumerate(writes):
            # Calls that write runs of one value share its storage, and the last has the value.
            before = self.token_of.get(argument) if call.run else None
            self.entries[argument] = (number, index, 0)
            self._entry(argument, kind, before or self.tokens.request(kind.nbytes))
        # Outputs were requested before inputs are released, so no output shares its own input's
        # storage.
        self._release([argument for argument, _ in reads], [argument for argument, _ in writes])

    def seen_as(self, argument: Argument, kind: ArrayType) -> Entry:
        """The entry of a value in the shape that a call reads. If the value was written in another
        shape, this is the entry of a node that only changes the shape."""
        entry = self.entries[argument]
        # The entry has the type that was written, so no node is needed.
        if self.type_of[entry].shape == kind.shape:
            return entry
        key = (entry, kind)
        if key not in self.views:
            self.views[key] = (len(self.nodes), 0, 0)
            attrs = {"num_outputs": "1", "num_inputs": "1", "flatten_data": "0", "func_name": NOP}
            self.nodes.append(GraphNode("tvm_op", self._unique("reshape_nop"), (entry,), attrs))
            self._append(self.views[key], kind, self.token_of[argument])
        return self.views[key]

    def _entry(self, argument: Argument, kind: ArrayType, token: StorageToken) -> None:
        self.token_of[argument] = token
        self._append(self.entries[argument], kind, token)

    def _append(self, entry: Entry, kind: ArrayType, token: StorageToken) -> None:
        self.type_of[entry] = kind
        self.entry_types.append(kind)
        self.held.append(token)

    def _release(self, reads: list[Argument], writes: list[Argument]) -> None:
        for argument in reads:
            # Each read of a value is counted, so that its storage is free after the last one.
            self.reads_left[argument] -= 1
        for argument in dict.fromkeys((*reads, *writes)):
            # Inputs, parameters and outputs keep their storage, because the caller sees them.
            if argument.storage is Storage.SID and self.reads_left.get(argument, 0) == 0:
                self.tokens.release(self.token_of[argument])

    def _unique(self, name: str) -> str:
        """The function's name, with a number after it if it was used before, as TVM's
        ``_GetUniqueName`` makes it."""
        if name not in self.names:
            self.names[name] = 1
            return name
        self.names[name] += 1
        return self._unique(f"{name}{self.names[name] - 1}")


Typed = list[tuple[Argument, ArrayType]]


def _sides(call: RunnerCall, function: PrimFunc) -> tuple[Typed, Typed]:
    """The values that a call reads and the values that it writes, in the order of its
    parameters."""
    roles = [p.role for p in function.parameters if p.role not in (Role.SCRATCH, Role.DEVICE)]
    tensors = [argument for argument in call.args if argument.storage is not Storage.DEVICE]
    triples = list(zip(tensors, call.types, roles, strict=True))
    reads = [(argument, kind) for argument, kind, role in triples if role is not Role.OUTPUT]
    return reads, [(argument, kind) for argument, kind, role in triples if role is Role.OUTPUT]


def _reads(program: Program, functions: Mapping[str, PrimFunc]) -> dict[Argument, int]:
    counts: dict[Argument, int] = {}
    for call in program.calls:
        for argument, _ in _sides(call, functions[call.function])[0]:
            counts[argument] = counts.get(argument, 0) + 1
    return counts


def _type_of(array: Array) -> ArrayType:
    return ArrayType(array.shape, DType(array.dtype.name))
