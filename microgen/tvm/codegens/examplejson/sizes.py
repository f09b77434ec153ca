"""The bytes that a text takes on the board, on a target with pointers of a given size.

The structures are defined in ``examplejson_graph.h`` and ``runtime_examplejson.c`` in
``crt/src/examplejson``. The workspace is planned as in ``examplejson_plan.c``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from microgen.base.formats.c_layout import struct_bytes
from microgen.compiler.codegens.module_pool import aligned
from microgen.tvm.codegens.examplejson.text import Subgraph

# Letters of ``struct_bytes``. A text is "pi", and the last field.
_MODULE = "p" + "pi"
_FUNCTION = "ppp" + "iii" + "pi"
_NODE = "pppp" + "p" + "iiii" + "bb"
_OUTPUT = "pp"
_DIM_BYTES = 8


def pool_bytes(subgraphs: Sequence[Subgraph], pointer_bytes: int) -> int:
    """The bytes of the module pool for these subgraphs, with pointers of 4 or 8 bytes."""
    functions = (_function_bytes(subgraph, pointer_bytes) for subgraph in subgraphs)
    return _block(_MODULE, pointer_bytes) + sum(functions)


def _function_bytes(subgraph: Subgraph, pointer_bytes: int) -> int:
    return (
        _block(_FUNCTION, pointer_bytes)
        + len(subgraph.nodes) * _block(_NODE, pointer_bytes)
        + len(subgraph.outputs) * _block(_OUTPUT, pointer_bytes)
        + sum(aligned(_DIM_BYTES * len(node.shape)) for node in subgraph.inputs)
    )


def _block(fields: str, pointer_bytes: int) -> int:
    return aligned(struct_bytes(fields, pointer_bytes))


def workspace_bytes(subgraph: Subgraph) -> int:
    """The bytes of the workspace that a call takes. A value that is not an output takes the place
    of a dead value of the same size, such as an operand of its own operator. If there is no such
    dead value, the new value is placed after all others."""
    last_reader = {operand: node.id for node in subgraph.operators for operand in node.operands}
    placed: set[int] = set()
    free: Counter[int] = Counter()  # bytes -> number of free places
    total = 0
    for node in subgraph.operators:
        read = placed.intersection(node.operands)
        # Before the result gets a place: an elementwise operator may overwrite its operand.
        free[node.nbytes] += sum(last_reader[operand] == node.id for operand in read)
        if node.id in subgraph.outputs:
            continue
        if free[node.nbytes]:
            free[node.nbytes] -= 1
        else:
            total += node.nbytes
        placed.add(node.id)
        # A value that nothing reads is dead at once.
        free[node.nbytes] += node.id not in last_reader
    return total
