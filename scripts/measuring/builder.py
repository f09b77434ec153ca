"""Builds graphs from nodes: one layer after the other, each with data and a result of its own.

Layers read parts of the same inputs, one of each dtype, and the network's output
has one element of each layer's result. So two tensors of a layer are in memory at a time."""

from __future__ import annotations

import math

import numpy as np

from microgen.graph.ir.graph import (
    Array,
    ArrayType,
    Attrs,
    DType,
    Graph,
    Node,
    Origin,
    Quant,
    frozen,
)
from microgen.graph.ops import registry
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.quantization.rescale import RequantizeAttrs

SMALL = 3072  # bytes of each input with which layers fit 16 KB of RAM
DATA = Quant((0.05,), (3,))
OTHER = Quant((0.08,), (-9,))
RESULT = Quant((0.9,), (-4,))
_JOINED = 16  # results that one node joins


class Builder:
    """A graph under construction. ``layer`` is the name of the layer to which new nodes belong."""

    def __init__(self, nbytes: int = 4 * SMALL) -> None:
        self.layer = ""
        self._nbytes = nbytes
        self.types: dict[str, ArrayType] = {}
        self.constants: dict[str, Array] = {}
        self.nodes: list[Node] = []
        self.variables: list[str] = []
        self.int4: set[str] = set()
        self._inputs: dict[DType, str] = {}
        self._ends: dict[tuple[DType, Quant | None], list[str]] = {}

    def data(self, dtype: DType, *shape: int) -> str:
        """A tensor of that shape with values of the network's input."""
        if dtype not in self._inputs:
            kind = ArrayType((self._nbytes // dtype.nbytes,), dtype, _quant(dtype, DATA))
            self._inputs[dtype] = self._named(f"input_{dtype.value}", kind)
        attrs = StridedSliceAttrs((0,), (1,), (math.prod(shape),))
        part = self._moved("strided_slice", attrs, self._inputs[dtype])
        return self._moved("reshape", ReshapeAttrs(shape), part)

    def rescaled(self, name: str) -> str:
        """The same values with another scale, if they have one."""
        kind = self.types[name]
        if kind.quant is None:
            return name
        other = self._named(
            f"t{len(self.types)}", ArrayType(kind.shape, kind.dtype, _quant(kind.dtype, OTHER))
        )
        origin = Origin("calibration", "")
        self.nodes.append(Node("qnn.requantize", (name,), (other,), RequantizeAttrs(), origin))
        return other

    def weight(
        self,
        dtype: DType,
        shape: tuple[int, ...],
        axis: int | None,
        bits: int = 8,
        zero: int = 0,
    ) -> str:
        """Weights, quantized along ``axis``, or as a whole if it is None. The same arguments give
        the same constant."""
        name = f"weight_{dtype.value}_{bits}_{axis}_{'_'.join(map(str, shape))}"
        name += f"_{zero}" if zero else ""
        if name in self.constants:
            return name
        rng = np.random.default_rng(math.prod(shape))
        if dtype is DType.FLOAT32:
            return self.constant(rng.normal(0, 0.3, shape).astype(np.float32), None, name)
        count = 1 if axis is None else shape[axis]
        scales = rng.uniform(0.002, 0.02, count).astype(np.float32)
        quant = Quant(tuple(map(float, scales)), (zero,) * count, axis)
        most = 2 ** (bits - 1)
        if bits == 4:
            self.int4.add(name)
        values = rng.integers(1 - most, most, shape).astype(np.int8)
        return self.constant(values, quant, name)

    def bias(self, dtype: DType, *shape: int) -> str:
        """Biases: int64 for int16, int32 for other integers."""
        rng = np.random.default_rng(math.prod(shape))
        name = f"bias_{dtype.value}_{'_'.join(map(str, shape))}"
        if dtype is DType.FLOAT32:
            return self.constant(rng.normal(0, 1, shape).astype(np.float32), None, name)
        biases = rng.integers(-3000, 3000, shape)
        wide = np.int64 if dtype is DType.INT16 else np.int32
        return self.constant(biases.astype(wide), None, name)

    def constant(self, values: Array, quant: Quant | None, name: str) -> str:
        """A constant."""
        kind = ArrayType(values.shape, DType(values.dtype.name), quant)
        self.constants.setdefault(name, frozen(values))
        self.types[name] = kind
        return name

    def variable(self, kind: ArrayType) -> str:
        """A variable, which begins with zeros."""
        self.variables.append(self._named(f"state{len(self.variables)}", kind))
        return self.variables[-1]

    def node(
        self, op: str, attrs: Attrs, *inputs: str, dtype: DType, quant: Quant | None = RESULT
    ) -> Node:
        """The node of the layer that is measured."""
        (shape, *_) = registry()[op].infer(attrs, [self.types[name] for name in inputs])
        output = self._named(f"t{len(self.types)}", ArrayType(shape, dtype, _quant(dtype, quant)))
        self.nodes.append(Node(op, inputs, (output,), attrs, Origin("calibration", self.layer)))
        return self.nodes[-1]

    def end(self, node: Node) -> None:
        """Ends a layer: the network's output gets the first element of the node's result."""
        kind = self.types[node.outputs[0]]
        ones = (1,) * len(kind.shape)
        attrs = StridedSliceAttrs((0,) * len(ones), ones, ones)
        self.layer = ""
        one = self._moved("strided_slice", attrs, node.outputs[0])
        flat = self._moved("reshape", ReshapeAttrs((1,)), one)
        self._ends.setdefault((kind.dtype, kind.quant), []).append(flat)

    def graph(self) -> Graph:
        """The whole network."""
        outputs = tuple(self._joined(ends) for ends in self._ends.values())
        return Graph(
            "calibration",
            tuple(self._inputs.values()),
            outputs,
            tuple(self.nodes),
            self.types,
            self.constants,
            tuple(self.variables),
            int4=frozenset(self.int4),
        )

    def _joined(self, parts: list[str]) -> str:
        while len(parts) > 1:
            groups = [parts[i : i + _JOINED] for i in range(0, len(parts), _JOINED)]
            parts = [self._moved("concatenate", ConcatenateAttrs(0), *group) for group in groups]
        return parts[0]

    def _moved(self, op: str, attrs: Attrs, *inputs: str) -> str:
        kind = self.types[inputs[0]]
        (shape,) = registry()[op].infer(attrs, [self.types[name] for name in inputs])
        name = self._named(f"t{len(self.types)}", ArrayType(shape, kind.dtype, kind.quant))
        self.nodes.append(Node(op, inputs, (name,), attrs, Origin("calibration", "")))
        return name

    def _named(self, name: str, kind: ArrayType) -> str:
        self.types[name] = kind
        return name


def _quant(dtype: DType, quant: Quant | None) -> Quant | None:
    if quant is not None and dtype is DType.INT16:
        return Quant(quant.scale, (0,))
    return quant if dtype in (DType.INT8, DType.UINT8) else None
