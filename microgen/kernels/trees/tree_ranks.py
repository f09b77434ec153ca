"""A kernel of ensembles of decision trees that compare ranks: tree_ensemble_f32_ranks.h."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.kernels.requantization import transforms
from microgen.kernels.trees import tree_codes, tree_ensemble
from microgen.kernels.work import Work

OP_NAME = "tree_ensemble"
PRECEDENCE = 1

_KIND = "tree_ranks"
_MORE = 1  # times the bytes of the tables with limits
_MOST = 2**16  # limits
_SLOWER = 1  # times the steps of the walk: the steps of searches, which take about as long
_AROUND = 2  # steps: the time of a search besides its steps


@dataclass(frozen=True, slots=True)
class _Ranks:
    """Limits by feature, and nodes with the positions of their limits."""

    first: Array
    limit: Array
    code: Array
    codes: tree_codes.Codes

    @property
    def steps(self) -> int:
        """The steps of the searches of all ranks of a row, without the last one of each."""
        return sum((int(n) - 1).bit_length() for n in np.diff(self.first.astype(np.int64)))

    @property
    def own(self) -> Mapping[str, Array]:
        """The tables of nodes."""
        return {"first": self.first, "limit": self.limit, "code": self.code}


@transforms.remembered
def _ranked(tables: Sequence[Array], given: transforms.Arguments) -> _Ranks | None:
    """The tables of ranks; None if they take as many bytes as limits, or a feature has no limit."""
    key, split, _, _, *leaves = tables
    limits = [np.unique(key[split == s]) for s in range(1, int(split.max(initial=0)) + 1)]
    sizes = [each.size for each in limits]
    if not limits or 0 in sizes or sum(sizes) >= _MOST:
        return None
    found = tree_codes.codes_of(tables, given)
    if found is None:
        return None
    code = found.code.copy()
    for s, each in enumerate(limits, 1):
        code[split == s] = np.searchsorted(each, key[split == s])
    made = _Ranks(
        np.cumsum([0, *sizes]).astype(np.uint16),
        np.concatenate(limits),
        tree_codes.smallest(code),
        found,
    )
    most = _MORE * (key.nbytes + sum(each.nbytes for each in leaves))
    return made if tree_codes.nbytes(made) < most else None


def _table(tables: Sequence[Array], given: transforms.Arguments) -> Array:
    return tree_codes.part(_ranked, tables, given)


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of trees that take no fewer bytes with ranks."""
    if why := tree_ensemble.unsound(node, graph):
        return why
    used, split = graph.types[node.inputs[1]], graph.constants[node.inputs[3]]
    if int(split.max(initial=0)) != used.size:
        return "the trees do not use all of their features"
    found = _ranked(tree_codes.arrays(node, graph), dict(tree_codes.arguments(node)))
    if found is None:
        return "the limits of the trees take no fewer bytes with ranks"
    if found.steps + _AROUND * used.size > _SLOWER * tree_ensemble.steps(node, graph):
        return "the search of ranks takes more time than the walk through the trees"
    return None


def _params(node: Node, graph: Graph) -> base.Fields:
    found = tree_codes.of(_ranked, node, graph)
    split, child, tree = graph.type_of(node.inputs[3:6])
    return (
        *tree_codes.sizes(node, graph),
        ("code_form", found.codes.form),
        ("code_bytes", found.code.itemsize),
        ("split_bytes", split.dtype.nbytes),
        ("child_bytes", child.dtype.nbytes),
        ("tree_bytes", tree.dtype.nbytes),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    found = tree_codes.of(_ranked, node, graph)
    return (
        *tree_ensemble.plain(node, graph, ("split", "child", "tree")),
        *tree_codes.constants(node, _KIND, found),
    )


def _scratch(node: Node, graph: Graph) -> int:
    """A rank of four bytes for each split, and what codes need."""
    used = graph.types[node.inputs[1]].size
    return 4 * (used + 1) + tree_codes.scratch(
        node, graph, tree_codes.of(_ranked, node, graph).codes
    )


def _work(node: Node, graph: Graph) -> Work:
    """Searches, trees, steps and values of leaves; all of them are known without data."""
    found = tree_codes.of(_ranked, node, graph)
    rows = graph.types[node.outputs[0]].shape[0]
    return {
        **tree_codes.work(node, graph, found.codes),
        "rank": rows * found.steps,
        "step": rows * tree_ensemble.steps(node, graph),
    }


_LAYOUT = tree_ensemble.TreeLayout(_params, _constants, _scratch, _work)
IMPLEMENTATIONS = (_LAYOUT.kernel("mg_tree_ensemble_f32_ranks", _refusal),)

# tree_ranks: the op's tables from ``key`` on; ``targets``, ``votes`` (0 or 1), and the name of the
# table in C, ``part``. The table.
TRANSFORMS: Mapping[str, transforms.Function] = {_KIND: _table}
