"""The int8 kernels with weights: core loops times requantizations.

A loop computes sums; a requantization makes outputs of them. The C of a loop is a body, which gets
the requantization as a constant of ``crt/include/microgen/requantization/scaling_s8.h``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from microgen.graph.arithmetic import high
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base, by_shape, weights
from microgen.kernels.constant import AS_IS, KernelConstant, Tables, WeightLayout
from microgen.kernels.identity import known_of
from microgen.kernels.requantization import by_fpu, linear, mixed, narrow, paired
from microgen.kernels.requantization.recipe import (
    CENTRED,
    SPECIFIED,
    OutputScales,
    Recipe,
    WeightedSums,
)
from microgen.kernels.work import Work, work
from microgen.target.cpu import Feature

_PACKED = WeightLayout("pack_int4", "uint8_t")  # two weights to a byte


def _no_scales(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    weight, bias = weights.weight_and_bias(node, graph)
    multiplier, shift = KernelConstant("multiplier", "int32_t"), KernelConstant("shift", "int8_t")
    return recipe.folded(Tables(weight, bias, multiplier, shift), node, graph)


@dataclass(frozen=True, slots=True)
class Requantization:
    """A way of making outputs of sums."""

    name: str  # part of a symbol
    constant: str  # its name in C
    # It computes nodes with one of these; without any, outputs are int32.
    roundings: tuple[Rounding, ...]
    scales: OutputScales = SPECIFIED
    # Kernels that were not measured cost as much as kernels with this requantization, plus the
    # amounts that the table of costs adds.
    like: Requantization | None = None
    needs: frozenset[Feature] = base.REFERENCE  # of the CPU
    cores: tuple[str, ...] = ()  # as of ``base.Implementation``

    @property
    def output(self) -> DType | None:
        """The outputs' dtype if it is not the data's."""
        return None if self.roundings else DType.INT32


_TWICE, _UPWARD = (Rounding.DOUBLE, Rounding.PRODUCT), (Rounding.UPWARD,)
_NEAREST = (Rounding.SINGLE, Rounding.NEAREST)
TWICE = Requantization("twice", "MG_ROUND_TWICE", _TWICE)
NEAREST = Requantization("nearest", "MG_ROUND_NEAREST", _NEAREST, like=TWICE)
UPWARD = Requantization("upward", "MG_ROUND_UPWARD", _UPWARD, like=TWICE)
TWICE_NARROW = Requantization("twice", "MG_ROUND_TWICE_NARROW", _TWICE, narrow.NARROW)
UPWARD_NARROW = dataclasses.replace(
    UPWARD,
    constant="MG_ROUND_UPWARD_NARROW",
    roundings=(*_UPWARD, *_NEAREST),
    scales=narrow.UPWARD,
)
FLOAT = Requantization(
    *("float", "MG_ROUND_FLOAT", (Rounding.FLOAT,)), like=TWICE, cores=base.FLOAT_CORES
)
_PROVEN = (*_TWICE, *_NEAREST, *_UPWARD, *FLOAT.roundings)
FLOAT_NARROW = dataclasses.replace(FLOAT, constant="MG_ROUND_FLOAT_NARROW", scales=narrow.NARROW)
FLOAT_FPU = Requantization(
    *("fpu", "MG_ROUND_FLOAT_FPU", FLOAT.roundings, by_fpu.FLOAT), like=TWICE, needs=base.FPU
)
FLOATS = (FLOAT_FPU, FLOAT_NARROW)
FLOAT_MVE = dataclasses.replace(FLOAT_FPU, like=TWICE_NARROW, needs=base.MVE_FLOAT)
_HIGH_FPU = dataclasses.replace(
    FLOAT_FPU,
    constant="MG_HIGH_FPU",
    scales=paired.float_scales(has_clamp=False),
    like=TWICE_NARROW,
)
_HIGH_FPU_CLAMPED = dataclasses.replace(
    _HIGH_FPU,
    name="fpu_clamped",
    constant="MG_HIGH_FPU_CLAMPED",
    scales=paired.float_scales(has_clamp=True),
)
HIGH_FLOATS = (_HIGH_FPU, _HIGH_FPU_CLAMPED, FLOAT_NARROW)
LINEAR = Requantization("linear", "MG_LINEAR", _PROVEN, linear.LINEAR)


def _high(infix: str, shift: int) -> tuple[Requantization, Requantization]:
    """The requantizations by one product, without and with a clamp."""
    without_clamp, clamped = (paired.high_scales(shift, has_clamp=has) for has in (False, True))
    return (
        Requantization("high", f"MG_HIGH{infix}", _PROVEN, without_clamp),
        Requantization("clamped", f"MG_HIGH{infix}_CLAMPED", _PROVEN, clamped),
    )


HIGH, HIGH_WIDE = _high("", high.SHIFT), _high("_WIDE", high.WIDE_SHIFT)
_SPECIFIED = (*_TWICE, *_NEAREST, *_UPWARD)
LINEAR_MIXED = Requantization("mixed", "MG_LINEAR_MIXED", _SPECIFIED, mixed.PLAIN)
HIGH_MIXED = tuple(
    Requantization(name, constant, _SPECIFIED, mixed.paired_scales(has_clamp))
    for name, constant, has_clamp in (
        ("mixed", "MG_HIGH_MIXED", False),
        ("mixed_clamped", "MG_HIGH_MIXED_CLAMPED", True),
    )
)
LINEAR_VECTOR = dataclasses.replace(
    LINEAR, constant="MG_LINEAR_VECTOR", scales=linear.LINEAR_VECTOR
)
SUMS = Requantization("s32", "MG_SUMS", (), OutputScales(_no_scales))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A way of computing sums.

    ``compact``, ``scratch``, ``stack``, ``in_place`` and ``work`` are as in
    ``base.Implementation``, ``wraps`` and ``has_offset`` as in ``weights.constant_weights``, and
    ``sums`` and ``layout`` as in ``Recipe``.
    """

    stem: str  # the first part of its kernels' symbols
    suffix: str = ""  # their last part
    family: str = ""  # its header, if that is not the stem's
    variant: tuple[str, ...] = ()  # constants that its body takes before the requantization
    compact: bool = False
    is_fixed: bool = False  # its body takes no constant, because it has one requantization
    needs: frozenset[Feature] = base.REFERENCE
    refusal: base.Refuse = base.any_node  # its own requirements
    scratch: Callable[[Node, Graph], int] = base.no_scratch
    stack: int = 0
    wraps: bool = False
    has_offset: bool = False
    takes_int4: bool = False
    sums: WeightedSums = CENTRED
    layout: WeightLayout = AS_IS
    in_place: base.InPlace = base.not_in_place
    cores: tuple[str, ...] = ()  # ``{}`` is the requantization's name
    core_parts: tuple[str, ...] = ()
    work: Callable[[Node, Graph], Work] = work

    def refuses(self, node: Node, graph: Graph, requantization: Requantization) -> str | None:
        """The reason why the loop does not suit the node's dtypes, weights, rounding or shape."""
        if self.takes_int4 and node.inputs[1] not in graph.int4:
            return base.Mismatch(base.Trait.WEIGHTS, "its weights are not int4")
        known, key = known_of(node, graph), (id(requantization), self.has_offset)
        if key not in known:
            of = (DType.INT8, requantization.output, requantization.roundings, self.has_offset)
            # The requantization is kept, because another one could get its id.
            known[key] = requantization, weights.mismatch(node, graph, *of)
        why: str | None = known[key][1]
        if why:
            return why
        # All requantizations of the loop have its own requirements.
        if id(self) not in known:
            known[id(self)] = self, self.refusal(node, graph)
        own: str | None = known[id(self)][1]
        return own


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


