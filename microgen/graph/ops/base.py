"""The parts of an op: attributes, type inference, a numpy reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Graph, Node, Types
from microgen.graph.ops import cost as costs

Shape = tuple[int, ...]
Shapes = tuple[Shape, ...]  # one of each output
Pair = tuple[int, int]  # (height, width)
Pads = tuple[int, int, int, int]  # (top, left, bottom, right), as Relay orders them


class StatusError(Exception):
    """A reference raises this for values that have no result (a division by zero, say).

    ``status`` is the error code that the firmware's run function then returns, from
    ``crt/include/tvm/runtime/crt/error_codes.h``. The first such value is the ``element`` of the
    input at ``position``, and ``allowed`` says which values are allowed ("from 0 to 7"). ``node``
    is the node whose reference raised it, if an interpreter has noted it.
    """

    def __init__(
        self, what: str, status: int, *, position: int, among: Array, wrong: Array, allowed: str
    ) -> None:
        super().__init__(f"{what} (status {status:#x})")
        self.status, self.position, self.allowed = status, position, allowed
        # argmax of bools is the first True.
        first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        self.element: tuple[int, ...] = tuple(map(int, first))
        self.value: int = among[first].item()
        self.node: Node | None = None


def one_input(name: str, inputs: Types) -> ArrayType:
    """The only input of the op called ``name``. ValueError unless there is exactly one."""
    if len(inputs) != 1:
        raise ValueError(f"{name} has {len(inputs)} inputs; one is expected")
    return inputs[0]


def expect_inputs(inputs: Types, count: int, what: str, *, by: str = "") -> None:
    """ValueError unless there are ``count`` inputs. The error names ``what``, the expected inputs,
    and the op ``by``."""
    if len(inputs) != count:
        clause = f"{by} has {len(inputs)}" if by else f"there are {len(inputs)}"
        raise ValueError(f"{clause} inputs; {what} are expected")


Infer = Callable[[Any, Types], Shapes]
Check = Callable[[Any, Types, Types], str | None]


def expect_axis(axis: int, tensor: ArrayType, role: str = "input") -> None:
    """ValueError unless the tensor, which the error calls ``role``, has the axis."""
    if not 0 <= axis < len(tensor.shape):
        raise ValueError(f"the axis is {axis}; the {role} is {tensor}")


def like_input(name: str) -> Infer:
    """``OpDefinition.infer`` of an op whose output has the shape of its only input."""
    return lambda _attrs, inputs: (one_input(name, inputs).shape,)


def like_rows(name: str) -> Infer:
    """``like_input`` of an op that computes along its last axis, which must exist and have
    elements."""

    def infer(_attrs: Attrs, inputs: Types) -> Shapes:
        data = one_input(name, inputs)
        if not data.shape or data.shape[-1] < 1:
            raise ValueError(f"the input {data} has no last axis to normalise over")
        return (data.shape,)

    return infer


def writing(*positions: int) -> Callable[[Any, int], tuple[int, ...]]:
    """``OpDefinition.writes`` of an op that always updates the inputs at these positions."""
    return lambda _attrs, _n_inputs: positions


_NOTHING = writing()


# ``(word, attrs, n_inputs)``: the words of the primitive function's name, as in TVM:
# ("nn_conv2d", "nn_bias_add", "clip"). ``word`` is the op's name as an identifier.
Words = Callable[[str, Any, int], tuple[str, ...]]


def alone(word: str, _attrs: Attrs, _n_inputs: int) -> tuple[str, ...]:
    """The op's name alone."""
    return (word,)


def clipped(word: str, attrs: Any, _n_inputs: int) -> tuple[str, ...]:
    """The words of an op with a fused activation."""
    return (word, "clip") if attrs.activation.clamps else (word,)


def layer(word: str, attrs: Any, n_inputs: int) -> tuple[str, ...]:
    """The words of a layer or pool: with an optional bias, and a fused activation."""
    bias = ("nn_bias_add",) if n_inputs == 3 else ()
    clip = () if attrs.activation is Activation.NONE else ("clip",)
    return (word, *bias, *clip)


Padding = Pads | Literal["SAME", "VALID"]


