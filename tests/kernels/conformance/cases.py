"""Cases of one op, each a node with the values of its inputs, and functions that make them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from microgen.compiler.passes.padding import canonical_padding
from microgen.graph import ops
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
from microgen.graph.ops.base import Operands, StatusError


@dataclass(frozen=True)
class Tensor:
    """An input of a case; weights and biases are constants. ``is_int4`` if a model stores it in 4
    bits."""

    type: ArrayType
    array: Array
    is_constant: bool = False
    is_int4: bool = False


@dataclass(frozen=True)
class Outcome:
    """The status that a kernel returns, and the arrays that it writes if the status is 0."""

    status: int
    arrays: tuple[Array, ...]


@dataclass(frozen=True)
class Case:
    """One node with the values of its inputs.

    Raises ValueError if the op refuses it. ``output_quant`` is None if the output's values are
    plain numbers.
    """

    name: str
    op: str
    attrs: Attrs
    inputs: tuple[Tensor, ...]
    output_quant: Quant | None
    output_dtype: DType = DType.INT8

    def __post_init__(self) -> None:
        refusal = ops.registry()[self.op].check(self.attrs, self.input_types, (self.output_type,))
        if refusal:
            raise ValueError(f"{self.name}: {refusal}")

    @cached_property
    def input_types(self) -> tuple[ArrayType, ...]:
        return tuple(tensor.type for tensor in self.inputs)

    @cached_property
    def output_type(self) -> ArrayType:
        (shape,) = ops.registry()[self.op].infer(self.attrs, self.input_types)
        return ArrayType(shape, self.output_dtype, self.output_quant)

    @cached_property
    def writes(self) -> tuple[int, ...]:
        """Positions of the inputs that the node updates."""
        return ops.registry()[self.op].writes(self.attrs, len(self.inputs))

    @property
    def expected(self) -> Array:
        """The output that the numpy reference computes."""
        return self.outcome.arrays[0]

    @cached_property
    def outcome(self) -> Outcome:
        """The numpy reference's results: the output, then the variables that it updates."""
        arrays = tuple(tensor.array for tensor in self.inputs)
        operands = Operands(arrays, self.input_types, (self.output_type,))
        try:
            found = ops.registry()[self.op].reference(self.attrs, operands)
        except StatusError as failure:
            return Outcome(failure.status, ())
        kinds = (self.output_type, *(self.input_types[i] for i in self.writes))
        for array, kind in zip(found, kinds, strict=True):
            assert array.dtype == kind.dtype.numpy
            assert array.shape == kind.shape
        return Outcome(0, found)

    @cached_property
    def node(self) -> Node:
        """The node as kernels get it: its padding is given as numbers."""
        (node,) = self.graph.nodes
        return node

    @cached_property
    def graph(self) -> Graph:
        names = tuple(f"input{i}" for i in range(len(self.inputs)))
        node = Node(self.op, names, ("output",), self.attrs, Origin("case", self.name))
        tensors = dict(zip(names, self.inputs, strict=True))
        graph = Graph(
            name="case",
            inputs=tuple(name for name, tensor in tensors.items() if not tensor.is_constant),
            outputs=node.outputs,
            nodes=(node,),
            types={**{n: t.type for n, t in tensors.items()}, "output": self.output_type},
            constants={n: frozen(t.array) for n, t in tensors.items() if t.is_constant},
            int4=frozenset(n for n, t in tensors.items() if t.is_int4),
        )
        return canonical_padding(graph)


def quant(scale: float, zero_point: int = 0) -> Quant:
    """Per-tensor quantization. The scale is rounded to float32, because a model file's is."""
    return Quant((float(np.float32(scale)),), (zero_point,))


def random_quant(rng: np.random.Generator) -> Quant:
    """A scale in [0.001, 1). Every third zero point is an end of int8."""
    zero_point = int(rng.choice([-128, 127, *rng.integers(-128, 128, 4)]))
    return quant(10 ** rng.uniform(-3, 0), zero_point)


def of_dtype(quant: Quant, dtype: DType) -> Quant:
    """An int8 quantization for another dtype: the same real values for uint8, and no zero point for
    wider integers."""
    zeros = {DType.INT8: quant.zero_point[0], DType.UINT8: quant.zero_point[0] + 128}
    return Quant(quant.scale, (zeros.get(dtype, 0),))


def int8(rng: np.random.Generator, shape: tuple[int, ...], of: Quant) -> Tensor:
    """Uniformly random int8 values; the extremes are included."""
    array = rng.integers(-128, 128, shape).astype(np.int8)
    return Tensor(ArrayType(shape, DType.INT8, of), array)


def int16(rng: np.random.Generator, shape: tuple[int, ...], scale: float = 1.0) -> Tensor:
    """Uniformly random int16 values; some tensors have only the extremes."""
    if rng.random() < 0.2:
        array = rng.choice(np.array([-32768, 32767], np.int16), shape)
    else:
        array = rng.integers(-32768, 32768, shape).astype(np.int16)
    return Tensor(ArrayType(shape, DType.INT16, quant(scale)), array)


def float32(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    scale: float = 1.0,
    *,
    is_constant: bool = False,
) -> Tensor:
    """Normally distributed float32 values with that standard deviation."""
    array = rng.normal(0, scale, shape).astype(np.float32)
    return Tensor(ArrayType(shape, DType.FLOAT32), array, is_constant)


def weight(
    rng: np.random.Generator, shape: tuple[int, ...], axis: int | None, scale: float = 0.01
) -> Tensor:
    """Symmetric int8 weights with one scale, or with one near ``scale`` per index of ``axis``."""
    array = rng.integers(-128, 128, shape).astype(np.int8)
    count = 1 if axis is None else shape[axis]
    scales = (scale * rng.uniform(0.3, 3, count)).astype(np.float32)
    of = Quant(tuple(float(s) for s in scales), (0,) * count, axis)
    return Tensor(ArrayType(shape, DType.INT8, of), array, is_constant=True)


def float_weights(
    rng: np.random.Generator, shape: tuple[int, ...], axis: int, *, biased: bool = True
) -> tuple[Tensor, ...]:
    """A float32 weight, and a bias with one value per index of ``axis``."""
    made = (float32(rng, shape), float32(rng, (shape[axis],), 3.0))[: 2 if biased else 1]
    return tuple(replace(tensor, is_constant=True) for tensor in made)


def bias(values: Array, dtype: DType = DType.INT32) -> Tensor:
    """A bias of that dtype."""
    array = values.astype(dtype.numpy)
    return Tensor(ArrayType(array.shape, dtype), array, is_constant=True)


def output_scale(data: Tensor, filters: Tensor, products: int) -> float:
    """A scale that spreads the sums of ``products`` random products over most of int8."""
    assert filters.type.quant is not None
    typical_sum = 75 * 75 * float(np.sqrt(products))
    return data.type.scale * max(filters.type.quant.scale) * typical_sum / 50


def least_output_scale(data: Tensor, filters: Tensor, products: int) -> float:
    """About the smallest scale that the op accepts.

    It scales the largest sum of ``products`` products to nearly 2**31.
    """
    assert filters.type.quant is not None
    farthest = max(127 - data.type.zero_point, data.type.zero_point + 128)
    largest_sum = products * farthest * 128
    return 1.001 * data.type.scale * max(filters.type.quant.scale) * largest_sum / 2**31
