"""The graph: frozen values, tensors identified by name, the model's own layer names kept."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]


class DType(enum.Enum):
    """Element type of a tensor; the value is the name that numpy and TVM use."""

    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT32 = "float32"
    BOOL = "bool"

    # Keys of caches have many dtypes, and Enum's own function is Python code.
    __hash__ = object.__hash__

    @property
    def numpy(self) -> np.dtype[Any]:
        """The little-endian numpy dtype."""
        return _little_endian(self.value)

    @property
    def nbytes(self) -> int:
        """Bytes of one element."""
        return self.numpy.itemsize


@cache
def _little_endian(name: str) -> np.dtype[Any]:
    return np.dtype(name).newbyteorder("<")


MAX_BYTES = 2**31 - 1  # of one tensor: generated C counts bytes and elements with int32_t


@dataclass(frozen=True)
class Quant:
    """Affine quantization: ``real = scale * (stored - zero_point)``."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    # None: one scale and zero point; otherwise one for each index of the axis
    axis: int | None = None

    @cached_property
    def scales(self) -> Array:
        """The scales, float32 [n], read-only. It is always the same array, because caches use it as
        a key.
        """
        return frozen(np.array(self.scale, np.float32))

    @property
    def is_per_tensor(self) -> bool:
        """Whether one scale covers the whole tensor."""
        return self.axis is None


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Shape, dtype and, for quantized tensors, the quantization."""

    shape: tuple[int, ...]
    dtype: DType
    quant: Quant | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The tensor's bytes in memory. No two elements have padding between them."""
        return self.size * self.dtype.nbytes

    @property
    def scale(self) -> float:
        """Scale of a per-tensor quantized tensor; ValueError otherwise."""
        return self._per_tensor().scale[0]

    @property
    def zero_point(self) -> int:
        """Zero point of a per-tensor quantized tensor; ValueError otherwise."""
        return self._per_tensor().zero_point[0]

    @property
    def zero(self) -> int:
        """The stored value that means 0; ValueError for a tensor quantized per channel."""
        return 0 if self.quant is None else self.zero_point

    def _per_tensor(self) -> Quant:
        if self.quant is None or not self.quant.is_per_tensor:
            raise ValueError(f"{self} has no per-tensor quantization")
        return self.quant

    def __str__(self) -> str:
        return f"{self.dtype.value}[{','.join(map(str, self.shape))}]"


