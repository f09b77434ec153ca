"""Translates nodes into commands of the accelerator, collects the memories that the commands
address, and encodes the commands as a stream."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.base.formats.c_layout import aligned
from microgen.compiler.codegens import placement
from microgen.compiler.codegens.external import ExternalFunction
from microgen.compiler.codegens.placement import BufferSpan
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import registry as kernels
from microgen.kernels.base import Implementation, KernelConstant
from microgen.kernels.requantization import transforms

# The memories that a stream addresses: constants, scratch, then the function's tensors.

CONSTANTS, SCRATCH, FIRST_TENSOR = 0, 1, 2
_ABSENT = (0xFFFFFFFF, 0, 0)
_WORD = 4  # the alignment of constants

Place = tuple[int, int, int]  # memory, offset, bytes


@dataclass(slots=True)
class Memories:
    """The memories of a function. ``constants`` has the content of memory 0, and ``sizes`` the
    number of bytes of every memory."""

    sizes: list[int]
    constants: bytearray
    places: dict[str, Place]

    def place(self, operand: Operand) -> Place:
        """The place of an operand. A constant gets its place by this call."""
        if operand is None:
            return _ABSENT
        if isinstance(operand, str):
            return self.places[operand]
        return self._constant(operand)

    def _constant(self, array: Array) -> Place:
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        place = (CONSTANTS, len(self.constants), len(data))
        # The requantization tables among them are read as words.
        self.constants += data.ljust(aligned(len(data), _WORD), b"\0")
        self.sizes[CONSTANTS] = len(self.constants)
        return place


def of(function: ExternalFunction, commands: Sequence[Command]) -> Memories:
    """The memories of a function, with the constants' memory still empty."""
    tensors = (*function.inputs, *function.outputs)
    places = {
        tensor.name: (number, 0, tensor.type.nbytes)
        for number, tensor in enumerate(tensors, FIRST_TENSOR)
    }
    # Inputs and outputs have memories of their own, which the caller owns.
    inner = [span for span in _spans(commands, function) if span.key not in places]
    offsets, scratch = placement.placed(inner)
    places |= {str(s.key): (SCRATCH, offsets[s.key], s.nbytes) for s in inner}
    sizes = [0, scratch, *(tensor.type.nbytes for tensor in tensors)]
    return Memories(sizes, bytearray(), places)


def _spans(commands: Sequence[Command], function: ExternalFunction) -> list[BufferSpan]:
    # The last command that reads a tensor remains in the mapping.
    last = {name: i for i, made in enumerate(commands) for name in made.reads}
    return [
        BufferSpan(
            made.output, function.graph.types[made.output].nbytes, i, last.get(made.output, i)
        )
        for i, made in enumerate(commands)
    ]


# Writes command streams in the layout of crt/src/accelerator/accelerator_stream.h.

MAGIC = b"MGAC"
VERSION = 1


def encode(commands: Sequence[Command], memories: Memories) -> bytes:
    """The stream of the commands. Their constants are added to the memories."""
    body = b"".join(_command(made, memories) for made in commands)
    count = len(memories.sizes)
    checked = struct.pack(f"<{count}I", *memories.sizes) + body
    # 16 bytes with the checksum, which covers everything after them.
    head = struct.pack("<4sHHI", MAGIC, VERSION, count, 16 + len(checked))
    return head + struct.pack("<I", zlib.crc32(checked)) + checked


def _command(made: Command, memories: Memories) -> bytes:
    counts = struct.pack("<BBH", made.opcode, len(made.operands), len(made.parameters))
    operands = b"".join(struct.pack("<3I", *memories.place(o)) for o in made.operands)
    return counts + operands + struct.pack(f"<{len(made.parameters)}i", *made.parameters)


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
        """The tensor that the command computes."""
        name = self.operands[-1]
        assert isinstance(name, str), "constants are not computed"
        return name

    @property
    def reads(self) -> tuple[str, ...]:
        """The tensors that the command reads."""
        return tuple(name for name in self.operands[:-1] if isinstance(name, str))


def refusal(node: Node, graph: Graph) -> str | None:
    """The reason why no kernel of the accelerator computes the node; None if a kernel does."""
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
    # Every field of a kernel's structure is an int32 or an array of them.
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
    # For example, the bias of a layer without bias, for which the kernel takes NULL.
    if constant.is_absent:
        return None
    sources = constant.arrays(graph)
    return transforms.apply(constant.transform, sources, dict(constant.arguments))


# Nodes that the accelerator refuses although its kernels could compute them, as in
# accelerator_check.c of crt/src/accelerator.

MAX_TENSOR = 0x7FFFFF  # bytes
MAX_EXTENT = 32767  # of windows and of the axes they move over
LARGEST_PRODUCT = 255 * 128  # of a value with its offset, and a weight

_FILTERED = ("mg_conv2d_s8", "mg_depthwise_conv2d_s8")
_WEIGHTED = ("mg_dense_s8", "mg_dense_s8_twice", *_FILTERED)
_WINDOWED = ("mg_max_pool2d_s8", "mg_avg_pool2d_s8", *_FILTERED)


def limit_refusal(node: Node, graph: Graph) -> str | None:
    """The reason why a node exceeds a limit of the accelerator, if its kernels compute the node;
    None if no limit is exceeded."""
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
    """Refusal if some weights could make a sum exceed int32. The accelerator cannot detect such
    sums."""
    _, weight, bias, *_ = made.operands
    assert isinstance(weight, np.ndarray), "the kernel needs a constant"
    # The products of one output, all of the largest magnitude, and of one sign.
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
