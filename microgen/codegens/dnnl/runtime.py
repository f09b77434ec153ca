"""How many bytes of memory the C runtime takes for a graph.

The structures are those of ``crt/src/dnnl/dnnl_graph.h``, the rule for places in the workspace
that of ``crt/src/dnnl/dnnl_memory.c``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from microgen.codegens.json_graph import JSONGraph
from microgen.codegens.module_pool import aligned
from microgen.formats.c_layout import struct_bytes

TYPE_KEY = "dnnl_json"
WORKSPACE_ALIGNMENT = 16  # MG_DNNL_ALIGNMENT

_TEXT = "pi"  # mg_text, at the front of a structure
_GRAPH = _TEXT + "pppp" + "iiiiii"
_NODE = "iiiiii" + "ii" + "i" + "hhhhhhhhhh" + "bbbbbbbbbbbb"
_CONSTANT = _TEXT + "pi"
_INDEX = "h"


def pool_bytes(graph: JSONGraph, pointer_bytes: int) -> int:
    """What ``mg_dnnl_json_load`` takes of a pool, with pointers of 4 or 8 bytes."""
    blocks = (
        (_GRAPH, 1),
        (_NODE, len(graph.nodes)),
        (_INDEX, sum(len(node.inputs) for node in graph.nodes)),
        (_INDEX, len(graph.heads)),
        (_CONSTANT, len(graph.named("const"))),
    )
    return sum(aligned(struct_bytes(fields, pointer_bytes) * n) for fields, n in blocks)


def workspace_bytes(graph: JSONGraph) -> int:
    """What a call of the function needs beside its arguments: for intermediates, each at the
    lowest place that those which are still needed leave free."""
    placed: list[_Block] = []
    for i, last_use in enumerate(_last_uses(graph)):
        if graph.nodes[i].op == "kernel" and i not in {head for head, *_ in graph.heads}:
            needed = [block for block in placed if block.last_use >= i]
            placed.append(_place(needed, _bytes(graph.nodes[i].shapes[0]), last_use))
    return max((block.end for block in placed), default=0)


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    last_use: int  # a node's number


def _bytes(shape: Sequence[int]) -> int:
    return -(-4 * math.prod(shape) // WORKSPACE_ALIGNMENT) * WORKSPACE_ALIGNMENT


def _last_uses(graph: JSONGraph) -> list[int]:
    """The last node that reads each node's output; the node itself if none does."""
    last = list(range(len(graph.nodes)))
    for i, node in enumerate(graph.nodes):
        for read, *_ in node.inputs:
            last[read] = i
    return last


def _place(needed: Sequence[_Block], nbytes: int, last_use: int) -> _Block:
    start = 0
    for block in sorted(needed, key=lambda block: block.start):
        if block.start >= start + nbytes:
            break
        start = max(start, block.end)
    return _Block(start, start + nbytes, last_use)
