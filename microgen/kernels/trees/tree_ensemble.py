"""The kernel of ensembles of decision trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.base.errors import short
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node
from microgen.graph.ops.trees.tree_ensemble import AGGREGATES, STEPS, TreeEnsembleAttrs
from microgen.kernels import base
from microgen.kernels.work import Work

OP_NAME = "tree_ensemble"
_TABLES = range(1, 8)  # positions of the tables among the inputs
# tree_ensemble_f32.h: MG_LEAF_*; rows of indices have 1 or 2 more, their bytes.
_TARGET, _ROW, _VOTE = 1, 2, 5


def _leaf_form(node: Node, graph: Graph) -> int:
    leaves = graph.type_of(node.inputs[6:])
    if not leaves:
        return 0
    if base.attrs_of(node, TreeEnsembleAttrs).votes:
        return _VOTE
    if len(leaves[0].shape) == 1:
        return _TARGET
    return _ROW + (leaves[0].dtype.nbytes if len(leaves) == 2 else 0)


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, TreeEnsembleAttrs)
    data, used, _, split, child, tree = graph.type_of(node.inputs[:6])
    return (
        ("rows", data.shape[0]),
        ("features", data.shape[1]),
        ("above", attrs.above),
        ("below", used.size - attrs.above),
        ("trees", tree.shape[0]),
        ("targets", attrs.targets),
        ("aggregate", AGGREGATES.index(attrs.aggregate)),
        ("leaf_form", _leaf_form(node, graph)),
        ("split_bytes", split.dtype.nbytes),
        ("child_bytes", child.dtype.nbytes),
        ("tree_bytes", tree.dtype.nbytes),
        ("is_lazy", int(_is_lazy(node, graph))),
    )


def steps(node: Node, graph: Graph) -> int:
    """The steps of all trees."""
    return STEPS * int(graph.constants[node.inputs[5]][:, 1].sum(dtype=np.int64))


def _is_lazy(node: Node, graph: Graph) -> bool:
    """Whether keys at each step take less time than the keys of all features, as in a single tree
    of many features. A key with its test for a leaf takes about 5/4 of a key."""
    return 5 * steps(node, graph) < 4 * graph.types[node.inputs[1]].size


def unsound(node: Node, graph: Graph) -> str | None:
    """Refusal unless all tables are constants without an index that leads outside another one."""
    names = [node.inputs[position] for position in _TABLES if position < len(node.inputs)]
    for name in names:
        if why := base.computed(name, graph):
            return why
    features = graph.types[node.inputs[0]].shape[1]
    tables = [graph.constants[name] for name in names]
    for name, found, limit in _limits(node, tables, features):
        if found.size and not 0 <= int(found.min()) <= int(found.max()) < limit:
            return f"{short(name)!r} has numbers outside of 0 to {limit - 1}"
    return None


def _limits(node: Node, tables: list[Array], features: int) -> Iterator[tuple[str, Array, int]]:
    """The names of tables, their indices, and the exclusive upper limit of each index."""
    used, key, split, child, tree, *leaves = tables
    _, used_name, key_name, split_name, child_name, tree_name, *others = node.inputs
    attrs = base.attrs_of(node, TreeEnsembleAttrs)
    yield used_name, used, features
    yield split_name, split, used.size + 1
    yield child_name, child, key.size
    # A false child is the node before the true one.
    yield child_name, child[split != 0].astype(np.int64) - 1, key.size
    yield tree_name, tree[:, 0], key.size
    if attrs.votes:
        yield key_name, key[split == 0], attrs.targets
    elif leaves and leaves[0].ndim == 1:
        yield others[0], leaves[0], attrs.targets
    elif leaves:
        yield key_name, key[split == 0], leaves[0].shape[0]
    if len(leaves) == 2:
        yield others[0], leaves[0], leaves[1].size


_NAMES = ("key", "split", "child", "tree", "leaf", "value")


def plain(node: Node, graph: Graph, names: Sequence[str]) -> tuple[base.KernelConstant, ...]:
    """The op's tables of these names as they are; NULL for those that the node does not have."""
    found = dict(zip(_NAMES, node.inputs[_TABLES.start + 1 :], strict=False))
    return tuple(
        base.KernelConstant(name, _ctype(graph.types[found[name]]), found[name])
        if name in found
        else base.KernelConstant(name, "float")
        for name in names
    )


def _ctype(table: ArrayType) -> str:
    return "float" if table.dtype is DType.FLOAT32 else f"{table.dtype.value}_t"


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    return plain(node, graph, _NAMES)


def _scratch(node: Node, graph: Graph) -> int:
    """A key of four bytes for each split, and four bytes for each target that gets votes."""
    attrs = base.attrs_of(node, TreeEnsembleAttrs)
    keys = 0 if _is_lazy(node, graph) else graph.types[node.inputs[1]].size
    return 4 * (keys + 1 + (attrs.targets if attrs.votes else 0))


def _work(node: Node, graph: Graph) -> Work:
    """Keys, trees, steps and values of leaves; all of them are known without data."""
    rows, targets = graph.types[node.outputs[0]].shape
    tree = graph.constants[node.inputs[5]]
    form, is_lazy = _leaf_form(node, graph), _is_lazy(node, graph)
    every = rows * steps(node, graph)
    return {
        "call": 1,
        "output": rows * targets,
        "key": 0 if is_lazy else rows * graph.types[node.inputs[1]].size,
        "lazy_key": every if is_lazy else 0,
        "tree": rows * len(tree),
        "step": every,
        "sum": rows * len(tree) * (form == 0),
        "target": rows * len(tree) * (form == _TARGET),
        "leaf": rows * len(tree) * (targets if _ROW <= form < _VOTE else 0),
    }


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """How a kernel lays the trees out: its parameters, constants and scratch."""

    params: Callable[[Node, Graph], base.Fields]
    constants: Callable[[Node, Graph], tuple[base.KernelConstant, ...]]
    scratch: Callable[[Node, Graph], int]
    work: Callable[[Node, Graph], Work]

    def kernel(self, symbol: str, refusal: base.Refuse) -> base.Implementation:
        """The kernel, which gets the data, the used features and its constants."""
        return base.Implementation(
            symbol,
            refusal=refusal,
            params=self.params,
            inputs=(0, 1),
            constants=self.constants,
            scratch=self.scratch,
            work=self.work,
        )


_LAYOUT = TreeLayout(_params, _constants, _scratch, _work)
IMPLEMENTATIONS = (_LAYOUT.kernel("mg_tree_ensemble_f32", unsound),)
