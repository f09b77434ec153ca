"""The graph in the form of the JSON, and its text.

Source of the format: TVM v0.14, ``src/runtime/contrib/json/json_node.h`` and
``src/relay/backend/contrib/codegen_json/codegen_json.h``.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Entry = tuple[int, int, int]  # node, number of its output, version: 0
Shape = tuple[int, ...]
NodeAttrs = Mapping[str, tuple[str, ...]]

OPS = ("input", "const", "kernel")
# Keys of a node's ``attrs`` that are not attributes of its operator.
COUNTS = ("num_inputs", "num_outputs")
RESERVED = (*COUNTS, "dtype", "shape")


@dataclass(frozen=True, slots=True)
class JSONNode:
    """A parameter ("input"), a constant ("const") or an operation ("kernel"), by ``op``.

    ``shapes`` and ``dtypes`` have one item per output. ``attrs`` are a kernel's, all as lists of
    texts: booleans are 0 and 1, None is the empty text.
    """

    op: str
    name: str
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    inputs: tuple[Entry, ...] = ()
    attrs: NodeAttrs = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, str]:
        """The numbers of inputs and outputs, which only kernels have in the JSON."""
        # Only kernels have inputs.
        numbers = (len(self.inputs), len(self.shapes)) if self.inputs else ()
        return dict(zip(COUNTS, map(str, numbers), strict=False))

    def to_json(self) -> dict[str, Any]:
        """The node in the form of the JSON."""
        inputs = {"inputs": [list(entry) for entry in self.inputs]} if self.inputs else {}
        attrs = {
            **self.counts,
            **{name: [list(texts)] for name, texts in self.attrs.items()},
            "dtype": [list(self.dtypes)],
            "shape": [[list(shape) for shape in self.shapes]],
        }
        return {"op": self.op, "name": self.name, **inputs, "attrs": attrs}


@dataclass(frozen=True, slots=True)
class JSONGraph:
    """Nodes in execution order. ``heads`` are the outputs. ``symbol`` is None in texts from TVM
    before v0.10, which do not have it."""

    symbol: str | None
    nodes: tuple[JSONNode, ...]
    heads: tuple[Entry, ...]

    @property
    def arg_nodes(self) -> tuple[int, ...]:
        """The nodes that are not computed, which are inputs and constants, in order."""
        return tuple(i for i, node in enumerate(self.nodes) if node.op != "kernel")

    @property
    def node_row_ptr(self) -> tuple[int, ...]:
        """The number of each node's first output, counted through all nodes; last, their total."""
        counts = (len(node.shapes) for node in self.nodes)
        return tuple(itertools.accumulate(counts, initial=0))

    def named(self, op: str) -> tuple[str, ...]:
        """Names of the nodes of one ``op``, in order; for example, of constants."""
        return tuple(node.name for node in self.nodes if node.op == op)


def dumps(graph: JSONGraph) -> str:
    """The text with one line for each node, so that it is short but readable."""
    nodes = ",\n".join(f"    {json.dumps(node.to_json())}" for node in graph.nodes)
    members = {
        **({} if graph.symbol is None else {"symbol": json.dumps(graph.symbol)}),
        "nodes": f"[\n{nodes}\n  ]",
        **{key: json.dumps(getattr(graph, key)) for key in ("arg_nodes", "heads", "node_row_ptr")},
    }
    return "{\n" + ",\n".join(f'  "{key}": {text}' for key, text in members.items()) + "\n}"
