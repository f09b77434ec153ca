"""Implementations: C kernels, the nodes that they can compute, and their arguments."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from microgen.base.errors import short
from microgen.graph.arithmetic.int8 import (
    RELAY,
    activation_range,
    conv_scales,
    float_range,
    int32_range,
)
from microgen.graph.arithmetic.int16 import SUM_LIMIT
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node
from microgen.graph.ops.base import Pair, Shape
from microgen.graph.ops.constraints import leaves_int32, weight_zero
from microgen.kernels import headers
from microgen.kernels.constant import Arguments, Tables
from microgen.kernels.constant import KernelConstant as KernelConstant
from microgen.kernels.requantization.sums import largest_sums
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
Rule = Literal[
    "conv", "dense", "sums", "float32"
]  # how scales are multiplied: see microgen.kernels.requantization.transforms


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
    needs: frozenset[Feature] = frozenset()  # of the CPU; reference kernels need nothing
    # Positions of the node's inputs that are passed as tensors, constant or not, or as NULL if the
    # node does not have them. ``constants`` handles the others.
    inputs: tuple[int, ...] = (0,)
    constants: Callable[[Node, Graph], tuple[KernelConstant, ...]] = _no_constants
    scratch: Callable[[Node, Graph], int] = no_scratch  # in bytes
    # The inputs whose bytes the output may take, each with its lag in bytes. With a lag of 0, the
    # output begins where the input does, and is no larger. Otherwise it begins that much before the
    # input, or that rounded up to a power of two (kernels.lags).
    in_place: InPlace = not_in_place
    stack: int = 0  # bytes of an array that it has on the stack
    # The kernel is called once for each input, all calls write parts of one output, and ``inputs``
    # is ignored: the fields for each input, which follow the fields of ``params``.
    each_input: Callable[[Node, Graph], tuple[Fields, ...]] | None = None
    writes: tuple[int, ...] = ()  # of ``inputs``, the variables, which the kernel updates
    can_fail: bool = False  # the C function returns a status, like the runner
    # Of a float kernel: the number of units in the last place by which an element may differ from
    # the numpy reference. The unit belongs to the output's largest magnitude; for sums, to the
    # largest sum of magnitudes.
    ulps: int = 0
    # What its header and its macros are named after, if these do not have the name of its symbol.
    family: str = ""
    variant: tuple[str, ...] = ()  # the C constants that its body takes
    # Functions of its headers that compilers keep out of line, and that other kernels may call,
    # too.
    cores: tuple[str, ...] = ()
    # For each core the part of ``work`` without which a function for one shape does not call it.
    core_parts: tuple[str, ...] = ()
    # Kernels with one loop differ only in their requantizations; by default it is the symbol.
    loop: str = ""
    takes_int4: bool = False  # only for weights (input 1) that the model stores in 4 bits
    compact: bool = False  # its parameters have 16 bits; see ``KernelCode``
    work: Callable[[Node, Graph], Work] = work  # how often the parts of its loops run
    # ``(node, graph, cpu, is_shared)``, in place of a measured table
    cost: Callable[[Node, Graph, Cpu, bool], Cost | None] | None = None
    # The kernel whose table stands for it until it has its own, with the amounts that the table of
    # costs adds for its requantization, the last constant of ``variant``.
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
TFLITE = tuple(rounding for rounding in Rounding if rounding not in RELAY)
TIES = {Rounding.UPWARD: 0, Rounding.NEAREST: 1}  # requantize_once.h: MG_TIES_*
_SUM_LIMITS = {DType.INT8: 2**31 - 1, DType.INT16: SUM_LIMIT}
# requantize_s16.h: MG_ROUND_*
_WIDE_ROUNDINGS = {Rounding.DOUBLE: 0, Rounding.REDUCED: 1, Rounding.FLOAT: 2}

_RULES: dict[Rounding | None, Rule] = {  # of roundings whose rule is the same for every op
    Rounding.PRODUCT: "dense",
    Rounding.FLOAT: "float32",
    **dict.fromkeys(RELAY, "sums"),
}

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
            if found in _SCALED and graph.types[name].quant is None:
                why = f"{short(name)!r} has no scale, the kernel computes values with one"
                return Mismatch(Trait.DTYPE, why)
        return None

    return refusal


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


def constant_float_weights(node: Node, graph: Graph) -> str | None:
    """Refusal unless the data is float32, and weight and bias are constants."""
    return only(DType.FLOAT32)(node, graph) or _computed(node, graph)


def constant_weights(
    node: Node,
    graph: Graph,
    *,
    axis: int,
    dtype: DType = DType.INT8,
    output: DType | None = None,
    roundings: Collection[Rounding] = TFLITE,
    wraps: bool = False,
    has_offset: bool = False,
) -> str | None:
    """Refusal of a node that an integer kernel cannot compute.

    Data must have the dtype ``dtype``, and so must the output unless ``output`` is given. Weight
    and bias must be constants. No sum of products may exceed int32 (for int16 data: ``SUM_LIMIT``),
    not even when scaled, unless the kernel ``wraps``. The rounding of scaled sums must be in
    ``roundings``. The weight's zero point must be 0, or must not be 0 if the kernel ``has_offset``.
    ``axis`` is the weight's axis of output channels."""
    refusal = mismatch(node, graph, dtype, output, roundings, has_offset)
    return refusal or overflow(node, graph, axis, wraps or output is not None)


