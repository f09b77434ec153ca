"""The sizes of the C graph executor's own tables, for a target with pointers of a given size.

The structures are those of ``crt/include/tvm/runtime/crt/graph_executor_types.h``. Generated C
compares the number with the compiler's, so an outdated number does not compile.
"""

from __future__ import annotations

from dataclasses import dataclass

from microgen.base.formats import c_layout
from microgen.base.formats.c_layout import struct_bytes
from microgen.planner.executors.graph import ExecutorGraph

ALIGNMENT = 16  # TVM_GRAPH_EXECUTOR_ALIGNMENT

# A letter for each field.
_COUNTS = "iiiiiiii"
# In the order of the structures' fields; c_layout.struct_bytes has the letters.
_STRUCTS = {
    "TVMGraphExecutor": f"{_COUNTS}pppppppppp" + "ippppp",
    "TVMGraphExecutorNode": "pipiiihb",
    "DLTensor": "piii" + "bbhppq",
    "TVMGraphExecutorStorage": "pibbbb",
    "TVMValue": "q",
}


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """``TVMGraphExecutorCounts``: the numbers of all kinds of items in a graph."""

    nodes: int
    entries: int
    storages: int
    dims: int
    args: int
    max_args: int
    inputs: int
    outputs: int


def counts(graph: ExecutorGraph) -> GraphCounts:
    """The counts that decide the size of the executor's tables. Parameters are inputs, too."""
    operators = [node for node in graph.nodes if node.op != "null"]
    args = [len(node.inputs) + node.outputs for node in operators]
    return GraphCounts(
        nodes=len(graph.nodes),
        entries=len(graph.types),
        storages=len(graph.storage_bytes),
        dims=sum(len(kind.shape) for kind in graph.types),
        args=sum(args),
        max_args=max(args, default=0),
        inputs=len(graph.nodes) - len(operators),
        outputs=len(graph.heads),
    )


def aligned(nbytes: int) -> int:
    """``TVM_GRAPH_EXECUTOR_ALIGNED``."""
    return c_layout.aligned(nbytes, ALIGNMENT)


def table_bytes(found: GraphCounts, pointer_bytes: int) -> int:
    """``TVM_GRAPH_EXECUTOR_TABLE_BYTES``, with pointers of 4 or 8 bytes."""
    sizes = {name: struct_bytes(fields, pointer_bytes) for name, fields in _STRUCTS.items()}
    tables = (
        (1, sizes["TVMGraphExecutor"]),
        (found.nodes, sizes["TVMGraphExecutorNode"]),
        (found.entries, sizes["DLTensor"]),
        (found.entries, 4),
        (found.storages, sizes["TVMGraphExecutorStorage"]),
        (found.dims, 8),
        (found.args, sizes["TVMValue"]),
        (found.max_args, 4),
        (found.inputs, 4),
        (found.outputs, 4),
    )
    # Each table begins at an aligned address in the pool, so each is rounded up by itself.
    return sum(aligned(count * size) for count, size in tables)
