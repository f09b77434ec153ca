"""Kernels for nn.pad."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Graph, Node, TensorType
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.kernels import base
from microgen.kernels.moves import moves, strided
from microgen.kernels.work import Work

OP_NAME = "nn.pad"

_AXES = 6  # of mg_pad
_WORD = 4
_SHORT = 64  # bytes of a row that compilers copy without calling memcpy

Axis = tuple[int, int, int]  # number of elements before the data, in it, and after it


def _merged(node: Node, graph: Graph) -> list[Axis]:
    """The fewest axes of the output: an unpadded axis is merged into the axis before it."""
    attrs = node.attrs
    assert isinstance(attrs, PadAttrs)
    found: list[Axis] = []
    for size, pads in zip(graph.types[node.inputs[0]].shape, attrs.pads, strict=True):
        if any(pads) or not found:
            found.append((pads[0], size, pads[1]))
        else:
            before, outer, after = found[-1]
            found[-1] = (before * size, outer * size, after * size)
    return found


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs, output = node.attrs, graph.types[node.outputs[0]]
    assert isinstance(attrs, PadAttrs)
    axes = _merged(node, graph)
    axes = [(0, 1, 0)] * (_AXES - len(axes)) + axes
    steps = strided.row_major([sum(axis) for axis in axes])
    return (
        ("shape", tuple(size for _, size, _ in axes)),
        ("stride", steps[:-1]),
        ("offset", sum(before * step for (before, _, _), step in zip(axes, steps, strict=True))),
        ("size", output.size),
        *moves.element_bytes(node, graph),
        *_value(attrs.value, output),
    )


def _value(value: float, output: TensorType) -> base.Fields:
    """The bits of the stored value as one integer, or two for 8 bytes."""
    stored = np.array(value, output.dtype.numpy).tobytes()
    bits = int.from_bytes(stored, "little", signed=True)
    low, high = np.array([bits], "<i8").view("<i4").tolist()
    return (("value", low), ("value_high", high if output.dtype.nbytes == 8 else 0))


def _work(node: Node, graph: Graph) -> Work:
    """What is filled, by bytes if these are all equal, and the rows that are copied."""
    (data,), output = base.types(node, graph)
    assert isinstance(node.attrs, PadAttrs)
    each, value = data.dtype.nbytes, dict(_value(node.attrs.value, output))
    before, width, after = (n * each for n in _merged(node, graph)[-1])
    rows, is_filled = data.nbytes // max(1, width), each > 1 and any(value.values())
    is_uneven = before % _WORD != 0 or (before + after) % _WORD != 0
    return {
        "call": 1,
        "cleared_byte": 0 if is_filled else output.nbytes,
        **{f"filled_{n}": output.size * (is_filled and each == n) for n in (2, 4, 8)},
        "short_row": rows * (width <= _SHORT),
        "long_row": rows * (width > _SHORT),
        "input_byte": data.nbytes,
        "uneven_byte": data.nbytes * is_uneven,
        "long_uneven_byte": data.nbytes * (is_uneven and width > _SHORT),
    }


def _refusal(node: Node, graph: Graph) -> str | None:
    count = len(_merged(node, graph))
    return f"{count} axes, the kernel takes at most {_AXES}" if count > _AXES else None


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_pad",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        work=_work,
    ),
)
