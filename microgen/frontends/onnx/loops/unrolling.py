"""Loops whose rounds are imported one after the other, each with constants of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgen.base.errors import UnsupportedError
from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.loops import bodies
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, fields

MOST = 4096  # rounds
_MOST_FAILED = 8  # loops of a model that cannot be unrolled either


def instead(
    node: OnnxNode, error: UnsupportedError, made: Callable[[], Sequence[BuiltTensor]]
) -> Sequence[BuiltTensor]:
    """The outputs of unrolled rounds. If these are not possible either, raises ``error``, the
    reason why the rounds are no loop."""
    # A loop in a loop is tried in each of these ways, so a deep nest would be tried without end.
    if node.walk.failed[0] >= _MOST_FAILED:
        raise error
    try:
        return made()
    except UnsupportedError:
        node.walk.failed[0] += 1
        raise error from None


def of_loop(
    node: OnnxNode, carried: Sequence[BuiltTensor], most: int | None
) -> tuple[BuiltTensor, ...]:
    """The outputs of a Loop of at most ``most`` rounds, and at least one."""
    # Without a limit the loop is followed one step too far, so that a longer one is refused.
    limit = MOST + 1 if most is None else most
    stacks: list[Sequence[BuiltTensor]] = []
    goes = True
    while goes and len(stacks) < limit:
        i = len(stacks)
        check(node, i + 1)
        # The iteration's number and condition are constants, and nodes that read them are folded.
        number = node.constant(np.asarray(i, np.int64), "iteration")
        truth = node.constant(np.asarray(True), "condition")
        condition, *made = fields(bodies.inlined(node, "body", (number, truth, *carried), str(i)))
        if condition.value is None or condition.value.size != 1:
            raise node.unsupported("ends at a computed condition", supported="known iterations")
        goes = bool(condition.value.ravel()[0])
        stacks.append(made[len(carried) :])
        carried = made[: len(carried)]
    return (*carried, *(stacked(node, parts, 0) for parts in zip(*stacks, strict=True)))


def check(node: OnnxNode, count: int) -> None:
    """UnsupportedError for more rounds than are unrolled."""
    if count > MOST:
        raise node.unsupported(f"has more than {MOST} iterations", supported=f"up to {MOST}")


def stacked(node: OnnxNode, parts: Sequence[BuiltTensor], axis: int) -> BuiltTensor:
    """The results of all rounds, joined along a new axis."""
    shape = (*parts[0].shape[:axis], 1, *parts[0].shape[axis:])
    return move_nodes.joined(node, [node.reshaped(part, shape) for part in parts], axis)
