"""The memories that a stream addresses: constants, scratch, then the function's tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.base.formats.c_layout import aligned
from microgen.compiler.codegens import placement
from microgen.compiler.codegens.external import ExternalFunction
from microgen.compiler.codegens.placement import Span
from microgen.graph.ir.graph import Array
from microgen.tvm.codegens.accelerator.commands import Command, Operand

CONSTANTS, SCRATCH, FIRST_TENSOR = 0, 1, 2
_ABSENT = (0xFFFFFFFF, 0, 0)
_WORD = 4  # the alignment of constants

Place = tuple[int, int, int]  # memory, offset, bytes


@dataclass(slots=True)
class Memories:
    """``constants`` is memory 0. ``sizes`` are the bytes of every memory."""

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
    inner = [span for span in _spans(commands, function) if span.key not in places]
    offsets, scratch = placement.placed(inner)
    places |= {str(s.key): (SCRATCH, offsets[s.key], s.nbytes) for s in inner}
    sizes = [0, scratch, *(tensor.type.nbytes for tensor in tensors)]
    return Memories(sizes, bytearray(), places)


def _spans(commands: Sequence[Command], function: ExternalFunction) -> list[Span]:
    last = {name: i for i, made in enumerate(commands) for name in made.reads}
    return [
        Span(made.output, function.graph.types[made.output].nbytes, i, last.get(made.output, i))
        for i, made in enumerate(commands)
    ]
