"""The int8 kernels with weights: core loops times requantizations.

A loop computes sums; a requantization makes outputs of them. The C of a loop is a body, which gets
the requantization as a constant of ``crt/include/microgen/requantization/scaling_s8.h``.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from microgen.graph.arithmetic import high
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.requantization import by_fpu, linear, linear_vector, narrow, paired
from microgen.kernels.work import Work, work
from microgen.target.cpu import Feature

Constants = Callable[[Node, Graph], tuple[base.KernelConstant, ...]]
Adapt = Callable[[tuple[base.KernelConstant, ...], Node, Graph], tuple[base.KernelConstant, ...]]
Layout = Callable[[base.KernelConstant, Node, Graph], base.KernelConstant]


class Form(enum.Enum):
    """What a requantization computes with."""

    SPECIFIED = "specified"  # the multipliers and shifts of the specification
    NARROW = "narrow"  # those of ``narrow``
    FLOAT = "float32"  # the scales as float32, of ``by_fpu``
    HIGH_FLOAT = "high float32"  # the same for loops with paired weights
    LINEAR = "linear"  # those of ``linear``
    HIGH = "high"  # those of ``paired``, for loops with paired weights
    LINEAR_VECTOR = "linear vector"  # those of ``linear_vector``
    NONE = "none"  # nothing: outputs are the sums


@dataclass(frozen=True, slots=True)
class Requantization:
    """A way of making outputs of sums.

    ``name`` is its part of a symbol, ``constant`` its name in C. It computes nodes with one of
    ``roundings``; those with none of them have int32 outputs. Unless it ``has_clamp``, outputs are
    not clamped. ``shift`` is that of ``Form.HIGH``. Kernels with it that were not measured cost as
    much as those with ``like``, and what the table of costs adds. It ``needs`` that of the CPU.
    ``cores`` are those of ``base.Implementation``.
    """

    name: str
    constant: str
    roundings: tuple[Rounding, ...]
    form: Form = Form.SPECIFIED
    has_clamp: bool = True
    shift: int = high.SHIFT
    like: Requantization | None = None
    needs: frozenset[Feature] = base.REFERENCE
    cores: tuple[str, ...] = ()

    @property
    def output(self) -> DType | None:
        """The outputs' dtype if it is not the data's."""
        return None if self.roundings else DType.INT32

    def refusal(self, node: Node, graph: Graph, layer: Layer, is_raw: bool) -> str | None:
        """Why the scales or sums of a node with its rounding are not for it. ``is_raw`` is the
        loop's."""
        if self.form is Form.LINEAR:
            return linear.refusal(node, graph, layer.constants, layer.axis, is_raw)
        if self.form is Form.HIGH:
            raw = linear.tables(layer.constants, layer.axis, is_raw)
            return paired.high_refusal(node, graph, raw, self.shift, self.has_clamp)
        if self.form is Form.LINEAR_VECTOR:
            return linear_vector.refusal(node, graph, layer.constants, layer.axis, is_raw)
        if self.form is Form.FLOAT:
            return by_fpu.refusal(node, graph, layer.axis)
        if self.form is Form.HIGH_FLOAT:
            raw = _folded(layer.constants, layer.axis)
            refusal = paired.float_refusal(node, graph, raw, self.has_clamp)
            return refusal or by_fpu.refusal(node, graph, layer.axis)
        return narrow.refusal(node, graph, layer.axis) if self.form is Form.NARROW else None

    def tables(self, layer: Layer, is_raw: bool) -> Constants:
        """The kernel's constants, made of the layer's weight, bias, multiplier and shift."""
        if self.form in (Form.LINEAR, Form.HIGH):
            made = linear.tables(layer.constants, layer.axis, is_raw)
            return paired.high_tables(made, self.shift) if self.form is Form.HIGH else made
        if self.form is Form.LINEAR_VECTOR:
            return linear_vector.tables(layer.constants, layer.axis, is_raw)
        if self.form is Form.HIGH_FLOAT:
            return paired.float_tables(_folded(layer.constants, layer.axis))
        constants = layer.constants if self.roundings else _without_scales
        constants = narrow.tables(constants) if self.form is Form.NARROW else constants
        constants = by_fpu.tables(constants) if self.form is Form.FLOAT else constants
        return _folded(constants, layer.axis) if is_raw else constants


