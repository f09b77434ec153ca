"""Operators that have graphs of their own: Loop, Scan and If."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from microgen.frontends.onnx import distances, move_nodes
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value, fields

_MOST = 4096  # iterations


def _loop(node: OnnxNode) -> tuple[BuiltTensor, ...]:
    limit, first = node.optional(0), node.optional(1)
    # Without a limit the loop is followed one step too far, so that a longer one is refused.
    most = _MOST + 1 if limit is None else int(move_nodes.number_of(node, 0, "iterations"))
    goes = True if first is None else _condition(node, first)
    carried = [node.tensor(i) for i in range(2, len(node.operands))]
    stacks: list[tuple[BuiltTensor, ...]] = []
    while goes and len(stacks) < most:
        i = len(stacks)
        _check_count(node, i + 1)
        # The iteration's number and condition are constants, and nodes that read them are folded.
        number = node.constant(np.asarray(i, np.int64), "iteration")
        truth = node.constant(np.asarray(True), "condition")
        made = fields(node.branch("body", (number, truth, *carried), str(i)))
        if len(made) <= len(carried):
            raise node.invalid(f"has a body with {len(made)} outputs for {len(carried)} values")
        goes = _condition(node, made[0])
        carried, row = list(made[1 : 1 + len(carried)]), made[1 + len(carried) :]
        stacks.append(row)
    return (*carried, *_stacked(node, stacks, itertools.repeat(0)))


def _condition(node: OnnxNode, tensor: BuiltTensor) -> bool:
    if tensor.value is None or tensor.value.size != 1:
        raise node.unsupported("ends at a computed condition", supported="known iterations")
    return bool(tensor.value.ravel()[0])


def _check_count(node: OnnxNode, count: int) -> None:
    if count > _MOST:
        raise node.unsupported(f"has more than {_MOST} iterations", supported=f"up to {_MOST}")


def _stacked(
    node: OnnxNode, stacks: Sequence[Sequence[BuiltTensor]], axes: Iterable[int]
) -> list[BuiltTensor]:
    """The results of all iterations: each output's values are joined along a new axis."""
    outputs = []
    for axis, parts in zip(axes, zip(*stacks, strict=True), strict=False):
        at = arguments.checked_axis(node, axis, len(parts[0].shape) + 1)
        shape = (*parts[0].shape[:at], 1, *parts[0].shape[at:])
        outputs.append(move_nodes.joined(node, [node.reshaped(p, shape) for p in parts], at))
    return outputs


def _scan(node: OnnxNode) -> tuple[BuiltTensor, ...]:
    if node.version < 9:
        raise node.unsupported("has a batch", supported="opset 9 and later")
    scanned = int(node.attr("num_scan_inputs"))
    operands = node.tensors()
    if not 1 <= scanned <= len(operands):
        raise node.invalid(f"has {len(operands)} inputs, of which it scans {scanned}")
    carried, data = list(operands[:-scanned]), operands[-scanned:]
    axes = _list(node, "scan_input_axes", scanned)
    axes = [arguments.checked_axis(node, a, len(d.shape)) for a, d in zip(axes, data, strict=True)]
    backwards = _list(node, "scan_input_directions", scanned)
    lengths = {each.shape[axis] for each, axis in zip(data, axes, strict=True)}
    if len(lengths) != 1:
        raise node.invalid(f"scans axes of {sorted(lengths)} elements; equal ones are expected")
    (length,) = lengths
    found = _distances(node, operands)
    if found is not None:
        return found
    # Each iteration is imported again, so the graph grows with their number.
    _check_count(node, length)
    stacks: list[tuple[BuiltTensor, ...]] = []
    for i in range(length):
        rows = [
            _row(node, each, axis, length - 1 - i if back else i)
            for each, axis, back in zip(data, axes, backwards, strict=True)
        ]
        made = fields(node.branch("body", (*carried, *rows), str(i)))
        stacks.append(made[len(carried) :])
        carried = list(made[: len(carried)])
    width = len(stacks[0]) if stacks else 0  # a constant may have no elements
    for k, back in enumerate(_list(node, "scan_output_directions", width)):
        if back:
            raise node.unsupported(f"scans output {k} backwards", supported="forwards")
    return (*carried, *_stacked(node, stacks, _list(node, "scan_output_axes", width)))


def _distances(
    node: OnnxNode, operands: Sequence[BuiltTensor]
) -> tuple[BuiltTensor, BuiltTensor] | None:
    """The outputs of a Scan that computes distances, which are one op; None of any other."""
    body = node.graph_of("body")
    names = ("input_axes", "input_directions", "output_axes", "output_directions")
    is_plain = not any(any(node.ints(f"scan_{name}", ())) for name in names)
    return distances.scanned(node, body, operands) if body and is_plain else None


def _list(node: OnnxNode, name: str, length: int) -> list[int]:
    numbers = list(node.ints(name, (0,) * length))
    if len(numbers) != length:
        raise node.invalid(f"has the {name} {numbers}; {length} are expected")
    return numbers


def _row(node: OnnxNode, data: BuiltTensor, axis: int, at: int) -> BuiltTensor:
    """The elements at one index of an axis, without the axis."""
    shape = (*data.shape[:axis], *data.shape[axis + 1 :])
    return node.reshaped(move_nodes.cut(node, data, axis, at, 1), shape)


def _if(node: OnnxNode) -> Value:
    # Only one branch is imported, so the condition must be known.
    condition = np.ravel(node.constant_of(0, "conditions"))
    if condition.size != 1:
        raise node.invalid(f"has a condition of {condition.size} elements; one is expected")
    return node.branch("then_branch" if condition[0] else "else_branch")


IMPORTERS = {
    "Loop": _loop,
    "Scan": _scan,
    "If": _if,
}
