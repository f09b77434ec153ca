"""Implementations: C kernels, the nodes that they can compute, and their arguments."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from microgen.base.errors import short
from microgen.graph.arithmetic.int8 import activation_range, float_range, int32_range
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node
from microgen.graph.ops.base import Pair, Shape
from microgen.kernels import headers
from microgen.kernels.constant import KernelConstant as KernelConstant
from microgen.kernels.work import Cost, Work, work
from microgen.planner.program.kernel_call import KernelCode
from microgen.planner.program.types import Fields as Fields
from microgen.target.cpu import Cpu, Feature

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

A = TypeVar("A")
Refuse = Callable[[Node, Graph], str | None]
Params = Callable[[Node, Graph], Fields]
Lags = dict[int, int]
InPlace = Callable[[Node, Graph], Lags]


def _no_constants(_node: Node, _graph: Graph) -> tuple[KernelConstant, ...]:
    return ()


def no_scratch(_node: Node, _graph: Graph) -> int:
    """0 bytes: the kernel needs no scratch."""
    return 0


def not_in_place(_node: Node, _graph: Graph) -> Lags:
    """An empty mapping: the output may take no input's bytes."""
    return {}


@dataclass(frozen=True, slots=True)
class Implementation:
    """How a C kernel computes the nodes of one op, or of one pattern of ops (``patterns``).

    Op, attributes, dtypes and rounding are the op's, and so is the reference.
    """

    symbol: str
    refusal: Refuse  # ``(node, graph)``: why the kernel cannot compute the node, or None
    params: Params  # the struct's fields, in order
    # The part of ``refusal`` that concerns dtypes and the form of weights, if the rest is a proof
    # that takes long. It decides for a CPU that lacks the kernel's features.
    form: Refuse | None = None
    needs: frozenset[Feature] = frozenset()  # of the CPU; reference kernels need nothing
    # Positions of the node's inputs that are passed as tensors, constant or not, or as NULL if the
    # node does not have them. ``constants`` handles the others.
    inputs: tuple[int, ...] = (0,)
    constants: Callable[[Node, Graph], tuple[KernelConstant, ...]] = _no_constants
    scratch: Callable[[Node, Graph], int] = no_scratch  # in bytes
    # The inputs whose bytes the output may take, each with its lag in bytes. With a lag of 0, the
    # output begins where the input does, and is no larger. Otherwise it begins before the input, by
    # the lag or by the lag rounded up to a power of two (kernels.lags).
    in_place: InPlace = not_in_place
    stack: int = 0  # bytes of an array that it has on the stack
    # The fields for each input, which follow the fields of ``params``. The kernel is called once
    # for each input, all calls write parts of one output, and ``inputs`` is ignored.
    each_input: Callable[[Node, Graph], tuple[Fields, ...]] | None = None
    writes: tuple[int, ...] = ()  # of ``inputs``, the variables, which the kernel updates
    can_fail: bool = False  # the C function returns a status, like the runner
    # In a float kernel, the number of units in the last place by which an element may differ from
    # the numpy reference. The unit belongs to the output's largest magnitude; for sums, to the
    # largest sum of magnitudes.
    ulps: int = 0
    # The name of its header and macros, if they are not named after its symbol.
    family: str = ""
    variant: tuple[str, ...] = ()  # the C constants that its body takes
    # Functions of its headers that compilers keep out of line, and that other kernels may call,
    # too.
    cores: tuple[str, ...] = ()
    # For each core, the part of ``work`` in which it is called. A function for one shape without
    # this part does not call it.
    core_parts: tuple[str, ...] = ()
    # Kernels with one loop differ only in their requantizations; by default it is the symbol.
    loop: str = ""
    takes_int4: bool = False  # only for weights (input 1) that the model stores in 4 bits
    compact: bool = False  # its parameters have 16 bits; see ``KernelCode``
    work: Callable[[Node, Graph], Work] = work  # how often the parts of its loops run
    # ``(node, graph, cpu, is_shared)``, in place of a measured table
    cost: Callable[[Node, Graph, Cpu, bool], Cost | None] | None = None
    # Until the kernel has costs of its own, it has the costs of this kernel, plus the amounts in
    # the table of costs for its requantization, the last constant of ``variant``.
    measured_as: Implementation | None = None

    def calls(self, node: Node, graph: Graph) -> tuple[tuple[tuple[int, ...], Fields], ...]:
        """The calls that compute the node: positions of the inputs passed, struct fields."""
        fields = self.params(node, graph)
        if self.each_input is None:
            return ((self.inputs, fields),)
        each = self.each_input(node, graph)
        return tuple(((i,), (*fields, *own)) for i, own in enumerate(each))

    def passed(self, node: Node) -> tuple[int, ...]:
        """Positions of the inputs that are passed as tensors in some call."""
        given = range(len(node.inputs))
        return tuple(given if self.each_input else (i for i in self.inputs if i in given))

    @property
    def loop_name(self) -> str:
        """The loop, or the symbol of a kernel that shares none."""
        return self.loop or self.symbol

    @property
    def code(self) -> KernelCode:
        """The names of its C."""
        header = headers.path(self.family or self.symbol.removeprefix("mg_"))
        return KernelCode(self.symbol, header, self.variant, self.compact, self.family)