_TWICE, _UPWARD = (Rounding.DOUBLE, Rounding.PRODUCT), (Rounding.UPWARD,)
_NEAREST = (Rounding.SINGLE, Rounding.NEAREST)
TWICE = Requantization("twice", "MG_ROUND_TWICE", _TWICE)
NEAREST = Requantization("nearest", "MG_ROUND_NEAREST", _NEAREST, like=TWICE)
UPWARD = Requantization("upward", "MG_ROUND_UPWARD", _UPWARD, like=TWICE)
TWICE_NARROW = Requantization("twice", "MG_ROUND_TWICE_NARROW", _TWICE, Form.NARROW)
UPWARD_NARROW = dataclasses.replace(UPWARD, constant="MG_ROUND_UPWARD_NARROW", form=Form.NARROW)
FLOAT = Requantization(
    *("float", "MG_ROUND_FLOAT", (Rounding.FLOAT,)), like=TWICE, cores=base.FLOAT_CORES
)
_PROVEN = (*_TWICE, *_NEAREST, *_UPWARD, *FLOAT.roundings)
FLOAT_NARROW = dataclasses.replace(FLOAT, constant="MG_ROUND_FLOAT_NARROW", form=Form.NARROW)
FLOAT_FPU = Requantization(
    *("fpu", "MG_ROUND_FLOAT_FPU", FLOAT.roundings, Form.FLOAT), like=TWICE, needs=base.FPU
)
FLOATS = (FLOAT_FPU, FLOAT_NARROW)
FLOAT_MVE = dataclasses.replace(FLOAT_FPU, like=TWICE_NARROW, needs=base.MVE_FLOAT)
_HIGH_FPU = dataclasses.replace(
    FLOAT_FPU, constant="MG_HIGH_FPU", form=Form.HIGH_FLOAT, has_clamp=False, like=TWICE_NARROW
)
_HIGH_FPU_CLAMPED = dataclasses.replace(
    _HIGH_FPU, name="fpu_clamped", constant="MG_HIGH_FPU_CLAMPED", has_clamp=True
)
HIGH_FLOATS = (_HIGH_FPU, _HIGH_FPU_CLAMPED, FLOAT_NARROW)
LINEAR = Requantization("linear", "MG_LINEAR", _PROVEN, Form.LINEAR)
_HIGH = Requantization("high", "MG_HIGH", LINEAR.roundings, Form.HIGH, has_clamp=False)
_CLAMPED = Requantization("clamped", "MG_HIGH_CLAMPED", LINEAR.roundings, Form.HIGH)
HIGH = (_HIGH, _CLAMPED)
HIGH_WIDE = tuple(
    dataclasses.replace(one, constant=constant, shift=high.WIDE_SHIFT)
    for one, constant in zip(HIGH, ("MG_HIGH_WIDE", "MG_HIGH_WIDE_CLAMPED"), strict=True)
)
LINEAR_VECTOR = dataclasses.replace(LINEAR, constant="MG_LINEAR_VECTOR", form=Form.LINEAR_VECTOR)
SUMS = Requantization("s32", "MG_SUMS", (), Form.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A way of computing sums.

    ``stem`` and ``suffix`` are the first and the last part of its kernels' symbols. ``family`` is
    its header if that is not the stem's. ``variant`` are the constants that its body takes before
    the requantization. ``is_fixed``: its body takes none, because it has one requantization.
    ``refusal`` has its own requirements; ``wraps``, ``has_offset`` and ``takes_int4`` are those of
    ``base.constant_weights`` and ``base.Implementation``.
    ``is_raw``: it sums products of data and weights without the data's zero point, which the bias
    or the offset then contains. ``layout`` is how it wants the weight, if not as in the model.
    ``adapt`` changes all constants of a raw loop. ``compact``, ``scratch``, ``stack``,
    ``in_place`` and ``work`` are those of ``base.Implementation``; so are ``core_parts``, and
    ``cores``, where ``{}`` is the requantization's name.
    """

    stem: str
    suffix: str = ""
    family: str = ""
    variant: tuple[str, ...] = ()
    compact: bool = False
    is_fixed: bool = False
    needs: frozenset[Feature] = base.REFERENCE
    refusal: base.Refuse = base.any_node
    scratch: Callable[[Node, Graph], int] = base.no_scratch
    stack: int = 0
    wraps: bool = False
    has_offset: bool = False
    takes_int4: bool = False
    is_raw: bool = False
    layout: Layout | None = None
    adapt: Adapt | None = None
    in_place: base.InPlace = base.not_in_place
    cores: tuple[str, ...] = ()
    core_parts: tuple[str, ...] = ()
    work: Callable[[Node, Graph], Work] = work

    def refuses(self, node: Node, graph: Graph, requantization: Requantization) -> str | None:
        """Why it is for other dtypes, weights or roundings, or does not take the node's shape."""
        if self.takes_int4 and node.inputs[1] not in graph.int4:
            return base.Mismatch(base.Trait.WEIGHTS, "its weights are not int4")
        of = (DType.INT8, requantization.output, requantization.roundings, self.has_offset)
        return base.mismatch(node, graph, *of) or self.refusal(node, graph)


def blocks(loop: Loop) -> tuple[Loop, Loop]:
    """The loop with the DSP extension and in plain C, which ``<stem>_blocks.h`` has."""
    shared = dataclasses.replace(loop, family=f"{loop.stem}_blocks")
    return (
        dataclasses.replace(shared, suffix="dsp", variant=("MG_DSP",), needs=base.DSP),
        dataclasses.replace(shared, suffix="portable", variant=("MG_PORTABLE",)),
    )


def vectors(loop: Loop) -> Loop:
    """The loop for MVE, which ``<stem>_mve.h`` has."""
    return dataclasses.replace(loop, family=f"{loop.stem}_mve", suffix="mve", needs=base.MVE)


def in_floats(loop: Loop) -> Loop:
    """The loop of vectors for ``FLOAT_MVE``, whose functions out of line are others."""
    return dataclasses.replace(loop, cores=tuple(f"{core}_float" for core in loop.cores))


def on_stack(loop: Loop, limit: int, contents: str) -> Loop:
    """The loop without scratch memory: it keeps its ``contents`` on the stack instead, which has
    room for ``limit`` bytes of them. Its names are still the loop's."""

    def refusal(node: Node, graph: Graph) -> str | None:
        needed = loop.scratch(node, graph)
        if needed > limit:
            return f"its {contents} need {needed} bytes, the kernel has {limit} bytes of stack"
        return loop.refusal(node, graph)

    return dataclasses.replace(loop, refusal=refusal, scratch=base.no_scratch, stack=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What the kernels of an op share.

    ``axis`` is the weight's axis of output channels. ``constants`` are weight, bias, multiplier and
    shift. ``usual``: kernels with this requantization do not have its name in their symbols.
    """

    axis: int
    params: base.Params
    constants: Constants
    usual: str = "twice"

    def kernels(
        self, loops: Sequence[Loop], requantizations: Sequence[Requantization]
    ) -> Iterator[base.Implementation]:
        """A kernel for each of the loops with each of the requantizations."""
        for loop in loops:
            yield from (self._kernel(loop, one) for one in requantizations)

    def _kernel(self, loop: Loop, requantization: Requantization) -> base.Implementation:
        def refusal(node: Node, graph: Graph) -> str | None:
            wraps = loop.wraps or requantization.output is not None
            return (
                loop.refuses(node, graph, requantization)
                or base.overflow(node, graph, self.axis, wraps)
                or requantization.refusal(node, graph, self, loop.is_raw)
            )

        named = "" if requantization.name == self.usual else requantization.name
        tables = requantization.tables(self, loop.is_raw)
        return base.Implementation(
            symbol="_".join(filter(None, ("mg", loop.stem, named, loop.suffix))),
            needs=loop.needs | requantization.needs,
            refusal=refusal,
            params=self.params,
            constants=_adapted(
                _laid_out(tables, _packed if loop.takes_int4 else loop.layout), loop.adapt
            ),
            scratch=loop.scratch,
            stack=loop.stack,
            in_place=loop.in_place,
            work=loop.work,
            cores=(
                *(core.format(requantization.name) for core in loop.cores),
                *requantization.cores,
            ),
            core_parts=loop.core_parts,
            family=loop.family or loop.stem,
            compact=loop.compact,
            variant=() if loop.is_fixed else (*loop.variant, requantization.constant),
            loop="_".join(filter(None, ("mg", loop.stem, loop.suffix))),
            takes_int4=loop.takes_int4,
            measured_as=self._kernel(loop, requantization.like) if requantization.like else None,
        )


def _without_scales(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    scales = (("multiplier", "int32_t"), ("shift", "int8_t"))
    return (*base.weight_and_bias(node, graph), *(base.KernelConstant(*scale) for scale in scales))


def _folded(constants: Constants, axis: int) -> Constants:
    """The same constants with the data's zero point in the bias."""

    def changed(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        weight, bias, *scales = constants(node, graph)
        limits = dict(bias.arguments) or {"low": -(2**31), "high": 2**31 - 1}
        zero = graph.types[node.inputs[0]].zero_point
        folded = base.KernelConstant(
            "bias",
            "int32_t",
            weight.tensor,
            transform="fold_zero",
            arguments=(("axis", axis), ("zero", zero), *limits.items()),
            more=() if bias.is_absent else ((bias.tensor, "data"),),
        )
        return (weight, folded, *scales)

    return changed


def _laid_out(constants: Constants, layout: Layout | None) -> Constants:
    """The same constants with another layout of the weight."""
    if layout is None:
        return constants

    def changed(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        weight, *others = constants(node, graph)
        return (layout(weight, node, graph), *others)

    return changed


def _adapted(constants: Constants, adapt: Adapt | None) -> Constants:
    """The same constants as a loop wants them."""
    if adapt is None:
        return constants
    return lambda node, graph: adapt(constants(node, graph), node, graph)


def _packed(weight: base.KernelConstant, _node: Node, _graph: Graph) -> base.KernelConstant:
    """Two weights to a byte."""
    return dataclasses.replace(weight, ctype="uint8_t", transform="pack_int4")
