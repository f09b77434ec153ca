"""Codes of the leaves of decision trees, and the tables of what they mean: tree_codes_f32.h."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.trees.tree_ensemble import AGGREGATES, TreeEnsembleAttrs
from microgen.kernels import base
from microgen.kernels.constant import Arguments, What
from microgen.kernels.work import Work

# tree_codes_f32.h: MG_CODE_*
BITS, VALUE, TARGET, ROW, WINDOW, VOTE, GROUP = range(7)
_WINDOW = 256  # values
_MOST_WINDOWS = 255
_MOST_ROWS = 2**13  # of leaves; finding windows takes time
ALWAYS = 0xFFFFFFFF  # the key of a node that is at least every key
NODES = range(2, 6)  # positions of the tables of nodes among the op's inputs


@dataclass(frozen=True, slots=True)
class Codes:
    """What leaves mean. ``code`` is uint32 [nodes], and 0 of inner nodes; ``row`` and ``value`` are
    the kernel's tables, which may be empty."""

    form: int
    code: Array
    row: Array
    value: Array

    @property
    def has_rows(self) -> bool:
        """Whether leaves have values of several targets."""
        return self.form in (ROW, WINDOW)


class CodedTables(Protocol):
    """The tables of a kernel."""

    @property
    def own(self) -> Mapping[str, Array]:
        """The tables of nodes, by their names in C."""
        ...

    @property
    def codes(self) -> Codes:
        """What the codes of leaves mean."""
        ...


T = TypeVar("T", bound=CodedTables)
Given: TypeAlias = Mapping[str, float | int | str]
Make: TypeAlias = Callable[[Sequence[Array], Given], T | None]

_NO_ROWS, _NO_VALUES = np.zeros(0, np.uint8), np.zeros(0, np.float32)


def sources(node: Node) -> tuple[str, ...]:
    """The names of the tables of nodes and leaves, from ``key`` on."""
    return node.inputs[NODES.start :]


def arrays(node: Node, graph: Graph) -> tuple[Array, ...]:
    """The tables of nodes and leaves."""
    return tuple(graph.constants[name] for name in sources(node))


def arguments(node: Node) -> Arguments:
    """The arguments of a transform of these tables."""
    attrs = base.attrs_of(node, TreeEnsembleAttrs)
    return (("targets", attrs.targets), ("votes", int(attrs.votes)))


def sizes(node: Node, graph: Graph) -> base.Fields:
    """The first fields of the kernels."""
    attrs = base.attrs_of(node, TreeEnsembleAttrs)
    data, used = graph.type_of(node.inputs[:2])
    return (
        ("rows", data.shape[0]),
        ("features", data.shape[1]),
        ("above", attrs.above),
        ("below", used.size - attrs.above),
        ("trees", graph.types[node.inputs[5]].shape[0]),
        ("targets", attrs.targets),
        ("aggregate", AGGREGATES.index(attrs.aggregate)),
    )


