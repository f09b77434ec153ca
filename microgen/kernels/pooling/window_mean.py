"""Kernels of int8 means over windows, whose division is a multiplication that a proof compares with
the reference for every sum that a window can have (``microgen/graph/arithmetic/affine.py``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from microgen.graph.arithmetic import in_float32 as arithmetic
from microgen.graph.arithmetic.affine import Affine, affine_value
from microgen.graph.arithmetic.int8 import activation_range, quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.geometry import explicit
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.kernels import base
from microgen.kernels.elementwise import in_float32
from microgen.kernels.identity import KEPT
from microgen.kernels.reductions import reduction
from microgen.kernels.requantization import proven, transforms
from microgen.kernels.work import Work
from microgen.target.cpu import Feature

_KIND = "affine_mean"
MOST = 256  # values of a window: their sum fits int16
_SLICE = 2**20  # values of windows that are computed at a time


@dataclass(frozen=True, slots=True)
class _Mean:
    """The mean of ``count`` values. For nn.avg_pool2d, both quantizations are the same, unless sums
    are scaled in float32."""

    op: str
    count: int
    ties_upward: bool
    in_float32: bool
    activation: Activation
    data: Quant
    output: Quant

    @property
    def first(self) -> int:
        """The least sum."""
        return -128 * self.count

    def results(self) -> Array:
        """The reference's results for all sums, from the least one on: int8 [255 * count + 1]."""
        sums = np.arange(self.first, 127 * self.count + 1)
        # All windows at once would take 255 * count**2 bytes and more.
        parts = np.array_split(sums, len(sums) * self.count // _SLICE + 1)
        return np.concatenate([self._of(part) for part in parts])

    def _of(self, sums: Array) -> Array:
        each, left = np.divmod(sums, self.count)
        # Any values with this sum have the same mean: here they differ by at most 1.
        values = each[:, None] + (np.arange(self.count) < left[:, None])
        shape = (len(sums), 1, self.count, 1)
        data = ArrayType(shape, DType.INT8, self.data)
        output = ArrayType((len(sums), 1, 1, 1), DType.INT8, self.output)
        operands = Operands((values.astype(np.int8).reshape(shape),), (data,), (output,))
        (means,) = registry()[self.op].reference(self._attrs(), operands)
        flat: Array = means.reshape(-1)
        return flat

    def _attrs(self) -> AvgPool2DAttrs | MeanAttrs:
        if self.op == "mean":
            return MeanAttrs((1, 2), True, self.in_float32)
        rounding = self.ties_upward, self.in_float32
        return AvgPool2DAttrs((1, self.count), (1, 1), "VALID", self.activation, *rounding)

    @property
    def slope(self) -> float:
        """The approximate step of the result for a step of the sum."""
        scales = (float(np.float32(quant.scale[0])) for quant in (self.data, self.output))
        over, by = scales
        is_scaled = self.op == "mean" or self.in_float32
        return over / by / self.count if is_scaled and by else 1 / self.count


@lru_cache(KEPT)
def _proven(of: _Mean) -> Affine | None:
    limits = activation_range(of.activation, of.output, DType.INT8)
    return affine_value(of.results(), of.first, of.slope, *limits)


def mean_of(node: Node, graph: Graph) -> _Mean:
    """What decides the results for all sums of a node's windows."""
    (data,), output = base.types(node, graph)
    assert data.quant is not None
    assert output.quant is not None
    attrs = node.attrs
    if isinstance(attrs, AvgPool2DAttrs):
        count = attrs.pool_size[0] * attrs.pool_size[1]
        quants = (data.quant if attrs.in_float32 else output.quant, output.quant)
        rounding = attrs.ties_upward, attrs.in_float32
        return _Mean(node.op, count, *rounding, attrs.activation, *quants)
    assert isinstance(attrs, MeanAttrs)
    count = reduction.alternating(node, graph)[1]
    if attrs.rows:
        count = attrs.rows * data.shape[2]
    rounding = False, attrs.in_float32
    return _Mean(node.op, count, *rounding, Activation.NONE, data.quant, output.quant)


def affine_of(node: Node, graph: Graph) -> Affine:
    """The multiplication that was proven for a node."""
    affine = _proven(mean_of(node, graph))
    assert affine, "the kernel was not refused"
    return affine


def _refusal(node: Node, graph: Graph) -> str | None:
    refusal = base.only(DType.INT8)(node, graph) or shape_refusal(node, graph)
    if refusal:
        return refusal
    return value_refusal(node, graph)


def whole(of: base.Implementation) -> base.Implementation:
    """The kernel, which refuses an input with only some rows of a window: only ``ROWS`` keeps their
    sums."""

    def refusal(node: Node, graph: Graph) -> str | None:
        why = of.refusal(node, graph)
        if why is None and is_part(node, graph):
            return "the input has not all rows of a window"
        return why

    return dataclasses.replace(of, refusal=refusal)


def value_refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless a multiplication is exact for all sums, which fit int16."""
    of = mean_of(node, graph)
    # This is first, because the proof computes a mean for every sum.
    if of.count > MOST:
        return f"a window has {of.count} values, the kernel adds up to {MOST}"
    if _proven(of) is None:
        return "no multiplication was found that is exact for all sums"
    return None


def shape_refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless each output has one window, which is inside the input."""
    if isinstance(node.attrs, AvgPool2DAttrs):
        return clipped(node.attrs, node, graph)
    shape = reduction.alternating(node, graph)
    if len(shape) not in (2, 4) or shape[3:] not in ((), (1,)):
        return "the reduced axes are not neighbours, the kernel has one window for each output"
    return None


def clipped(attrs: AvgPool2DAttrs, node: Node, graph: Graph) -> str | None:
    """Refusal unless all windows of a pool are inside the input."""
    (data,), output = base.types(node, graph)
    top, left, _, _ = explicit(attrs.padding)
    axes = (base.spatial(data), base.spatial(output), attrs.pool_size, attrs.strides)
    is_beyond = any(
        (places - 1) * stride + pool > size
        for size, places, pool, stride in zip(*axes, strict=True)
    )
    return "windows reach beyond the input" if top or left or is_beyond else None


def geometry(node: Node, graph: Graph) -> tuple[tuple[str, int], ...]:
    """The sizes of ``mg_pool_mean_s8_params``. A window that is the whole input is one row."""
    found = dict(sizes(node, graph))
    size = found["input_height"], found["input_width"]
    window = found["pool_height"], found["pool_width"]
    if window[1] == size[1] and found["output_height"] == found["output_width"] == 1:
        # Rows of the full width are contiguous, so one loop over values is enough.
        found |= {"input_height": 1, "input_width": size[0] * size[1]}
        found |= {"pool_height": 1, "pool_width": window[0] * window[1]}
    return tuple(found.items())


def sizes(node: Node, graph: Graph) -> tuple[tuple[str, int], ...]:
    """The sizes of ``mg_pool_mean_s8_params``, with windows as the node has them."""
    (data,), output = base.types(node, graph)
    attrs = node.attrs
    if isinstance(attrs, MeanAttrs) and attrs.rows:
        batches, *size, channels = data.shape
        places, window, strides = (1, 1), (attrs.rows, size[1]), (1, 1)
    elif isinstance(attrs, AvgPool2DAttrs):
        batches, *size, channels = data.shape
        places, window, strides = base.spatial(output), attrs.pool_size, attrs.strides
    else:
        batches, count, channels = (*reduction.alternating(node, graph), 1)[:3]
        size, places, window, strides = [1, count], (1, 1), (1, count), (1, 1)
    return (
        ("batches", batches),
        ("input_height", size[0]),
        ("input_width", size[1]),
        ("channels", channels),
        ("output_height", places[0]),
        ("output_width", places[1]),
        ("pool_height", window[0]),
        ("pool_width", window[1]),
        ("stride_height", strides[0]),
        ("stride_width", strides[1]),
    )


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_pool_mean_s8_params``."""
    return (*geometry(node, graph), *proven.fields(affine_of(node, graph)))


def constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    """The coefficients of the proven multiplication."""
    of, affine = mean_of(node, graph), affine_of(node, graph)
    arguments = (
        ("op", of.op),
        ("count", of.count),
        ("ties_upward", int(of.ties_upward)),
        *((("in_float32", 1),) if of.in_float32 else ()),
        ("activation", of.activation.value),
        ("input_zero_point", of.data.zero_point[0]),
        ("output_zero_point", of.output.zero_point[0]),
        ("factor", affine.factors[0]),
        ("constant", affine.constant),
        ("shift", affine.shift),
        ("low", affine.low),
        ("high", affine.high),
    )
    scales = (of.data.scale[0], of.output.scale[0])
    return proven.coefficient(node, _KIND, scales, arguments)


def _coefficients(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    proven.check_scales(sources, 2)
    return np.array([arguments["factor"], arguments["constant"]], np.int32)


def work_of(node: Node, graph: Graph) -> Work:
    """Parts of its loops: for each block of channels, rows and taps of windows, and means."""
    sizes = dict(geometry(node, graph))
    pixels = sizes["batches"] * sizes["output_height"] * sizes["output_width"]
    lines = pixels * sizes["pool_height"]
    taps = lines * sizes["pool_width"]
    counts = {
        "call": 1,
        "output": pixels * sizes["channels"],
        **parts((pixels, lines, taps), sizes["channels"], (16, 8, 4, 1)),
    }
    activation = getattr(node.attrs, "activation", Activation.NONE)
    return {**counts, "clamped": counts["output"] * (activation is not Activation.NONE)}


def parts(windows: tuple[int, int, int], channels: int, blocks: Sequence[int]) -> dict[str, int]:
    """Pixels, and for each of the ``blocks`` of channels the means, and the rows and taps of their
    windows. ``windows`` are the numbers of pixels, rows and taps for one channel. The last block
    may have fewer channels.
    """
    pixels, lines, taps = windows
    counts, left = {"pixel": pixels}, channels
    for block in blocks:
        count, left = divmod(left, block) if block != blocks[-1] else (-(-left // block), 0)
        counts |= {
            f"mean_{block}": pixels * count,
            f"line_{block}": lines * count,
            f"tap_{block}": taps * count,
        }
    return counts


def _kernel(symbol: str, needs: frozenset[Feature]) -> base.Implementation:
    return base.Implementation(
        symbol=symbol,
        needs=needs,
        refusal=_refusal,
        params=_params,
        constants=constants,
        work=work_of,
    )


def is_part(node: Node, graph: Graph) -> bool:
    """Whether the input is a few rows of the only window. Then the kernel is called for each part
    of the rows in turn.
    """
    attrs = node.attrs
    if isinstance(attrs, MeanAttrs):
        return attrs.rows > 0
    return (
        isinstance(attrs, AvgPool2DAttrs)
        and not any(explicit(attrs.padding))
        and attrs.pool_size[0] > graph.types[node.inputs[0]].shape[1]
    )


KERNELS = (
    _kernel("mg_pool_mean_s8", base.REFERENCE),
    _kernel("mg_pool_mean_s8_dsp", base.DSP),
    _kernel("mg_pool_mean_s8_mve", base.MVE),
)


def _in_float32_refusal(node: Node, graph: Graph) -> str | None:
    refusal = base.only(DType.INT8)(node, graph)
    if refusal is None and is_part(node, graph):
        return "the input has not all rows of a window"
    return refusal or shape_refusal(node, graph)


def _in_float32_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_pool_mean_in_float_s8_params``."""
    return float_fields(node, graph, geometry(node, graph))


def float_fields(node: Node, graph: Graph, first: base.Fields) -> base.Fields:
    """Fields of ``mg_pool_mean_in_float_s8_params``; ``first`` are the sizes."""
    (data,), output = base.types(node, graph)
    count = mean_of(node, graph).count
    scale = arithmetic.scale_of_mean(data, output, count)
    activation = getattr(node.attrs, "activation", Activation.NONE)
    return (
        *first,
        ("bias", -data.zero_point * count),
        *base.scale_fields(quantize_multiplier(float(scale))),
        ("output_offset", output.zero_point),
        *base.activation_fields(activation, output),
    )


IN_FLOAT32 = in_float32.only(
    base.Implementation(
        symbol="mg_pool_mean_in_float_s8",
        refusal=_in_float32_refusal,
        params=_in_float32_params,
        work=work_of,
        measured_as=KERNELS[0],
    )
)


# affine_mean: the scales of the input and the output, float32 [2], and the arguments from
# ``constants``. The factor of sums, and the constant: int32 [2].
TRANSFORMS: Mapping[str, transforms.Function] = {_KIND: _coefficients}