def mismatch(
    node: Node,
    graph: Graph,
    dtype: DType,
    output: DType | None,
    roundings: Collection[Rounding],
    has_offset: bool = False,
) -> str | None:
    """The refusals of ``constant_weights`` that do not depend on the weights' values. Outputs that
    are not scaled have the dtype ``output``."""
    refusal = only(dtype, output)(node, graph) or _computed(node, graph)
    refusal = refusal or _other_zero(node, graph, has_offset)
    return refusal or (None if output else _otherwise_rounded(node, roundings))


def overflow(node: Node, graph: Graph, axis: int, wraps: bool) -> str | None:
    """Refusal if sums with these weights, or scaled sums unless the kernel ``wraps``, may exceed
    the accumulator. ``axis`` is the weight's axis of output channels."""
    return (None if wraps else _wrapped(node, graph)) or _overflow(node, graph, axis)


def _other_zero(node: Node, graph: Graph, has_offset: bool) -> str | None:
    zero = weight_zero(graph.types[node.inputs[1]])
    if bool(zero) is has_offset:
        return None
    expected = "one other than 0" if has_offset else "0"
    why = f"the zero point of its weights is {zero}, the kernel takes {expected}"
    return Mismatch(Trait.WEIGHTS, why)


def _otherwise_rounded(node: Node, roundings: Collection[Rounding]) -> str | None:
    rounding = getattr(node.attrs, "rounding", None)
    if rounding is None or rounding in roundings:
        return None
    why = f"its sums are rounded {rounding.value!r}, the kernel rounds otherwise"
    return Mismatch(Trait.ARITHMETIC, why)


def _wrapped(node: Node, graph: Graph) -> str | None:
    """Refusal if scaled sums of int8 data may exceed int32."""
    (data, weight, *_), output = types(node, graph)
    rounding = getattr(node.attrs, "rounding", None)
    if rounding not in (Rounding.DOUBLE, Rounding.PRODUCT) or data.dtype is not DType.INT8:
        return None
    products = weight.size // output.shape[-1]
    # LiteRT takes such sums modulo 2**32, and only the reference kernels do the same.
    if not leaves_int32(data, products, conv_scales(data, weight, output)):
        return None
    return "scaled sums may leave int32, the kernel does not take them modulo 2**32"


def _computed(node: Node, graph: Graph) -> str | None:
    for name in node.inputs[1:]:
        if name not in graph.constants:
            return f"{short(name)!r} is computed at run time, the kernel needs a constant"
    return None


def _overflow(node: Node, graph: Graph, axis: int) -> str | None:
    """Refusal if these weights and this bias can make a larger sum from the data than the
    accumulator may hold."""
    # Sums of magnitudes, because each kernel adds in an order of its own: no partial sum is larger.
    limit = _SUM_LIMITS[graph.types[node.inputs[0]].dtype]
    worst = int(largest_sums(node, graph, axis).sum(axis=0).max())
    if worst <= limit:
        return None
    return f"sums with its weights and bias may reach {worst}, the kernel's accumulator {limit}"


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


def fields_of(parameters: DataclassInstance) -> Fields:
    """A dataclass of parameters as fields of the same names, in the same order."""
    return tuple(dataclasses.asdict(parameters).items())


def offsets(data: ArrayType, output: ArrayType) -> Fields:
    """The zero points as kernels use them: added to the input, added to the output."""
    return (("input_offset", -data.zero_point), ("output_offset", output.zero))


def weights_and_tables(node: Node, graph: Graph, rule: Rule, channels: int) -> Tables:
    """int8 weight, bias or NULL, and the requantization tables, each of ``channels`` entries. The
    bias is int64 for int16 data, int32 for int8 data."""
    rule = _RULES.get(getattr(node.attrs, "rounding", None), rule)
    scales = scale_arguments(node, graph, rule, channels)
    weight = node.inputs[1]
    return Tables(
        *weight_and_bias(node, graph),
        KernelConstant("multiplier", "int32_t", weight, "scale", "requantize_multiplier", scales),
        KernelConstant("shift", "int8_t", weight, "scale", "requantize_shift", scales),
    )


def weights_and_real_scales(node: Node, graph: Graph, channels: int) -> tuple[KernelConstant, ...]:
    """As ``weights_and_tables``, for scales that are rounded REAL."""
    scales = scale_arguments(node, graph, "conv", channels)
    weight = node.inputs[1]
    return (
        *weight_and_bias(node, graph),
        KernelConstant("significand", "int64_t", weight, "scale", "real_significand", scales),
        KernelConstant("shift", "int8_t", weight, "scale", "real_shift", scales),
    )


def scale_arguments(node: Node, graph: Graph, rule: Rule, channels: int) -> Arguments:
    """The arguments of the transform ``requantize_multiplier``."""
    inputs, output = types(node, graph)
    return (
        ("input_scale", inputs[0].scale),
        ("output_scale", output.scale),
        ("rule", rule),
        ("channels", channels),
    )


def weight_and_bias(node: Node, graph: Graph) -> tuple[KernelConstant, KernelConstant]:
    """int8 weight, bias or NULL."""
    weight = KernelConstant("weight", "int8_t", node.inputs[1])
    return weight, _bias(node, graph.types[node.outputs[0]].dtype)


def _bias(node: Node, dtype: DType) -> KernelConstant:
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    if dtype is DType.INT16:
        return KernelConstant("bias", "int64_t", bias, transform="widen")
    return KernelConstant("bias", "int32_t", bias)


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
