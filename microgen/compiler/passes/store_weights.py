"""Keeps the weights of float32 layers in flash as the integers that the model stores."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from microgen.base.errors import few, short
from microgen.compiler.passes.changes import Changes
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, Node, Quant, Stored
from microgen.graph.ops import registry
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.weight_only.weight_only import (
    EMBEDDING,
    TWINS,
    DenseWeightOnlyAttrs,
    EmbeddingAttrs,
    dequantized,
)

_TWINS = {twin.layer.name: twin for twin in TWINS}
_DENSE = _TWINS["nn.dense"].op
# If floats take more additional bytes than this, a note names the constants.
_NOTED = 1024


def store_weights(graph: Graph) -> Graph:
    """The graph in which kernels dequantize constant weights of int8 and int4, wherever there are
    such kernels. A note names the other constants, which are float32 in flash."""
    if not graph.stored:
        return graph
    work = _Work(Changes(graph))
    for node in graph.nodes:
        # An external function's code generator compiles the layer that the model has.
        changed = None if node.function else work.changed(node)
        if changed is not None:
            work.changes.changed[node.outputs[0]] = changed
    made = work.changes.made(int4=graph.int4 | work.int4)
    return made.replace(notes=(*made.notes, *_notes(made)))


@dataclass(slots=True)
class _Work:
    changes: Changes
    int4: set[str] = field(default_factory=set)
    # (constant, whether its matrix is transposed) -> the constant of its integers
    _made: dict[tuple[str, bool], str] = field(default_factory=dict)

    def changed(self, node: Node) -> Node | None:
        """The node that reads integers; None if there is no such node."""
        if isinstance(node.attrs, TakeAttrs):
            return self._embedding(node, node.attrs)
        if isinstance(node.attrs, BatchMatmulAttrs):
            return self._product(node, node.attrs)
        twin = _TWINS.get(node.op)
        stored = self._stored(node.inputs[1]) if twin else None
        if twin is None or stored is None:
            return None
        return self._if_sound(node, twin.op, twin.of(node.attrs), stored)

    def _embedding(self, node: Node, attrs: TakeAttrs) -> Node | None:
        """Rows of a table."""
        stored = self._stored(node.inputs[0])
        if stored is None or attrs.axis or attrs.batch_dims:
            return None
        swapped = dataclasses.replace(node, inputs=node.inputs[::-1])
        return self._if_sound(swapped, EMBEDDING.name, EmbeddingAttrs(), stored)

    def _product(self, node: Node, attrs: BatchMatmulAttrs) -> Node | None:
        """A product of matrices of which the second is constant: a fully connected layer."""
        weight = self.changes.graph.types[node.inputs[1]]
        stored = self._stored(node.inputs[1])
        if stored is None or attrs.transpose_a or stored.values.size != np.prod(weight.shape[-2:]):
            return None
        values, quant = stored.values.reshape(weight.shape[-2:]), stored.quant
        columns = 0 if attrs.transpose_b else 1
        if quant.axis is not None:
            # Scales belong to the columns, which are the rows of a layer's weight.
            if quant.axis != len(weight.shape) - 2 + columns:
                return None
            quant = Quant(quant.scale, quant.zero_point, 0)
        values = values.T if columns else values
        matrix = Stored(np.ascontiguousarray(values), quant, stored.is_int4)
        layer = DenseWeightOnlyAttrs(Activation.NONE, keep_num_dims=True)
        return self._if_sound(node, _DENSE, layer, matrix, is_transposed=bool(columns))

    def _stored(self, name: str) -> Stored | None:
        """The int8 values that the model stores for a float constant. None unless they mean exactly
        the constant's values."""
        graph = self.changes.graph
        stored, value = graph.stored.get(name), graph.constants.get(name)
        if stored is None or value is None or value.dtype != np.float32:
            return None
        if stored.values.dtype != np.int8 or any(stored.quant.zero_point):
            return None
        same = dequantized(stored.values, _type(stored.values, stored.quant))
        return stored if np.array_equal(same, value) else None

    def _if_sound(
        self, node: Node, op: str, attrs: Attrs, stored: Stored, *, is_transposed: bool = False
    ) -> Node | None:
        """The node of ``op``, with the integers as its second input; None if the op refuses it, or
        computes another shape."""
        graph = self.changes.graph
        kinds = list(graph.type_of(node.inputs))
        kinds[1] = _type(stored.values, stored.quant)
        output = graph.types[node.outputs[0]]
        definition = registry()[op]
        try:
            (shape,) = definition.infer(attrs, kinds)
        except ValueError:
            return None
        if shape != output.shape or definition.check(attrs, kinds, [output]) is not None:
            return None
        inputs = list(node.inputs)
        inputs[1] = self._constant(inputs[1], stored, is_transposed)
        return dataclasses.replace(node, op=op, attrs=attrs, inputs=tuple(inputs))

    def _constant(self, name: str, stored: Stored, is_transposed: bool) -> str:
        key = (name, is_transposed)
        if key not in self._made:
            kind = _type(stored.values, stored.quant)
            self._made[key] = self.changes.constant(f"{name}#int8", stored.values, kind)
            if stored.is_int4:
                self.int4.add(self._made[key])
        return self._made[key]


def _type(values: Array, quant: Quant) -> ArrayType:
    return ArrayType(values.shape, DType(values.dtype.name), quant)


def _notes(graph: Graph) -> Sequence[str]:
    """A note of the float constants that are larger than in the model."""
    read = {name for node in graph.nodes for name in node.inputs}
    more = {
        name: graph.constants[name].nbytes - stored.values.nbytes // (1 + stored.is_int4)
        for name, stored in graph.stored.items()
        if name in read and name in graph.constants and stored.values.dtype == np.int8
    }
    total = sum(more.values())
    if total < _NOTED:
        return ()
    names = few([f'"{short(name)}"' for name in more])
    return (
        f"the model stores {names} as integers, but no kernel reads them so: as float32 they take "
        f"{total:,} bytes more of flash",
    )