@dataclass(frozen=True, slots=True)
class Operands:
    """The inputs of a reference: arrays and types of a node's inputs, types of its outputs."""

    inputs: Arrays
    input_types: tuple[ArrayType, ...]
    output_types: tuple[ArrayType, ...]

    @staticmethod
    def of(node: Node, graph: Graph, values: Mapping[str, Array]) -> Operands:
        """The operands of a node, whose inputs are in ``values``."""
        inputs = tuple(values[name] for name in node.inputs)
        return Operands(inputs, graph.type_of(node.inputs), graph.type_of(node.outputs))


@dataclass(frozen=True, slots=True)
class Inexact:
    """A node's inputs and results in an implementation, together with the reference's operands."""

    operands: Operands
    # The most by which each of the implementation's inputs differs from the reference's (0: the
    # same bits), float64 of the inputs' shapes.
    errors: Arrays
    expected: Arrays  # the reference's results
    found: tuple[Array | None, ...]  # the implementation's results; None if unknown

    @property
    def is_exact(self) -> bool:
        """Whether the implementation has exactly the same inputs."""
        return all(map(_is_zero, self.errors))


def _is_zero(error: Array) -> bool:
    # The elements of most of these arrays are one number in memory.
    if error.size and not any(error.strides):
        return not error[(0,) * error.ndim]
    return not error.any()


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of the distance between a sound implementation of an op and its reference."""

    rule: str  # in a few words where the bound comes from
    # ``of(attrs, inexact)``: one array for each of the reference's results, the greatest distance
    # of each element, float64 of the array's shape, infinite if any value is possible.
    of: Callable[[Any, Inexact], Arrays]
    # Up to this number of roundings of each element may be missing if the op is computed together
    # with the ops that read it.
    roundings: int = 0


def _same_bits(_attrs: Attrs, inexact: Inexact) -> Arrays:
    # With other inputs, nothing is known of the results: any value is allowed.
    distance = 0.0 if inexact.is_exact else np.inf
    return tuple(np.broadcast_to(distance, array.shape) for array in inexact.expected)


EXACT = Bound("equal", _same_bits)
Reference = Callable[[Any, Operands], Arrays]


@dataclass(frozen=True, slots=True)
class OpDefinition:
    """The definition of an op, without which no node of it can be in a graph."""

    name: str
    attrs: type[Attrs]
    # ``infer(attrs, input_types)``: the shape of each output. ValueError with a sentence that says
    # what was found and what was expected. An output's dtype is the first input's unless ``check``
    # says otherwise.
    infer: Infer
    # ``check(attrs, input_types, output_types)``: the sentence of the first constraint that the
    # types (dtypes, quantization) violate, or None.
    check: Check
    # ``reference(attrs, operands)``: one array per output, then one per position of ``writes``. It
    # is the specification, bit for bit for integers. It may raise StatusError.
    reference: Reference
    words: Words = alone
    is_view: bool = False  # the output has the input's bytes under another shape
    # By dtype, ``tables[dtype](attrs, data_type, output_type)`` of an op that is a function of each
    # value of its only input: the table from which ``lookup`` computes the op. Such a dtype needs
    # no kernel, because ``compiler/passes/tabulate.py`` turns the op into a ``lookup``.
    tables: Mapping[DType, Callable[[Any, ArrayType, ArrayType], Array]] = field(
        default_factory=dict, hash=False
    )
    # ``writes(attrs, n_inputs)``: the positions of the inputs that the node updates, which are
    # variables of the graph.
    writes: Callable[[Any, int], tuple[int, ...]] = _NOTHING
    bound: Bound = EXACT  # for every implementation: kernels, code generators, LiteRT
    # ``cost(attrs, input_types, output_types)`` of ``reference``: see graph/ops/cost.py
    cost: costs.Rule = costs.elementwise
    # ``inside(node, operands, errors, found, slack)``: for a node with a graph inside, of whose
    # tensors ``found`` are known: yields these, then the outputs, as ``graph.ir.beside.walk`` does.
    inside: Callable[..., Iterator[Any]] | None = None
    about: str = ""  # a few words about the result; by default those of a docstring

    def parts(self, attrs: Attrs, n_inputs: int) -> tuple[str, ...]:
        """The words of the primitive function's name for a node with a number of inputs."""
        return self.words(self.name.replace(".", "_"), attrs, n_inputs)

    def results(self, node: Node) -> tuple[str, ...]:
        """The tensors that ``reference`` computes for a node: outputs, and updated variables."""
        written = self.writes(node.attrs, len(node.inputs))
        return (*node.outputs, *(node.inputs[position] for position in written))
