"""What an op is: attributes, type inference, a numpy reference. One file per op beside this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from microgen.ir.graph import Array, Attrs, DType, Node, TensorType
from microgen.ops import cost as costs

Shape = tuple[int, ...]
Pair = tuple[int, int]  # (height, width)
Pads = tuple[int, int, int, int]  # (top, left, bottom, right), as Relay orders them


class StatusError(Exception):
    """What a reference raises for values that it has no result for (a division by zero, say).

    ``status`` is what the firmware's run function returns then: an error code of
    ``crt/include/tvm/runtime/crt/error_codes.h``. The first such value is the ``element`` of the
    input at ``position``, and ``allowed`` says what it may be ("from 0 to 7"). ``node`` is the one
    whose reference raised it, as far as an interpreter has noted it.
    """

    def __init__(
        self, what: str, status: int, *, position: int, among: Array, wrong: Array, allowed: str
    ) -> None:
        super().__init__(f"{what} (status {status:#x})")
        self.status, self.position, self.allowed = status, position, allowed
        first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        self.element: tuple[int, ...] = tuple(map(int, first))
        self.value: int = among[first].item()
        self.node: Node | None = None


def one_input(name: str, inputs: Sequence[TensorType]) -> TensorType:
    """The only input of the op of that name; ValueError unless there is one."""
    if len(inputs) != 1:
        raise ValueError(f"{name} has {len(inputs)} inputs; one is expected")
    return inputs[0]


def rows_input(name: str, inputs: Sequence[TensorType]) -> TensorType:
    """The only input, of an op along its last axis; ValueError if it has none, or an empty one."""
    data = one_input(name, inputs)
    if not data.shape or data.shape[-1] < 1:
        raise ValueError(f"the input {data} has no last axis to normalise over")
    return data


def writing(*positions: int) -> Callable[[Any, int], tuple[int, ...]]:
    """``Op.writes`` of an op that always updates the inputs at these positions."""
    return lambda _attrs, _n_inputs: positions


_NOTHING = writing()


Padding = Pads | Literal["SAME", "VALID"]


@dataclass(frozen=True, slots=True)
class Operands:
    """What a reference computes from: arrays and types of a node's inputs, types of its outputs."""

    inputs: tuple[Array, ...]
    input_types: tuple[TensorType, ...]
    output_types: tuple[TensorType, ...]


@dataclass(frozen=True, slots=True)
class Inexact:
    """A node as some implementation computes it: what the reference computes from, by how much at
    most what the implementation has differs from each input (0: the same bits), and what the
    reference gives. Errors are float64, of the inputs' shapes. ``found``: what the implementation
    gave, where that is known."""

    operands: Operands
    errors: tuple[Array, ...]
    expected: tuple[Array, ...]
    found: tuple[Array | None, ...]

    @property
    def is_exact(self) -> bool:
        """Whether the implementation has the very inputs."""
        return not any(error.any() for error in self.errors)


@dataclass(frozen=True, slots=True)
class Bound:
    """How far a sound implementation of an op may be from its reference.

    ``of(attrs, inexact)`` gives, for each array that the reference gives, the greatest distance of
    each element, float64 of the array's shape; infinite where any value may come out. ``rule`` says
    in a few words where that comes from. So many ``roundings`` of each element may be missing where
    the op is computed together with those that read it.
    """

    rule: str
    of: Callable[[Any, Inexact], tuple[Array, ...]]
    roundings: int = 0


def _same_bits(_attrs: Attrs, given: Inexact) -> tuple[Array, ...]:
    distance = 0.0 if given.is_exact else np.inf
    return tuple(np.full(array.shape, distance) for array in given.expected)


EXACT = Bound("equal", _same_bits)


@dataclass(frozen=True, slots=True)
class Op:
    """The definition of an op.

    ``infer(attrs, input_types)`` returns the shape of each output, or raises ValueError with a
    sentence that says what was found and what was expected. The dtype of outputs is ``dtype``
    of the first input unless ``check`` says otherwise.
    ``check(attrs, input_types, output_types)`` returns the sentence of the first constraint
    that the types (dtypes, quantization) break, or None.
    ``reference(attrs, operands)`` returns one array per output, then one per position of
    ``writes``: the specification, for integers bit for bit. May raise StatusError.
    ``writes(attrs, n_inputs)`` are the positions of the inputs, variables of the graph, that the
    node updates.
    ``is_view``: the output has the input's bytes under another shape.
    ``tables[dtype](attrs, data_type, output_type)``, of a function of each value of its only input
    by itself: the table that ``lookup`` computes it from. It needs no kernel for such a dtype,
    because ``passes/tabulate.py`` makes it a ``lookup``.
    ``cost(attrs, input_types, output_types)`` is what ``reference`` takes, see ``ops/cost.py``.
    ``parts(attrs, n_inputs)`` are the words of the primitive function's name, the TVM way:
    ("nn_conv2d", "nn_bias_add", "clip").
    ``bound`` is that of every implementation: kernels, generators of code, LiteRT.
    """

    name: str
    attrs: type[Attrs]
    infer: Callable[[Any, Sequence[TensorType]], tuple[Shape, ...]]
    check: Callable[[Any, Sequence[TensorType], Sequence[TensorType]], str | None]
    reference: Callable[[Any, Operands], tuple[Array, ...]]
    parts: Callable[[Any, int], tuple[str, ...]]
    is_view: bool = False
    tables: Mapping[DType, Callable[[Any, TensorType, TensorType], Array]] = field(
        default_factory=dict, hash=False
    )
    writes: Callable[[Any, int], tuple[int, ...]] = _NOTHING
    bound: Bound = EXACT
    cost: costs.Rule = costs.elementwise