_SCALED = (DType.INT8, DType.INT16)
TIES = {Rounding.UPWARD: 0, Rounding.NEAREST: 1}  # requantize_once.h: MG_TIES_*
# requantize_s16.h: MG_ROUND_*
_WIDE_ROUNDINGS = {Rounding.DOUBLE: 0, Rounding.REDUCED: 1, Rounding.FLOAT: 2}


REFERENCE = frozenset[Feature]()  # a reference kernel needs no features
DSP = frozenset({Feature.DSP})
FPU = frozenset({Feature.FPU})
MVE = frozenset({Feature.MVE})
MVE_FLOAT = frozenset({Feature.MVE_FLOAT})
# Functions of kernels that round in float32 with integers: see ``Implementation.cores``.
FLOAT_CORES = ("mg_requantize_float",)
DATA_WEIGHT_BIAS = (0, 1, 2)  # ``inputs`` of float kernels, whose weights may be computed


def types(node: Node, graph: Graph) -> tuple[tuple[ArrayType, ...], ArrayType]:
    """The node's input types, and the type of its only output."""
    return graph.type_of(node.inputs), graph.types[node.outputs[0]]


def attrs_of(node: Node, kind: type[A]) -> A:
    """The node's attributes, which must be an object of ``kind``."""
    assert isinstance(node.attrs, kind)
    return node.attrs


class Trait(enum.IntEnum):
    """The special case for which a kernel is made. Members are in the order in which nodes are
    tested for them.
    """

    DTYPE = 0
    WEIGHTS = 1  # their form: int4, or with a zero point
    CPU = 2
    ARITHMETIC = 3  # its rounding, or another choice


class Mismatch(str):
    """A refusal by a kernel that is made for another ``trait``. It says nothing about the node if
    some kernel is made for the node's."""

    trait: Trait

    def __new__(cls, trait: Trait, why: str) -> Mismatch:
        """The refusal, with its reason as text."""
        made = super().__new__(cls, why)
        made.trait = trait
        return made


def any_node(_node: Node, _graph: Graph) -> str | None:
    """None: no node is refused."""
    return None


def only(dtype: DType, output: DType | None = None) -> Refuse:
    """Refusal unless data and output have these dtypes. The output's is the data's by default."""

    def refusal(node: Node, graph: Graph) -> str | None:
        for name, wanted in ((node.inputs[0], dtype), (node.outputs[0], output or dtype)):
            found = graph.types[name].dtype
            if found is not wanted:
                why = f"{short(name)!r} is {found.value}, the kernel computes {wanted.value}"
                return Mismatch(Trait.DTYPE, why)
            # int8 and int16 without a scale are plain integers, which other kernels compute.
            if found in _SCALED and graph.types[name].quant is None:
                why = f"{short(name)!r} has no scale, the kernel computes values with one"
                return Mismatch(Trait.DTYPE, why)
        return None

    return refusal


