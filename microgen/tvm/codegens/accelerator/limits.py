"""Nodes that the accelerator refuses although its kernels could compute them, as in
``accelerator_check.c`` of ``crt/src/accelerator``."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.tvm.codegens.accelerator.commands import OPCODES, Command, command

MAX_TENSOR = 0x7FFFFF  # bytes
MAX_EXTENT = 32767  # of windows and of the axes they move over
LARGEST_PRODUCT = 255 * 128  # of a value with its offset, and a weight

_FILTERED = ("mg_conv2d_s8", "mg_depthwise_conv2d_s8")
_WEIGHTED = ("mg_dense_s8", "mg_dense_s8_twice", *_FILTERED)
_WINDOWED = ("mg_max_pool2d_s8", "mg_avg_pool2d_s8", *_FILTERED)


def refusal(node: Node, graph: Graph) -> str | None:
    """The reason why a node that the kernels take exceeds a limit; None if it does not."""
    for name in (*node.inputs, *node.outputs):
        if graph.types[name].nbytes > MAX_TENSOR:
            nbytes = graph.types[name].nbytes
            return f"{name!r} has {nbytes:,} bytes; the accelerator addresses {MAX_TENSOR:,}"
    made = command(node, graph)
    if _is(made, _WINDOWED) and max(made.parameters) > MAX_EXTENT:
        return f"it has an extent of {max(made.parameters):,}; the accelerator allows 32,767"
    return _sum_refusal(made) if _is(made, _WEIGHTED) else None


def _is(made: Command, kernels: tuple[str, ...]) -> bool:
    return made.opcode in [OPCODES[kernel] for kernel in kernels]


def _sum_refusal(made: Command) -> str | None:
    """Refusal if some weights could make a sum exceed int32. The accelerator cannot see them."""
    _, weight, bias, *_ = made.operands
    assert isinstance(weight, np.ndarray), "the kernel needs a constant"
    worst = weight.size // _channels(made, weight) * LARGEST_PRODUCT + _magnitude(bias)
    if worst <= np.iinfo(np.int32).max:
        return None
    return f"its sums may reach {worst:,} with some weights; the accelerator allows 2,147,483,647"


def _channels(made: Command, weight: Array) -> int:
    """The number of output channels; a depthwise convolution's are the weight's last axis."""
    axis = 3 if _is(made, ("mg_depthwise_conv2d_s8",)) else 0
    return int(weight.shape[axis])


def _magnitude(bias: object) -> int:
    return int(np.abs(bias.astype(np.int64)).max()) if isinstance(bias, np.ndarray) else 0