_CTYPES = {"uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "float32": "float"}


def _constant(node: Node, kind: str, name: str, table: Array) -> base.KernelConstant:
    """The kernel's constant that the transform ``kind`` makes as its part ``name``, or NULL if the
    table is empty."""
    ctype = _CTYPES[table.dtype.name]
    if not table.size:
        return base.KernelConstant(name, ctype)
    first, *more = sources(node)
    own = (*arguments(node), ("part", name))
    others: tuple[tuple[str, What], ...] = tuple((each, "data") for each in more)
    return base.KernelConstant(name, ctype, first, "data", kind, own, more=others)


def constants(node: Node, kind: str, found: CodedTables) -> tuple[base.KernelConstant, ...]:
    """The tables of nodes, and of what codes mean; absent ones have no source."""
    return tuple(_constant(node, kind, name, table) for name, table in _named(found).items())


def _named(found: CodedTables) -> Mapping[str, Array]:
    return {**found.own, "row": found.codes.row, "value": found.codes.value}


def nbytes(found: CodedTables) -> int:
    """The bytes of all tables."""
    return sum(each.nbytes for each in _named(found).values())


def part(make: Make[T], tables: Sequence[Array], given: Given) -> Array:
    """The table whose name in C is the argument ``part``. ValueError if there are no tables."""
    found = make(tables, {name: given[name] for name in ("targets", "votes")})
    if found is None:
        raise ValueError("the kernel has no tables for these trees")
    return _named(found)[str(given["part"])]


def of(make: Make[T], node: Node, graph: Graph) -> T:
    """The tables for a node that is not refused."""
    found = make(arrays(node, graph), dict(arguments(node)))
    assert found is not None, "the node is not refused"
    return found


def scratch(node: Node, graph: Graph, found: Codes) -> int:
    """Four bytes for each target that gets votes, or for each tree that leads to a row."""
    if found.form == VOTE:
        return 4 * base.attrs_of(node, TreeEnsembleAttrs).targets
    return 4 * graph.types[node.inputs[5]].shape[0] * found.has_rows


def work(node: Node, graph: Graph, found: Codes) -> Work:
    """Calls, outputs, keys, trees and values of leaves; all of them are known without data."""
    rows, targets = graph.types[node.outputs[0]].shape
    trees = graph.types[node.inputs[5]].shape[0]
    return {
        "call": 1,
        "output": rows * targets,
        "key": rows * graph.types[node.inputs[1]].size,
        "tree": rows * trees,
        "sum": rows * trees * (found.form in (BITS, VALUE, GROUP)),
        "target": rows * trees * (found.form == TARGET),
        "leaf": rows * trees * (targets if found.has_rows else 0),
    }


def smallest(numbers: Array) -> Array:
    """The numbers, which are not negative, in as few bytes as they need: 1, 2 or 4."""
    most = int(numbers.max(initial=0))
    return numbers.astype(np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32)


def codes_of(tables: Sequence[Array], given: Mapping[str, float | int | str]) -> Codes | None:
    """The codes of leaves; None if their rows have too many values."""
    key, split, _, trees, *leaves = tables
    is_leaf = split == 0
    numbers = np.where(is_leaf, key, 0).astype(np.uint32)
    if given["votes"]:
        return Codes(VOTE, numbers, _NO_ROWS, leaves[0])
    if not leaves or leaves[0].shape == (len(trees),):
        return _valued(key, is_leaf, leaves)
    rows = leaves[1][leaves[0]] if len(leaves) == 2 else leaves[0]
    windows = _windows(rows.view(np.uint32)) if len(rows) <= _MOST_ROWS else None
    if windows is None:
        return None
    row, bits = windows
    form = ROW if row.shape[1] == rows.shape[1] else WINDOW
    return Codes(form, numbers, row, bits.view(np.float32))


def _valued(key: Array, is_leaf: Array, leaves: Sequence[Array]) -> Codes:
    """Codes of leaves that have one value."""
    bits, places = np.unique(key[is_leaf], return_inverse=True)
    code = np.zeros(len(key), np.uint32)
    code[is_leaf] = places.ravel()
    if leaves:
        return Codes(TARGET, code, leaves[0], bits.view(np.float32))
    return Codes(VALUE, code, _NO_ROWS, bits.view(np.float32))


def with_bits(found: Codes, tables: Sequence[Array], leaves: int) -> Codes:
    """The same, with the bits of values as codes if ``leaves`` of them take fewer bytes so."""
    width = smallest(found.code).itemsize
    if found.form != VALUE or leaves * width + found.value.nbytes < 4 * leaves:
        return found
    key, split = tables[:2]
    return Codes(BITS, np.where(split == 0, key, 0).astype(np.uint32), _NO_ROWS, _NO_VALUES)


def order_by_target(tables: Sequence[Array], given: Given) -> Array:
    """The order of trees in which each target's follow each other. It changes no sum."""
    trees, leaves = len(tables[3]), tables[4:]
    is_target = not given["votes"] and leaves and leaves[0].shape == (trees,)
    return np.argsort(leaves[0], kind="stable") if is_target else np.arange(trees)


def grouped(found: Codes, targets: int) -> Codes:
    """The same for trees in this order."""
    if found.form != TARGET:
        return found
    counts = np.bincount(found.row, minlength=targets)
    return replace(found, form=GROUP, row=counts.astype(np.uint16))


def _windows(rows: Array) -> tuple[Array, Array] | None:
    """uint8 rows of indices in windows of 256 values each, and all values, uint32. The rows begin
    with the number of their window if there are several. None for too many windows."""
    windows: list[dict[int, int]] = []
    places = []
    for row in rows.tolist():
        own = set(row)
        lacking = [len(own - window.keys()) for window in windows]
        fitting = [
            (lack, place)
            for place, (lack, window) in enumerate(zip(lacking, windows, strict=True))
            if len(window) + lack <= _WINDOW
        ]
        if not fitting:
            if len(windows) == _MOST_WINDOWS or len(own) > _WINDOW:
                return None
            fitting = [(len(own), len(windows))]
            windows.append({})
        place = min(fitting)[1]
        for bits in sorted(own - windows[place].keys()):
            windows[place][bits] = len(windows[place])
        places.append(place)
    return _laid_out(rows, windows, places)


def _laid_out(
    rows: Array, windows: Sequence[Mapping[int, int]], places: Sequence[int]
) -> tuple[Array, Array]:
    # The last window ends with its last value.
    order = sorted(range(len(windows)), key=lambda place: -len(windows[place]))
    number = {place: k for k, place in enumerate(order)}
    found = np.array(
        [
            [number[place], *(windows[place][bits] for bits in row)]
            for row, place in zip(rows.tolist(), places, strict=True)
        ],
        np.uint8,
    )
    values = np.zeros(_WINDOW * len(windows), np.uint32)
    for place, window in enumerate(windows):
        first = _WINDOW * number[place]
        values[first : first + len(window)] = list(window)
    values = values[: _WINDOW * (len(windows) - 1) + len(windows[order[-1]])]
    return (found[:, 1:] if len(windows) == 1 else found), values
