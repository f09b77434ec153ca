"""The linear requantization of ``crt/include/microgen/requantization/scaling_s8.h``: its tables,
and its requirement, which is a proof.

Kinds of transforms: ``linear_multiplier`` and ``linear_offset``. Sources are the weight's scales
float32 [n], the weight, and the bias if there is one. They make int32 [channels]. Their arguments
are those of ``requantize_multiplier`` and:

- ``axis``: the weight's axis of output channels;
- ``input_zero``, ``input_min``, ``input_max``: the data's zero point and its limits;
- ``folds_zero``: 1 if the kernel sums products of data and weights without the zero point, 0 if it
  subtracts it from the data;
- ``single``: if it is 1, there is one multiplier for all channels, and ``channels`` is 1;
- ``output_zero``, ``low``, ``high``, ``rounding``: the specified requantization.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from microgen.graph.arithmetic import linear
from microgen.graph.arithmetic.int8 import activation_range
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.kernels import base
from microgen.kernels.requantization import transforms

Weighted = Conv2DAttrs | DepthwiseConv2DAttrs | DenseAttrs
Constants = Callable[[Node, Graph], tuple[base.KernelConstant, ...]]


def refusal(node: Node, graph: Graph, constants: Constants, axis: int, is_raw: bool) -> str | None:
    """Refusal unless the outputs of all channels are linear functions of their sums, up to their
    rounding. ``axis`` is the weight's axis of output channels. ``is_raw``: the kernel sums products
    without the data's zero point."""
    constant = tables(constants, axis, is_raw)(node, graph)[2]
    fitted = _fitted(constant.arrays(graph), dict(constant.arguments))
    return inexact(fitted.is_exact, "the linear requantization")


def inexact(is_exact: Array, what: str) -> str | None:
    """Refusal unless ``what`` is exact for all channels. ``is_exact``: bool [channels]."""
    count = int((~is_exact).sum())
    return f"{what} is not exact for {count} of {len(is_exact)} channels" if count else None


def tables(constants: Constants, axis: int, is_raw: bool) -> Constants:
    """The same constants for this requantization: weight, offsets instead of the bias, multipliers,
    no shifts."""

    def changed(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        given = constants(node, graph)
        multiplier = multiplier_of(given, node, graph, axis, is_raw)
        if has_one_multiplier(node, graph):
            single = {**dict(multiplier.arguments), "single": 1, "channels": 1}
            multiplier = dataclasses.replace(multiplier, arguments=tuple(single.items()))
        offset = dataclasses.replace(multiplier, name="offset", transform="linear_offset")
        return (given[0], offset, multiplier, base.KernelConstant("shift", "int8_t"))

    return changed


def has_one_multiplier(node: Node, graph: Graph) -> bool:
    """Whether a kernel takes one multiplier for all channels: of a dense layer with one scale."""
    quant = graph.types[node.inputs[1]].quant
    return isinstance(node.attrs, DenseAttrs) and quant is not None and quant.is_per_tensor


def multiplier_of(
    given: Sequence[base.KernelConstant], node: Node, graph: Graph, axis: int, is_raw: bool
) -> base.KernelConstant:
    """The table of multipliers, made of weight, bias, multiplier and shift."""
    weight, bias, multiplier, _ = given
    more = ((weight.tensor, "data"), *(() if bias.is_absent else ((bias.tensor, "data"),)))
    arguments = {**dict(multiplier.arguments), **_arguments(node, graph, axis, is_raw)}
    return dataclasses.replace(
        multiplier, transform="linear_multiplier", arguments=tuple(arguments.items()), more=more
    )


def _arguments(node: Node, graph: Graph, axis: int, is_raw: bool) -> dict[str, float | int | str]:
    attrs = node.attrs
    (data, *_), output = base.types(node, graph)
    limits = np.iinfo(data.dtype.numpy)
    assert output.quant is not None
    assert isinstance(attrs, Weighted)
    low, high = activation_range(attrs.activation, output.quant, output.dtype)
    return {
        "channels": output.shape[-1],
        "axis": axis,
        "input_zero": data.zero_point,
        "input_min": int(limits.min),
        "input_max": int(limits.max),
        "folds_zero": int(is_raw),
        "output_zero": output.zero_point,
        "low": low,
        "high": high,
        "rounding": attrs.rounding.value,
    }


def channels(
    sources: Sequence[Array], arguments: transforms.Arguments, folded: Array | int = 0
) -> linear.Channels:
    """The sums and the specified requantization of a layer, from the sources and arguments of its
    tables. ``folded``, int64 [channels], is what is in the bias besides the data's zero point."""
    scales, weight, *bias = sources
    effective = transforms.effective_scales([scales], arguments)
    axis, zero = int(arguments["axis"]), int(arguments["input_zero"])
    products = np.moveaxis(weight.astype(np.int64), axis, 0).reshape(weight.shape[axis], -1)
    start = bias[0].astype(np.int64) if bias else np.zeros(len(products), np.int64)
    ends = [products * (int(arguments[end]) - zero) for end in ("input_min", "input_max")]
    own = start - (zero * products.sum(axis=1) if arguments["folds_zero"] else 0)
    return linear.Channels(
        scales=tuple(effective.tolist()),
        least=tuple((np.minimum(*ends).sum(axis=1) + start).tolist()),
        most=tuple((np.maximum(*ends).sum(axis=1) + start).tolist()),
        folded=tuple((own + folded).tolist()),
        rounding=Rounding(arguments["rounding"]),
        zero_point=int(arguments["output_zero"]),
        low=int(arguments["low"]),
        high=int(arguments["high"]),
    )


def _linear_multiplier(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    multipliers = _proven(sources, arguments).multipliers.astype(np.int32)
    return multipliers[:1] if arguments.get("single") else multipliers


def _linear_offset(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    return _proven(sources, arguments).offsets.astype(np.int32)


@transforms.remembered
def _fitted(sources: Sequence[Array], arguments: transforms.Arguments) -> linear.Linear:
    fit = linear.fit_equal if arguments.get("single") else linear.fit
    return fit(channels(sources, arguments))


def _proven(sources: Sequence[Array], arguments: transforms.Arguments) -> linear.Linear:
    fitted = _fitted(sources, arguments)
    if not fitted.is_exact.all():
        raise ValueError("the linear requantization is not exact for all channels")
    return fitted


TRANSFORMS: Mapping[str, transforms.Function] = {
    "linear_multiplier": _linear_multiplier,
    "linear_offset": _linear_offset,
}