Types = Sequence[ArrayType]  # of several tensors, in order


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a node: the model file's name and the model's own name for the layer."""

    file: str
    layer: str

    def __str__(self) -> str:
        return f'{self.file}: layer "{self.layer}"'


@dataclass(frozen=True, slots=True)
class Attrs:
    """Base of every op's attributes dataclass, which is in the op's module
    (``microgen/graph/ops/<family>/``)."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation. Its ``inputs`` and ``outputs`` are names of tensors."""

    op: str
    inputs: tuple[str, ...]  # An optional input at the end that is absent is not listed.
    outputs: tuple[str, ...]
    attrs: Attrs
    origin: Origin
    # The target that computes the node; empty for the host, the CPU that runs the runner.
    target: str = ""
    # The global symbol of the external function that the node is part of; empty except in
    # partitioned models.
    function: str = ""
    # The layouts with which the model declares its own operator, by attribute, as ("data_layout",
    # "NCHW").
    layouts: tuple[tuple[str, str], ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """The place where the node is computed: its target and its external function. Only nodes
        with the same place are ever fused."""
        return self.target, self.function


@dataclass(frozen=True, slots=True)
class KeptChannels:
    """The channels (indices of the last axis) that a tensor of the model has kept. The tensor had
    ``count`` channels, and ``kept`` has the indices of the kept channels, ascending.
    """

    count: int
    kept: tuple[int, ...]

    def without(self, mask: Array) -> KeptChannels:
        """The remaining channels that ``mask``, bool [len(kept)], marks."""
        return KeptChannels(self.count, tuple(itertools.compress(self.kept, mask)))

    def index_in_model(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """The index in the model's tensor of an element of the kept channels."""
        return (*index[:-1], self.kept[index[-1]])

    def filled(self, left: Array, whole: Array) -> Array:
        """The model's tensor: its kept channels are from ``left``, its other channels from
        ``whole``."""
        filled = whole.copy()
        filled[..., list(self.kept)] = left
        return filled


Move = tuple[tuple[int, ...], tuple[int, ...]]
"""A shape to which a tensor is reshaped, and an order of its axes: axis k of the result is axis
``axes[k]`` of the reshaped tensor."""


@dataclass(frozen=True, slots=True)
class TensorLayout:
    """The layout of a tensor of the graph that has the elements of the model's tensor ``tensor``.
    The ``moves``, in order, turn the graph's tensor into the model's. The first move gets the
    tensor with all of its channels.
    """

    tensor: str
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """The integers that a model stores for a float constant."""

    values: Array  # int8, int16 or int32, of the constant's shape
    quant: Quant
    is_int4: bool = False  # the model stores them in 4 bits


@dataclass(frozen=True, slots=True)
class Graph:
    """A network, whose tensors have names. Passes make new graphs of it and do not change it."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]  # in execution order
    types: Mapping[str, ArrayType]  # of every tensor named anywhere in the graph
    constants: Mapping[str, Array]  # read-only arrays
    # Their values remain from one inference to the next. Each variable that is not in ``updates``
    # has one node, which reads and updates it (``OpDefinition.writes``).
    variables: tuple[str, ...] = ()
    # The inputs that have only one sound value, which follows from the shapes: no node reads them.
    fixed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    # The names of the outputs for callers, if these are not the tensors' names; otherwise empty.
    output_names: tuple[str, ...] = ()
    # For each input and for each output, further names by which callers may know it; or empty.
    input_aliases: tuple[tuple[str, ...], ...] = ()
    output_aliases: tuple[tuple[str, ...], ...] = ()
    # Variable -> the tensor whose value it has in the next inference. Nodes in any order read the
    # value that such a variable has before the inference.
    updates: Mapping[str, str] = field(default_factory=dict)
    # The values of variables before the first inference; without one, a variable means 0.
    initial: Mapping[str, Array] = field(default_factory=dict)
    # The int8 constants that the model stores in 4 bits: their values are -8 to 7, and kernels may
    # get them two to a byte.
    int4: frozenset[str] = frozenset()
    # The float constants that the model stores as integers.
    stored: Mapping[str, Stored] = field(default_factory=dict)
    # The model's tensors from which a pass has removed channels; ``types`` are without these.
    channels: Mapping[str, KeptChannels] = field(default_factory=dict)
    # The tensors that passes have made, and that have the elements of one of the model's tensors in
    # another layout (``graph/ir/layouts.py``).
    laid_out: Mapping[str, TensorLayout] = field(default_factory=dict)
    # Slices that no call computes, because they are one run of the bytes of their data: the number
    # of bytes before it (``compiler/partition/sections.py``).
    sections: Mapping[str, int] = field(default_factory=dict)
    # float tensor of a quantized model -> why it is not integers
    in_floats: Mapping[str, str] = field(default_factory=dict)
    # The tensors that are indices where the model has texts: the text of each index.
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # notes about the model's file for the user
    details: tuple[str, ...] = ()  # further notes, which only -v prints
    # Names of tensors that passes have removed, which no other tensor may get.
    dropped: frozenset[str] = frozenset()

    @property
    def results(self) -> tuple[str, ...]:
        """The tensors for which the graph is computed: its outputs, then the variables' next
        values."""
        return (*self.outputs, *self.updates.values())

    def type_of(self, names: Iterable[str]) -> tuple[ArrayType, ...]:
        """Types of several tensors."""
        return tuple(self.types[name] for name in names)

    def producer_of(self) -> dict[str, Node]:
        """Tensor name -> the node that computes it."""
        return {out: node for node in self.nodes for out in node.outputs}

    def uses_of(self) -> dict[str, int]:
        """Tensor name -> the number of times that nodes read it or it is a result of the graph."""
        counts = dict.fromkeys(self.types, 0)
        for name in (*self.results, *(i for node in self.nodes for i in node.inputs)):
            counts[name] += 1
        return counts

    def replace(self, **changes: Any) -> Graph:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


def live_nodes(nodes: Iterable[Node], outputs: Iterable[str]) -> tuple[Node, ...]:
    """The nodes on which the tensors ``outputs`` depend. ``nodes`` and the result are in execution
    order.
    """
    live = set(outputs)
    kept: list[Node] = []
    # Backwards, so that all readers of a node's outputs are known before the node.
    for node in reversed(tuple(nodes)):
        if not live.isdisjoint(node.outputs):
            live.update(node.inputs)
            kept.append(node)
    return tuple(reversed(kept))


def constant(array: Array) -> Array:
    """The array of a constant, read-only. Each NaN has the bits that C's 0.0F / 0.0F has, because C
    has no literals for other NaNs."""
    if array.dtype.kind == "f" and np.isnan(array).any():
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return frozen(array)


def frozen(array: Array) -> Array:
    """The array made read-only, so that no stage can change an array that another stage has.

    numpy's functions turn arrays without dimensions into scalars; these become arrays again.
    """
    array = np.asarray(array)
    array.flags.writeable = False
    return array
