"""What an op is: attributes, type inference, a numpy reference. One file per op beside this one."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from microgen.ir.graph import Array, Attrs, DType, TensorType
from microgen.ops import cost as costs

Shape = tuple[int, ...]
Pair = tuple[int, int]  # (height, width)
Pads = tuple[int, int, int, int]  # (top, left, bottom, right), as Relay orders them


class Activation(enum.Enum):
    """A fused activation: the closed range of real values that it clamps to."""

    NONE = "none"
    RELU = "relu"  # [0, inf)
    RELU6 = "relu6"  # [0, 6]
    RELU_N1_TO_1 = "relu_n1_to_1"  # [-1, 1]


class Rounding(enum.Enum):
    """How an accumulator is scaled to the output.

    The frontend chooses it from the numerics profile and the file, so that a graph has one
    meaning. int8 activations: DOUBLE or SINGLE, see ``microgen/quantize.py``; int16 activations:
    DOUBLE, REDUCED or REAL, see ``microgen/quantize16.py``. UPWARD and NEAREST are Relay's, of
    qnn.requantize: there the sums have a scale of their own, which stands with the weight.
    """

    DOUBLE = "double"  # gemmlowp: doubling high multiply, then rounding shift: two roundings
    SINGLE = "single"  # one rounding of the 64-bit product
    REDUCED = "reduced"  # int64 accumulators, 16-bit multipliers, one rounding, ties upwards
    REAL = "real"  # int64 accumulators, C's round of the product in double
    UPWARD = "upward"  # one rounding of the 64-bit product, ties upwards
    NEAREST = "nearest"  # the arithmetic of SINGLE, on the scale of the sums


class StatusError(Exception):
    """What a reference raises for values that it has no result for (a division by zero, say).

    ``status`` is what the firmware's run function returns then: an error code of
    ``crt/include/tvm/runtime/crt/error_codes.h``.
    """

    def __init__(self, what: str, status: int) -> None:
        super().__init__(f"{what} (status {status:#x})")
        self.status = status


def _writes_nothing(_attrs: Attrs, _n_inputs: int) -> tuple[int, ...]:
    return ()


Padding = Pads | Literal["SAME", "VALID"]


@dataclass(frozen=True, slots=True)
class Operands:
    """What a reference computes from: arrays and types of a node's inputs, types of its outputs."""

    inputs: tuple[Array, ...]
    input_types: tuple[TensorType, ...]
    output_types: tuple[TensorType, ...]


@dataclass(frozen=True, slots=True)
class Op:
    """The definition of an op. ``A`` below is its attributes dataclass.

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
    writes: Callable[[Any, int], tuple[int, ...]] = _writes_nothing
    cost: costs.Rule = costs.elementwise
