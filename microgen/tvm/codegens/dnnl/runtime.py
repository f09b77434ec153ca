"""The sizes of the C runtime's memory for a graph, in bytes.

The structures are those of ``crt/src/dnnl/dnnl_graph.h``. The rule for places in the workspace
is that of ``crt/src/dnnl/dnnl_memory.c``.
"""

from __future__ import annotations

import math

from microgen.base.formats.c_layout import aligned, struct_bytes
from microgen.compiler.codegens import module_pool
from microgen.compiler.codegens.placement import Span, placed
from microgen.tvm.codegens.json_graph import JSONGraph

TYPE_KEY = "dnnl_json"
WORKSPACE_ALIGNMENT = 16  # MG_DNNL_ALIGNMENT; placement has the same

_TEXT = "pi"  # mg_text, at the beginning of a structure
_GRAPH = _TEXT + "pppp" + "iiiiii"
_NODE = "iiiiii" + "ii" + "i" + "hhhhhhhhhh" + "bbbbbbbbbbbb"
_CONSTANT = _TEXT + "pi"
_INDEX = "h"


def pool_bytes(graph: JSONGraph, pointer_bytes: int) -> int:
    """The bytes that ``mg_dnnl_json_load`` takes from a pool, with pointers of 4 or 8 bytes."""
    blocks = (
        (_GRAPH, 1),
        (_NODE, len(graph.nodes)),
        (_INDEX, sum(len(node.inputs) for node in graph.nodes)),
        (_INDEX, len(graph.heads)),
        (_CONSTANT, len(graph.named("const"))),
    )
    return sum(module_pool.aligned(struct_bytes(fields, pointer_bytes) * n) for fields, n in blocks)


def workspace_bytes(graph: JSONGraph) -> int:
    """The bytes that a call of the function needs in addition to its arguments: for intermediates,
    each at the lowest place that is free of those that are still needed."""
    heads = {head for head, *_ in graph.heads}
    last_uses = _last_uses(graph)
    spans = [
        Span(i, aligned(4 * math.prod(node.shapes[0]), WORKSPACE_ALIGNMENT), i, last_uses[i])
        for i, node in enumerate(graph.nodes)
        if node.op == "kernel" and i not in heads
    ]
    return placed(spans, largest_first=False)[1]


def _last_uses(graph: JSONGraph) -> list[int]:
    """The last node that reads each node's output; the node itself if none does."""
    last = list(range(len(graph.nodes)))
    for i, node in enumerate(graph.nodes):
        for read, *_ in node.inputs:
            last[read] = i
    return last
