"""Checks a graph's structure and types, after a frontend and after every pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from microgen.base.errors import InternalError
from microgen.graph.ir import layouts
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.base import OpDefinition


def check(graph: Graph, ops: Mapping[str, OpDefinition]) -> None:
    """Raise InternalError, which names the first error, unless the graph is correct."""
    # The other checks look up types and constants, so names come first.
    _check_names(graph)
    _check_variables(graph)
    _check_int4(graph)
    _check_layouts(graph)
    known = {*graph.inputs, *graph.constants, *graph.variables}
    for node in graph.nodes:
        _check_order(node, known)
        known.update(node.outputs)
        _check_types(node, graph, ops)
    if missing := [name for name in graph.results if name not in known]:
        raise InternalError(f"output {missing[0]!r} is computed by no node", where=graph.name)


def _check_names(graph: Graph) -> None:
    sources = [*graph.inputs, *graph.constants, *graph.variables]
    defined = [*sources, *(o for n in graph.nodes for o in n.outputs)]
    if twice := sorted(name for name, count in Counter(defined).items() if count > 1):
        raise InternalError(f"tensor {twice[0]!r} is defined twice", where=graph.name)
    if untyped := sorted(set(defined) - graph.types.keys()):
        raise InternalError(f"tensor {untyped[0]!r} has no type", where=graph.name)
    for name, array in graph.constants.items():
        _check_array(f"constant {name!r} is", array, graph, name)


def _check_array(what: str, array: Array, graph: Graph, name: str) -> None:
    declared = graph.types[name]
    if array.shape != declared.shape or array.dtype != declared.dtype.numpy:
        problem = f"{array.dtype}{array.shape}, its type says {declared}"
        raise InternalError(f"{what} {problem}", where=graph.name)


def _check_variables(graph: Graph) -> None:
    uses = graph.uses_of()
    if shared := [n for n in graph.variables if uses[n] > 1 and n not in graph.updates]:
        raise InternalError(f"variable {shared[0]!r} has more than one reader", where=graph.name)
    for name in {*graph.updates, *graph.initial} - {*graph.variables}:
        raise InternalError(f"{name!r} is updated, but it is not a variable", where=graph.name)
    for name, source in graph.updates.items():
        if str(graph.types[name]) != str(graph.types[source]):
            problem = f"variable {name!r} is {graph.types[name]}, its next value"
            raise InternalError(f"{problem} {graph.types[source]}", where=graph.name)
    for name, array in graph.initial.items():
        _check_array(f"variable {name!r} begins as", array, graph, name)


def _check_int4(graph: Graph) -> None:
    for name in sorted(graph.int4):
        array = graph.constants.get(name)
        if array is None or array.dtype != np.int8 or array.min() < -8 or array.max() > 7:
            problem = f"{name!r} is not an int8 constant of values from -8 to 7"
            raise InternalError(problem, where=graph.name)


def _check_layouts(graph: Graph) -> None:
    for name, layout in graph.laid_out.items():
        kind = graph.types.get(name)
        if kind is None or not layouts.fits(layout, kind, graph.channels.get(name)):
            problem = f"{name!r} cannot have the elements of {layout.tensor!r} in the layout"
            raise InternalError(f"{problem} {layout.moves}", where=graph.name)


def _check_order(node: Node, known: set[str]) -> None:
    if late := [name for name in node.inputs if name not in known]:
        raise InternalError(f"reads {late[0]!r} before it is computed", where=str(node.origin))


def _check_types(node: Node, graph: Graph, ops: Mapping[str, OpDefinition]) -> None:
    op, where = ops.get(node.op), str(node.origin)
    if op is None or not isinstance(node.attrs, op.attrs):
        raise InternalError(f"op {node.op!r} with {type(node.attrs).__name__}", where=where)
    inputs, outputs = graph.type_of(node.inputs), graph.type_of(node.outputs)
    try:
        shapes = op.infer(node.attrs, inputs)
    except ValueError as error:
        raise InternalError(f"{node.op}: {error}", where=where) from error
    declared = tuple(t.shape for t in outputs)
    if shapes != declared:
        problem = f"{node.op} gives shapes {shapes}, declared are {declared}"
        raise InternalError(problem, where=where)
    if broken := op.check(node.attrs, inputs, outputs):
        raise InternalError(f"{node.op}: {broken}", where=where)
