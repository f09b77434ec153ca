"""The names of a model's outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from microgen.base.errors import short
from microgen.frontends import tensors
from microgen.frontends.tensors import GraphBuilder, Tensor
from microgen.graph.ir.graph import Node, Origin
from microgen.graph.ops.moves.views import CopyAttrs


def named(
    builder: GraphBuilder, found: Sequence[Tensor], wanted: Sequence[str], file: str
) -> list[Tensor]:
    """The outputs under their names in the model. A node's result that has another name is renamed,
    if it is no other output. Inputs, constants and other outputs are copied. UnsupportedError for
    an output without elements."""
    free = {name for node in builder.nodes for name in node.outputs}.difference(wanted)
    results: list[Tensor] = []
    names: dict[str, str] = {}
    for tensor, name in zip(found, wanted, strict=True):
        tensors.checked(tensor.type, f'{file}: the output "{short(name)}"')
        own = dataclasses.replace(tensor, name=names.get(tensor.name, tensor.name))
        if own.name == name:
            results.append(own)
        elif own.name in free:
            names[own.name] = builder.fresh(name)
            results.append(dataclasses.replace(own, name=names[own.name]))
        else:
            results.append(_copied(builder, own, name, file))
    builder.rename(names, 0)
    return results


def _copied(builder: GraphBuilder, tensor: Tensor, name: str, file: str) -> Tensor:
    copy = builder.declare(name, tensor.type)
    node = Node("copy", (tensor.name,), (copy.name,), CopyAttrs(), Origin(file, name))
    builder.add(node, (tensor, copy))
    return copy
