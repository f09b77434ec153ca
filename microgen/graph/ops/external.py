"""external: a part of the network that an external code generator compiles.

It computes a graph that it contains. The references of that graph specify the generator's code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microgen.graph.ir import beside, interpreter
from microgen.graph.ir.graph import Arrays, Attrs, Graph, Types
from microgen.graph.ops.base import Bound, Inexact, OpDefinition, Operands, Shapes


@dataclass(frozen=True, slots=True, eq=False)
class ExternalAttrs(Attrs):
    """Inputs: as many tensors as ``graph`` has inputs, of their types, in their order.

    ``symbol`` is the function's global symbol, ``codegen`` the name of the code generator.
    ``graph`` contains the function's constants, and its outputs are the function's. ``function`` is
    the Relay function, with the types of its expressions in ``types``, or None if there is none.
    """

    symbol: str
    codegen: str
    graph: Graph
    function: Any = None
    types: Mapping[Any, Any] | None = None


def infer(attrs: ExternalAttrs, inputs: Types) -> Shapes:
    """The shapes of the graph's outputs."""
    expected = attrs.graph.type_of(attrs.graph.inputs)
    shapes, wanted = [t.shape for t in inputs], [t.shape for t in expected]
    if shapes != wanted:
        raise ValueError(f"{attrs.symbol} is given {shapes}; {wanted} is expected")
    return tuple(t.shape for t in attrs.graph.type_of(attrs.graph.outputs))


def check(attrs: ExternalAttrs, inputs: Types, outputs: Types) -> str | None:
    """The dtypes equal the dtypes of the graph inside."""
    tensors = (*inputs, *outputs)
    own = attrs.graph.type_of((*attrs.graph.inputs, *attrs.graph.outputs))
    for mine, tensor in zip(own, tensors, strict=True):
        if mine.dtype is not tensor.dtype:
            return f"{attrs.symbol} has {mine} where {tensor} is"
    return None


def reference(attrs: ExternalAttrs, operands: Operands) -> Arrays:
    """The outputs of the graph inside."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this module
    )

    arrays = dict(zip(attrs.graph.inputs, operands.inputs, strict=True))
    values = interpreter.evaluate(attrs.graph, arrays, registry())
    return tuple(values[name] for name in attrs.graph.outputs)


def _bound(attrs: ExternalAttrs, inexact: Inexact) -> Arrays:
    """The errors of the nodes inside, computed one after the other."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this module
    )

    inside = attrs.graph
    inputs = dict(zip(inside.inputs, inexact.operands.inputs, strict=True))
    errors = dict(zip(inside.inputs, inexact.errors, strict=True))
    by_tensor = {one.tensor: one for one in beside.walk(inside, inputs, registry(), {}, off=errors)}
    return tuple(
        by_tensor[name].bound if name in by_tensor else errors[name] for name in inside.outputs
    )


def words(_word: str, attrs: ExternalAttrs, _n_inputs: int) -> tuple[str, ...]:
    """Any words, because the symbol replaces the primitive function's name."""
    return (attrs.codegen,)


OP = OpDefinition(
    "external",
    ExternalAttrs,
    infer,
    check,
    reference,
    words,
    bound=Bound("those of the layers inside", _bound),
)
