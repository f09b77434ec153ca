"""Nodes as commands of the accelerator: an opcode, operands, and the parameters of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import registry as kernels
from microgen.kernels.base import Implementation, KernelConstant
from microgen.kernels.requantization import transforms

# The accelerator's kernels and their opcodes: crt/src/accelerator/accelerator_stream.h.
OPCODES = {
    "mg_add_s8": 1,
    "mg_multiply_s8": 2,
    "mg_clip_s8": 3,
    "mg_lookup_s8": 4,
    "mg_max_pool2d_s8": 5,
    "mg_avg_pool2d_s8": 6,
    "mg_dense_s8": 7,
    "mg_conv2d_s8": 8,
    "mg_depthwise_conv2d_s8": 9,
    "mg_dense_s8_twice": 10,
}

# A tensor's name; a constant; or nothing, if the kernel takes NULL.
Operand = str | Array | None


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """One command. ``operands`` are in the kernel's order, the output last. ``parameters`` are the
    fields of the kernel's structure, with arrays as their elements."""

    opcode: int
    operands: tuple[Operand, ...]
    parameters: tuple[int, ...]

    @property
    def output(self) -> str:
        """The tensor that it computes."""
        name = self.operands[-1]
        assert isinstance(name, str), "constants are not computed"
        return name

    @property
    def reads(self) -> tuple[str, ...]:
        """The tensors that it reads."""
        return tuple(name for name in self.operands[:-1] if isinstance(name, str))


def refusal(node: Node, graph: Graph) -> str | None:
    """Why no kernel of the accelerator computes the node, None if one does."""
    why: str | None = "it has no command for it"
    for kernel in _kernels(node):
        why = kernel.refusal(node, graph)
        if why is None:
            break
    return why


def command(node: Node, graph: Graph) -> Command:
    """The command for a node that is not refused."""
    kernel = next(k for k in _kernels(node) if not k.refusal(node, graph))
    ((positions, fields),) = kernel.calls(node, graph)
    tensors = [_tensor(node.inputs[i], graph) if i < len(node.inputs) else None for i in positions]
    constants = [_constant(constant, graph) for constant in kernel.constants(node, graph)]
    words = np.concatenate([np.atleast_1d(np.array(value)) for _, value in fields])
    return Command(
        OPCODES[kernel.symbol],
        (*tensors, *constants, *node.outputs),
        tuple(int(word) for word in words),
    )


def _kernels(node: Node) -> list[Implementation]:
    return [kernel for kernel in kernels().get(node.op, ()) if kernel.symbol in OPCODES]


def _tensor(name: str, graph: Graph) -> Operand:
    return graph.constants.get(name, name)


def _constant(constant: KernelConstant, graph: Graph) -> Operand:
    if constant.is_absent:
        return None
    sources = constant.arrays(graph)
    return transforms.apply(constant.transform, sources, dict(constant.arguments))
