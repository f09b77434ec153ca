"""A kernel of ensembles of decision trees that are complete, or take few bytes if they are
completed: tree_ensemble_f32_levels.h."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.trees.tree_ensemble import STEPS
from microgen.kernels import base
from microgen.kernels.requantization import transforms
from microgen.kernels.trees import tree_codes, tree_ensemble
from microgen.kernels.work import Work

OP_NAME = "tree_ensemble"
PRECEDENCE = 2

_KIND = "tree_levels"
_MOST_LEVELS = 12
_MOST_TREES = 2**16 - 1  # a table has the trees of each target in 16 bits
_MORE = 1  # times the bytes of the nodes that trees have


@dataclass(frozen=True, slots=True)
class _Levels:
    """Trees with all nodes of their levels."""

    limit: Array
    split: Array
    code: Array
    levels: int
    codes: tree_codes.Codes

    @property
    def own(self) -> Mapping[str, Array]:
        """The tables of nodes."""
        return {"limit": self.limit, "split": self.split, "code": self.code}


@transforms.remembered
def _completed(tables: Sequence[Array], given: transforms.Arguments) -> _Levels | None:
    """The trees with all nodes of their levels; None if these take more bytes than the nodes that
    the trees have."""
    key, split, child, tree = tables[:4]
    if len(tree) > _MOST_TREES:
        return None
    tree = tree[tree_codes.order_by_target(tables, given)]
    most = _MORE * sum(each.nbytes for each in tables)
    rows: list[Array] = []
    nodes = tree[:, :1].astype(np.int64)
    while (is_inner := split[nodes] != 0).any():
        # A step more than the tree takes would lead from an inner node to another one.
        is_short = STEPS * tree[:, 1].astype(np.int64) <= len(rows)
        rows.append(nodes)
        size = nodes.size * (key.itemsize + split.itemsize)
        if len(rows) > _MOST_LEVELS or size > most or is_inner[is_short].any():
            return None
        second = child[nodes].astype(np.int64)
        # Of a leaf, and of a node whose comparison is always true, both are the second one.
        both = np.stack([second - (is_inner & (key[nodes] != tree_codes.ALWAYS)), second], -1)
        nodes = both.reshape(len(tree), -1)
    found = tree_codes.codes_of(tables, given)
    if found is None:
        return None
    found = tree_codes.grouped(found, int(given["targets"]))
    found = tree_codes.with_bits(found, tables, nodes.size)
    inner = np.concatenate([np.zeros(0, np.int64), *(row.ravel() for row in rows)])
    is_inner = split[inner] != 0
    limit = np.where(is_inner, key[inner] + np.uint32(1), np.uint32(0))
    place = np.where(is_inner, split[inner].astype(np.int64) - 1, 0)
    code = found.code[nodes.ravel()]
    made = _Levels(
        limit,
        place.astype(split.dtype),
        code if found.form == tree_codes.BITS else tree_codes.smallest(code),
        len(rows),
        found,
    )
    return made if tree_codes.nbytes(made) <= most else None


def _table(tables: Sequence[Array], given: transforms.Arguments) -> Array:
    return tree_codes.part(_completed, tables, given)


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of trees that take more bytes with all nodes of their levels."""
    if why := tree_ensemble.unsound(node, graph):
        return why
    if _completed(tree_codes.arrays(node, graph), dict(tree_codes.arguments(node))) is None:
        return "the trees take more bytes with all nodes of their levels"
    return None


def _params(node: Node, graph: Graph) -> base.Fields:
    found = tree_codes.of(_completed, node, graph)
    return (
        *tree_codes.sizes(node, graph),
        ("code_form", found.codes.form),
        ("code_bytes", found.code.itemsize),
        ("levels", found.levels),
        ("split_bytes", found.split.itemsize),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    found = tree_codes.of(_completed, node, graph)
    return tree_codes.constants(node, _KIND, found)


def _scratch(node: Node, graph: Graph) -> int:
    """A key of four bytes for each used feature, and what codes need."""
    used = graph.types[node.inputs[1]].size
    return 4 * used + tree_codes.scratch(node, graph, tree_codes.of(_completed, node, graph).codes)


def _work(node: Node, graph: Graph) -> Work:
    """Keys, trees, steps and values of leaves; all of them are known without data."""
    rows, trees = graph.types[node.outputs[0]].shape[0], graph.types[node.inputs[5]].shape[0]
    found = tree_codes.of(_completed, node, graph)
    levels = rows * trees * found.levels
    return {**tree_codes.work(node, graph, found.codes), "step": levels}


_LAYOUT = tree_ensemble.TreeLayout(_params, _constants, _scratch, _work)
IMPLEMENTATIONS = (_LAYOUT.kernel("mg_tree_ensemble_f32_levels", _refusal),)

# tree_levels: the op's tables from ``key`` on; ``targets``, ``votes`` (0 or 1), and the name of the
# table in C, ``part``. The table.
TRANSFORMS: Mapping[str, transforms.Function] = {_KIND: _table}
