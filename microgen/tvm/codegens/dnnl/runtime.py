"""The C runtime's memory for a graph, and its requirements for functions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from microgen.base.errors import UnsupportedError
from microgen.base.formats.c_layout import aligned, struct_bytes
from microgen.compiler.codegens import module_pool
from microgen.compiler.codegens.external import ExternalFunction
from microgen.compiler.codegens.placement import BufferSpan, placed
from microgen.relay.expr import Call, Expr, Function, Op, TensorType, Type
from microgen.relay.transform.support import operator_call
from microgen.relay.visit import depth_first, operands
from microgen.tvm.codegens.dnnl import composites
from microgen.tvm.codegens.dnnl.support import OPERATORS
from microgen.tvm.codegens.json_graph import JSONGraph

TYPE_KEY = "dnnl_json"
WORKSPACE_ALIGNMENT = 16  # MG_DNNL_ALIGNMENT; placement has the same

_TEXT = "pi"  # mg_text, at the beginning of a structure
# Fields of the structures in crt/src/dnnl, as letters of ``struct_bytes``.
_GRAPH = _TEXT + "pppp" + "iiiiii"
_NODE = "iiiiii" + "ii" + "i" + "hhhhhhhhhh" + "bbbbbbbbbbbb"
_CONSTANT = _TEXT + "pi"
_INDEX = "h"


def pool_bytes(graph: JSONGraph, pointer_bytes: int) -> int:
    """The bytes that ``mg_dnnl_json_load`` takes from a pool, with pointers of 4 or 8 bytes."""
    blocks = (
        (_GRAPH, 1),
        (_NODE, len(graph.nodes)),
        # In the order in which the C code takes blocks from the pool.
        (_INDEX, sum(len(node.inputs) for node in graph.nodes)),
        (_INDEX, len(graph.heads)),
        (_CONSTANT, len(graph.named("const"))),
    )
    return sum(module_pool.aligned(struct_bytes(fields, pointer_bytes) * n) for fields, n in blocks)


def workspace_bytes(graph: JSONGraph) -> int:
    """The bytes that a call of the function needs for intermediates, in addition to its arguments.
    Each intermediate has the lowest offset at which it overlaps no live intermediate."""
    # Heads are computed in the memory of the function's outputs.
    heads = {head for head, *_ in graph.heads}
    last_uses = _last_uses(graph)
    spans = [
        BufferSpan(i, aligned(4 * math.prod(node.shapes[0]), WORKSPACE_ALIGNMENT), i, last_uses[i])
        for i, node in enumerate(graph.nodes)
        if node.op == "kernel" and i not in heads
    ]
    return placed(spans, largest_first=False)[1]


def _last_uses(graph: JSONGraph) -> list[int]:
    """The last node that reads each node's output; the node itself if no node reads it."""
    last = list(range(len(graph.nodes)))
    for i, node in enumerate(graph.nodes):
        for read, *_ in node.inputs:
            last[read] = i
    return last


# The runtime's requirements for a function from any partitioner. The predicates have checked only
# functions from microgen's own partitioner.

MAX_NODES = 1024  # MG_DNNL_MAX_NODES


def check_function(function: ExternalFunction, relay: Function) -> None:
    """Raise UnsupportedError for an operator, a composite or a parameter that the runtime lacks."""
    for what, why in _problems(relay, function.types):
        raise UnsupportedError(
            f"dnnl does not take {what} in {function.symbol}: {why}",
            where=str(function.origin),
            hint="leave it out of the functions whose Compiler is dnnl",
        )


def check_graph(function: ExternalFunction, graph: JSONGraph) -> None:
    """Raise UnsupportedError for a graph with more nodes than the runtime can count."""
    if len(graph.nodes) > MAX_NODES:
        raise UnsupportedError(
            f"{function.symbol} has {len(graph.nodes)} nodes; the runtime takes up to {MAX_NODES}",
            where=str(function.origin),
            hint="leave --merge-regions out, or partition the model into smaller functions",
        )


def _problems(relay: Function, types: Mapping[Expr, Type]) -> Iterator[tuple[str, str]]:
    for param in relay.params:
        if not isinstance(types[param], TensorType):
            yield f"the parameter %{param.name_hint}", f"it is {types[param]}, not a tensor"
    for expr in depth_first(relay.body, operands):
        if isinstance(expr, Call):
            name, why = _refusal(expr, types)
            if why is not None:
                yield name, why


def _refusal(call: Call, types: Mapping[Expr, Type]) -> tuple[str, str | None]:
    """The name of the called operator or composite, and the reason why the runtime refuses it."""
    if isinstance(call.op, Op):
        name = call.op.name
        predicate = OPERATORS.get(name)
        return name, predicate(operator_call(call, types)) if predicate else "it has none"
    if isinstance(call.op, Function) and "Composite" in call.op.attrs:
        name = str(call.op.attrs["Composite"])
        return name, composites.refusal(name, call.op.body, types, call.op.params)
    return "a call", "it calls a function that is not a composite function"