def own_header(loop: Loop) -> Loop:
    """The loop, which ``<stem>_<suffix>.h`` has."""
    return dataclasses.replace(loop, family=f"{loop.stem}_{loop.suffix}")


def dsp(loop: Loop) -> Loop:
    """The loop for the DSP extension, which has a header of its own."""
    return dataclasses.replace(own_header(loop), needs=base.DSP)


def in_floats(loop: Loop) -> Loop:
    """The loop of vectors for ``FLOAT_MVE``, which has other out-of-line functions."""
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


def _remembering(loop: Loop) -> Loop:
    """The loop, which counts its memory and its work once for all nodes of one shape."""
    return dataclasses.replace(
        loop,
        scratch=by_shape.remembered(loop.scratch),
        in_place=by_shape.remembered(loop.in_place),
        work=by_shape.remembered(loop.work),
    )


def _cores(loop: Loop, requantization: Requantization) -> tuple[str, ...]:
    own = (core.format(requantization.name) for core in loop.cores)
    return (*own, *requantization.cores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The common parts of the kernels of an op."""

    axis: int  # as of their ``Recipe``
    params: base.Params
    constants: Callable[[Node, Graph], Tables]  # ``specified`` of their ``Recipe``
    usual: str = "twice"  # kernels with this requantization do not have its name in their symbols

    def kernels(
        self, loops: Sequence[Loop], requantizations: Sequence[Requantization]
    ) -> Iterator[base.Implementation]:
        """A kernel for each combination of a loop and a requantization."""
        for loop in map(_remembering, loops):
            yield from (self._kernel(loop, one) for one in requantizations)

    def _kernel(self, loop: Loop, requantization: Requantization) -> base.Implementation:
        recipe = Recipe(
            axis=self.axis,
            specified=self.constants,
            sums=loop.sums,
            scales=requantization.scales,
            layout=_PACKED if loop.takes_int4 else loop.layout,
        )

        form = functools.partial(loop.refuses, requantization=requantization)

        def refusal(node: Node, graph: Graph) -> str | None:
            wraps = loop.wraps or requantization.output is not None
            return (
                form(node, graph)
                or weights.overflow(node, graph, self.axis, wraps)
                or recipe.refusal(node, graph)
            )

        named = "" if requantization.name == self.usual else requantization.name
        return base.Implementation(
            symbol="_".join(filter(None, ("mg", loop.stem, named, loop.suffix))),
            needs=loop.needs | requantization.needs,
            refusal=refusal,
            form=form,
            params=self.params,
            constants=recipe.constants,
            scratch=loop.scratch,
            stack=loop.stack,
            in_place=loop.in_place,
            work=loop.work,
            cores=_cores(loop, requantization),
            core_parts=loop.core_parts,
            family=loop.family or loop.stem,
            compact=loop.compact,
            variant=() if loop.is_fixed else (*loop.variant, requantization.constant),
            loop="_".join(filter(None, ("mg", loop.stem, loop.suffix))),
            takes_int4=loop.takes_int4,
            measured_as=self._kernel(loop, requantization.like) if requantization.like else None,
        )
