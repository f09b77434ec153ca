"""Shared by the float32 kernels that compute blocks of pixels and channels, for cores with an FPU
or with vectors of floats."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, DType, Graph, Node
from microgen.kernels import base, weights, window
from microgen.kernels.constant import WeightLayout
from microgen.kernels.float_work import SEPARATE, TILE, WIDE
from microgen.kernels.requantization.transforms import Arguments, Function
from microgen.kernels.work import Work

# How products are added, by the end of the kernel's name: microgen/blocks/blocks_f32.h describes
# it.
FUSED = {"fma": "MG_FUSED_F32", "mla": "MG_SEPARATE_F32"}

Count = Callable[[Node, Graph], Work]


def separately(work: Callable[[Node, Graph, int], Work]) -> Count:
    """The work with tiles of the pixels that they have if products are rounded before the
    addition."""
    return lambda node, graph: work(node, graph, SEPARATE)


PLAIN = WeightLayout(ctype="float")
BLOCKS = WeightLayout("float_blocks", "float")
WIDE_BLOCKS = WeightLayout("float_blocks", "float", lambda *_: (("wide", WIDE),))


def kernels(
    stem: str,
    refusal: base.Refuse,
    params: base.Params,
    work: Count,
    separate: Count | None = None,
) -> Iterator[base.Implementation]:
    """The kernels that the header ``<stem>_blocks.h`` has. ``separate`` is the work of the one that
    rounds products before the addition, if its tiles differ."""
    works = {"fma": work, "mla": separate or work}
    for name, constant in FUSED.items():
        yield base.Implementation(
            symbol=f"mg_{stem}_{name}",
            family=f"{stem}_blocks",
            variant=(constant,),
            needs=base.FPU,
            refusal=refusal,
            params=params,
            inputs=base.DATA_WEIGHT_BIAS,
            ulps=window.FLOAT_ULPS,
            work=works[name],
        )


def vectors(
    stem: str, refusal: base.Refuse, params: base.Params, work: Count, layout: WeightLayout
) -> base.Implementation:
    """The kernel for MVE that the header ``<stem>_mve.h`` has."""

    def refuses(node: Node, graph: Graph) -> str | None:
        return weights.constant_float_weights(node, graph) or refusal(node, graph)

    def constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        weight, bias = weights.weight_and_bias(node, graph)
        return layout.of(weight, node, graph), dataclasses.replace(bias, ctype="float")

    return base.Implementation(
        symbol=f"mg_{stem}_mve",
        needs=base.MVE_FLOAT,
        refusal=refuses,
        params=params,
        constants=constants,
        ulps=window.FLOAT_ULPS,
        work=work,
    )


def both(
    stem: str,
    params: base.Params,
    work: Count,
    layout: WeightLayout,
    separate: Count | None = None,
) -> tuple[base.Implementation, ...]:
    """The kernels of both headers for ops in one group: MVE takes any number of channels."""
    return (
        vectors(stem, base.only(DType.FLOAT32), params, work, layout),
        *kernels(stem, refuses, params, work, separate),
    )


def refuses(node: Node, graph: Graph) -> str | None:
    """Refusal unless four channels can be computed together from the same values."""
    why = base.only(DType.FLOAT32)(node, graph)
    return why or few(graph.types[node.outputs[0]].shape[-1])


def few(channels: int) -> str | None:
    """Refusal of fewer channels than a block has."""
    if channels >= TILE:
        return None
    return f"{channels} channels are computed from the same values, the kernel takes {TILE}"


def _in_blocks(sources: Sequence[Array], arguments: Arguments) -> Array:
    (weight,) = sources
    if set(arguments) - {"wide"} or weight.dtype != np.float32:
        raise TypeError("float32 weights are laid out in blocks")
    wide = int(arguments.get("wide", TILE))
    filters = weight.reshape(len(weight), -1)
    whole = len(filters) - len(filters) % wide
    return np.concatenate([_laid_out(filters[:whole], wide), _laid_out(filters[whole:], TILE)])


def _laid_out(filters: Array, block: int) -> Array:
    """Filters [n, weights] as [blocks of filters, weights, block], flat."""
    # Outputs of filters that the last block lacks are computed, but not stored.
    padded = np.pad(filters, ((0, -len(filters) % block), (0, 0)))
    return padded.reshape(-1, block, filters.shape[1]).transpose(0, 2, 1).reshape(-1)


# float_blocks: float32 weights [filters, ...] as [blocks of four filters, weights of a filter, 4],
# flat; filters that the last block lacks have weights of 0. With ``wide``, as many filters as
# possible are in blocks of ``wide`` instead.
TRANSFORMS: Mapping[str, Function] = {"float_blocks": _in_blocks}