def computed(name: str, graph: Graph) -> str | None:
    """Refusal unless the tensor is a constant."""
    if name in graph.constants:
        return None
    return f"{short(name)!r} is computed at run time, the kernel needs a constant"


def made_for(kernel: Implementation, other: Refuse) -> Implementation:
    """The kernel, which also refuses nodes for which ``other`` has a reason: their arithmetic is
    not the kernel's."""

    def refusal(node: Node, graph: Graph) -> str | None:
        refused = kernel.refusal(node, graph)
        if refused:
            return refused
        why = other(node, graph)
        return why and Mismatch(Trait.ARITHMETIC, why)

    return dataclasses.replace(kernel, refusal=refusal)


# A kernel of float32 data, which has a name and parameters.
float_kernel = functools.partial(Implementation, refusal=only(DType.FLOAT32))


def spatial(tensor: ArrayType) -> Pair:
    """(height, width) of an NHWC tensor or of an OHWI or 1HWC weight."""
    return tensor.shape[1], tensor.shape[2]


def image_fields(node: Node, graph: Graph, channels: str = "channels") -> Fields:
    """Extents of the data and of an output with the same batches; ``channels`` are the data's."""
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    return (
        ("batches", data.shape[0]),
        ("input_height", data.shape[1]),
        ("input_width", data.shape[2]),
        (channels, data.shape[3]),
        ("output_height", output.shape[1]),
        ("output_width", output.shape[2]),
    )


def axis_fields(shape: Shape, axis: int) -> Fields:
    """The numbers of elements before, along and after an axis."""
    return (
        ("outer_size", math.prod(shape[:axis])),
        ("axis_size", shape[axis]),
        ("inner_size", math.prod(shape[axis + 1 :])),
    )


def suffix(dtype: DType) -> str:
    """The end of a symbol for numbers of that dtype, such as "s8", "u16" or "f32"."""
    letter = {"i": "s", "u": "u", "f": "f"}[dtype.numpy.kind]
    return f"{letter}{8 * dtype.nbytes}"


def scale_fields(scale: tuple[int, int], name: str = "") -> Fields:
    """A pair (multiplier, shift) as two fields, which begin with ``name`` if it is given."""
    prefix = f"{name}_" if name else ""
    multiplier, shift = scale
    return ((f"{prefix}multiplier", multiplier), (f"{prefix}shift", shift))


def fields_of(parameters: DataclassInstance) -> Fields:
    """A dataclass of parameters as fields of the same names, in the same order."""
    return tuple(dataclasses.asdict(parameters).items())


def offsets(data: ArrayType, output: ArrayType) -> Fields:
    """The zero points as kernels use them: added to the input, added to the output."""
    return (("input_offset", -data.zero_point), ("output_offset", output.zero))


def wide_rounding(rounding: Rounding, output: ArrayType) -> Fields:
    """The kernel's field for the scaling of sums of int16 data; no field for other data."""
    if output.dtype is not DType.INT16:
        return ()
    return (("rounding", _WIDE_ROUNDINGS[rounding]),)


def activation_fields(activation: Activation, output: ArrayType) -> Fields:
    """The clamp: the last two fields of each kernel that has one, as stored values or numbers."""
    if output.dtype is DType.FLOAT32:
        least, most = float_range(activation)
        return (("activation_min", least), ("activation_max", most))
    if output.dtype is DType.INT32:
        lowest, highest = int32_range(activation)
        return (("activation_min", lowest), ("activation_max", highest))
    assert output.quant is not None
    low, high = activation_range(activation, output.quant, output.dtype)
    return (("activation_min", low), ("activation_max", high))


def as_is(_node: Node, _graph: Graph) -> Lags:
    """The first input's buffer may be the output's."""
    return {0: 0}
