"""Kernels for concatenate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate

from microgen.ir.graph import Graph, Node, TensorType
from microgen.kernels import base, moves, work
from microgen.ops.concatenate import ConcatenateAttrs

OP_NAME = "concatenate"

_SHORT = 64  # bytes of a row that compilers copy without a call


def _axis(node: Node) -> int:
    assert isinstance(node.attrs, ConcatenateAttrs)
    return node.attrs.axis


def _row(node: Node, tensor: TensorType) -> int:
    """Bytes per row."""
    return math.prod(tensor.shape[_axis(node) :]) * tensor.dtype.nbytes


def _params(node: Node, graph: Graph) -> base.Fields:
    output = graph.types[node.outputs[0]]
    return (
        ("rows", math.prod(output.shape[: _axis(node)])),
        ("output_row", _row(node, output)),
        *moves.element_bytes(node, graph),
    )


def _each_input(node: Node, graph: Graph) -> tuple[base.Fields, ...]:
    rows = [_row(node, tensor) for tensor in graph.type_of(node.inputs)]
    starts = accumulate(rows, initial=0)
    return tuple(
        (("input_row", row), ("offset", start)) for row, start in zip(rows, starts, strict=False)
    )


def _in_place(node: Node, graph: Graph) -> base.Lags:
    """The first input is copied before the others are, row after row. When row k is, the output has
    been written up to that row's end, and the input is read from its row k on."""
    rows = dict(_params(node, graph))["rows"]
    first, whole = _row(node, graph.types[node.inputs[0]]), _row(node, graph.types[node.outputs[0]])
    return {0: (rows - 1) * (whole - first) + first}


def _work(node: Node, graph: Graph) -> Mapping[str, int]:
    """Rows of each input, and what is in them: compilers copy short ones by words where the core
    takes them anywhere. Other copies are calls, which take words where both places are multiples of
    4 bytes, and single bytes elsewhere."""
    fields = dict(_params(node, graph))
    found = Counter({"part": len(node.inputs), **work.common(node, graph)})
    for own in map(dict, _each_input(node, graph)):
        size, rows = own["input_row"], fields["rows"]
        places = ((k * size | k * fields["output_row"] + own["offset"], k) for k in range(4))
        even = sum(len(range(k, rows, 4)) for place, k in places if place % 4 == 0)
        kind = "short" if size <= _SHORT else "long"
        found[f"{kind}_row"] += rows
        found[f"{kind}_quad"] += rows * (size // 4)
        found[f"{kind}_word"] += even * (size // 4)
        found[f"{kind}_byte"] += rows * size - even * (size // 4) * 4
    return found


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_write_slice",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
        in_place=_in_place,
        work=_work,
        each_input=_each_input,
    ),
)
