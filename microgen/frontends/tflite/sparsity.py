"""Sparse constants: the file stores some values of a tensor, and says where each belongs.

The places form a tree with one level for each axis, and further levels for axes that are cut into
blocks. A dense level has every index of its axis; a compressed level lists the indices that occur.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tflite.DimensionMetadata import DimensionMetadata
from tflite.DimensionType import DimensionType
from tflite.Int32Vector import Int32Vector
from tflite.SparseIndexVector import SparseIndexVector
from tflite.Uint8Vector import Uint8Vector
from tflite.Uint16Vector import Uint16Vector

from microgen.base.errors import ModelError
from microgen.frontends.tflite.reader import Reader
from microgen.graph.ir.graph import Array
from microgen.graph.ops import budget
from microgen.graph.ops.cost import ReferenceCost

_VECTORS = {
    SparseIndexVector.Int32Vector: Int32Vector,
    SparseIndexVector.Uint16Vector: Uint16Vector,
    SparseIndexVector.Uint8Vector: Uint8Vector,
}


# Source of both records: schema.fbs, tables DimensionMetadata and SparsityParameters.
@dataclass(frozen=True, slots=True)
class Level:
    """One level of the tree."""

    is_dense: bool
    size: int  # of a dense level, which has the indices 0 to ``size`` - 1 under each node
    # In a compressed level, node i of the level before has the ``indices`` from ``segments[i]`` up
    # to ``segments[i + 1]``.
    segments: Array
    indices: Array


@dataclass(frozen=True, slots=True)
class SparsityRecord:
    """The sparsity as the file stores it."""

    # For each level its axis; for a level inside blocks the number of axes plus its place in
    # ``blocks``.
    order: tuple[int, ...]
    blocks: tuple[int, ...]  # the axes that are cut into blocks
    levels: tuple[Level, ...]


def read(reader: Reader, table: Any) -> SparsityRecord:
    """The sparsity that a table has. ModelError if the file's bytes make no sense."""
    return SparsityRecord(
        reader.integers(table, "TraversalOrder"),
        reader.integers(table, "BlockMap"),
        tuple(_level(reader, each) for each in reader.tables(table, "DimMetadata")),
    )


def _level(reader: Reader, table: DimensionMetadata) -> Level:
    if reader.get(table, "Format") == DimensionType.DENSE:
        nothing = np.empty(0, np.int64)
        return Level(True, reader.get(table, "DenseSize"), nothing, nothing)
    segments, indices = (_vector(reader, table, name) for name in ("ArraySegments", "ArrayIndices"))
    return Level(False, 0, segments, indices)


def _vector(reader: Reader, table: DimensionMetadata, name: str) -> Array:
    code = reader.get(table, f"{name}Type")
    schema = _VECTORS.get(code)
    vector = None if schema is None else reader.union(table, name, schema)
    if vector is None:
        raise reader.corrupt(f"a sparse tensor has {name} of the type number {code}")
    return reader.numbers(vector, "Values").astype(np.int64)


class Expansion:
    """A sparse constant of ``shape``. ``called`` and ``where`` are for errors."""

    def __init__(
        self, record: SparsityRecord, shape: tuple[int, ...], called: str, where: str
    ) -> None:
        self._record = record
        self._shape = shape
        self._called = called
        self._where = where

    def dense(self, stored: Array) -> Array:
        """All values, 0 where the file stores none. ModelError if the sparsity contradicts itself,
        the shape or the number of stored values; UnsupportedError if the budget is too small."""
        self._check()
        budget.spend_array(stored.itemsize * math.prod(self._shape), self._where)
        places = self._places()
        if places.size != stored.size:
            raise self._error(f"stores {stored.size} values for {places.size} places")
        values = np.zeros(math.prod(self._shape), stored.dtype)
        values[places] = stored
        return values.reshape(self._shape)

    def _check(self) -> None:
        record, rank = self._record, len(self._shape)
        axes, inner = record.order[:rank], record.order[rank:]
        if len(record.levels) != len(record.order) or len(inner) != len(record.blocks):
            raise self._error(
                f"has {len(record.levels)} levels, {len(record.order)} places in its traversal "
                f"order and {len(record.blocks)} blocked axes, for {rank} axes"
            )
        # LiteRT finds the size of a block by its place in the order, which is the right size only
        # in this order.
        if sorted(axes) != list(range(rank)) or list(inner) != list(range(rank, rank + len(inner))):
            raise self._error("has an impossible traversal order")
        blocks = record.blocks
        if sorted(set(blocks)) != list(blocks) or any(not 0 <= axis < rank for axis in blocks):
            raise self._error("has an impossible block map")

    def _places(self) -> Array:
        """The place of each stored value in the flat tensor."""
        places = np.zeros(1, np.int64)
        for level, (size, step) in zip(self._record.levels, self._steps(), strict=True):
            if level.is_dense:
                places = self._all(places, level, size, step)
            else:
                places = self._listed(places, level, size, step)
        return places

    def _steps(self) -> Sequence[tuple[int, int]]:
        """For each level, the number of indices and the distance of neighbours in the flat
        tensor."""
        rank, shape = len(self._shape), self._shape
        block = dict.fromkeys(range(rank), 1)
        for axis, level in zip(self._record.blocks, self._record.levels[rank:], strict=True):
            if not level.is_dense or level.size < 1 or shape[axis] % level.size:
                raise self._error(f"has an axis of {shape[axis]} in blocks of {level.size}")
            block[axis] = level.size
        step = [math.prod(shape[axis + 1 :]) for axis in range(rank)]
        outer = [(shape[i] // block[i], step[i] * block[i]) for i in self._record.order[:rank]]
        return [*outer, *((block[axis], step[axis]) for axis in self._record.blocks)]

    def _all(self, places: Array, level: Level, size: int, step: int) -> Array:
        if level.size != size:
            raise self._error(f"has a level of {level.size} indices where its shape has {size}")
        self._spend(places.size * size)
        positions: Array = (places[:, None] + np.arange(size) * step).reshape(-1)
        return positions

    def _listed(self, places: Array, level: Level, size: int, step: int) -> Array:
        counts, indices = np.diff(level.segments), level.indices
        if counts.size != places.size or level.segments[0] != 0 or (counts < 0).any():
            raise self._error("has segments that do not suit the level before them")
        if level.segments[-1] != indices.size:
            raise self._error(f"has {indices.size} indices, but segments of {level.segments[-1]}")
        if indices.size and not 0 <= indices.min() <= indices.max() < size:
            raise self._error(f"has an index outside of 0 to {size - 1}")
        self._spend(indices.size)
        positions: Array = np.repeat(places, counts) + indices * step
        if np.unique(positions).size != positions.size:
            raise self._error("stores two values for one place")
        return positions

    def _spend(self, nodes: int) -> None:
        if nodes > math.prod(self._shape):
            raise self._error("has more places than its shape")
        budget.spend(ReferenceCost(16 * nodes, 8 * nodes), self._where)

    def _error(self, what: str) -> ModelError:
        return ModelError(
            f"the sparse {self._called} {what}", where=self._where, hint="get the model file again"
        )
