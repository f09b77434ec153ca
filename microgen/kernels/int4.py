"""Entries of the kernels for int8 data and weights that the model stores in 4 bits.

The constant is two weights to a byte. The kernels unpack it, and are otherwise like those for int8
weights."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, blocks
from microgen.target.cpu import Feature

Scratch = Callable[[Node, Graph], int]


def one_filter(node: Node, graph: Graph) -> int:
    """Scratch for the weights of one output channel, in bytes."""
    return math.prod(graph.types[node.inputs[1]].shape[1:])


def four_filters(node: Node, graph: Graph) -> int:
    """Scratch for the weights of four output channels, or of all if there are fewer."""
    return min(4, graph.types[node.inputs[1]].shape[0]) * one_filter(node, graph)


def all_weights(node: Node, graph: Graph) -> int:
    """Scratch for all weights, in bytes."""
    return graph.types[node.inputs[1]].size


def no_scratch(_node: Node, _graph: Graph) -> int:
    """No scratch: the kernel unpacks weights as it multiplies them."""
    return 0


def entry(
    symbol: str,
    refusal: base.Refuse,
    params: base.Params,
    constants: blocks.Constants,
    *,
    scratch: Scratch = no_scratch,
    needs: frozenset[Feature] = base.REFERENCE,
    family: str = "",
) -> base.Kernel:
    """A kernel that takes what ``refusal`` lets pass. The first of ``constants`` is the weight."""

    def refused(node: Node, graph: Graph) -> str | None:
        if node.inputs[1] not in graph.int4:
            return base.OtherKind("its weights are not int4")
        return refusal(node, graph)

    def packed(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        weight, *others = constants(node, graph)
        weight = dataclasses.replace(weight, ctype="uint8_t", transform="pack_int4")
        return (weight, *others)

    return base.Kernel(
        symbol=symbol,
        needs=needs,
        refusal=refused,
        params=params,
        constants=packed,
        scratch=scratch,
        family=family,
        takes_int4=True,
    )


def variants(
    symbol: str,
    refusal: base.Refuse,
    params: base.Params,
    constants: blocks.Constants,
    *,
    scratch: Scratch = no_scratch,
) -> tuple[base.Kernel, base.Kernel]:
    """``<symbol>_dsp`` and ``<symbol>_portable``, in one header."""
    family = f"{symbol}_blocks".removeprefix("mg_")
    kinds = (("dsp", blocks.DSP), ("portable", base.REFERENCE))
    dsp, portable = (
        entry(
            f"{symbol}_{kind}",
            refusal,
            params,
            constants,
            scratch=scratch,
            needs=needs,
            family=family,
        )
        for kind, needs in kinds
    )
    return dsp, portable
