"""The linear requantizations of ``crt/include/microgen/requantization/scaling_s8.h``: their tables,
and their requirement, which is a proof."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from microgen.graph.arithmetic import blocks, high, linear, linear_vector
from microgen.graph.arithmetic.int8 import activation_range
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.kernels import base
from microgen.kernels.constant import KernelConstant, Tables
from microgen.kernels.identity import KEPT, Same
from microgen.kernels.requantization import transforms
from microgen.kernels.requantization.recipe import OutputScales, Recipe, replaced, without

# The results of searches in ``graph/arithmetic``: tables, and the channels for which they are
# exact.
Fit = linear.Linear | linear_vector.LinearVector | high.High
F = TypeVar("F", bound=Fit)
Weighted = Conv2DAttrs | DepthwiseConv2DAttrs | DenseAttrs


@dataclass(frozen=True)
class Proof(Generic[F]):
    """A requantization whose tables are made only if they are exact for all channels.

    ``fitted`` finds them from a transform's sources and arguments. ``what`` is its name.
    """

    fitted: Callable[[Sequence[Array], transforms.Arguments], F]
    what: str

    def refusal(self, multiplier: KernelConstant, graph: Graph) -> str | None:
        """Refusal unless the tables with these sources and arguments are exact."""
        fitted = self.fitted(multiplier.arrays(graph), dict(multiplier.arguments))
        count, channels = int((~fitted.is_exact).sum()), len(fitted.is_exact)
        return f"{self.what} is not exact for {count} of {channels} channels" if count else None

    def transform(self, table: Callable[[F, transforms.Arguments], Array]) -> transforms.Function:
        """The transform that makes a table."""

        def function(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
            fitted = self.fitted(sources, arguments)
            if not fitted.is_exact.all():
                raise ValueError(f"{self.what} is not exact for all channels")
            return table(fitted, arguments)

        return function


def has_one_multiplier(node: Node, graph: Graph) -> bool:
    """Whether a kernel takes one multiplier for all channels: for dense layers with one scale."""
    quant = graph.types[node.inputs[1]].quant
    return isinstance(node.attrs, DenseAttrs) and quant is not None and quant.is_per_tensor


def tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    """The tables of MG_LINEAR. The bias contains the output's zero point."""
    multiplier = _multiplier("linear_multiplier", recipe, node, graph)
    if has_one_multiplier(node, graph):
        multiplier = multiplier.updated(single=1, channels=1)
    specified = recipe.specified(node, graph)
    bias = as_bias(multiplier, "linear_bias")
    return Tables(specified.weight, bias, multiplier, without(specified.shift))


def _refusal(recipe: Recipe, node: Node, graph: Graph) -> str | None:
    """Refusal unless the outputs of all channels are linear functions of their sums, up to their
    rounding."""
    return _PROOF.refusal(tables(recipe, node, graph).multiplier, graph)


def _vector_tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    """The tables of MG_LINEAR_VECTOR. All channels have the same shifts."""
    specified = recipe.specified(node, graph)
    entries = dict(specified.multiplier.arguments)["channels"]
    multiplier = _multiplier("linear_vector_multiplier", recipe, node, graph)
    multiplier = multiplier.updated(channels=entries)
    shift = dataclasses.replace(multiplier, name="shift", ctype="int8_t")
    return Tables(
        specified.weight,
        as_bias(multiplier, "linear_vector_bias"),
        multiplier,
        replaced(shift, "linear_vector_shift", channels=1),
    )


def _vector_refusal(recipe: Recipe, node: Node, graph: Graph) -> str | None:
    """Refusal unless it is exact for all channels."""
    return _VECTOR_PROOF.refusal(_vector_tables(recipe, node, graph).multiplier, graph)


def as_bias(multiplier: KernelConstant, kind: str) -> KernelConstant:
    """The bias computed from the sources and arguments of a table of multipliers."""
    return dataclasses.replace(multiplier, name="bias", transform=kind)


def _multiplier(kind: str, recipe: Recipe, node: Node, graph: Graph) -> KernelConstant:
    """The table of multipliers, with an entry for each output channel."""
    return _remembered(
        kind, recipe.specified, recipe.axis, recipe.sums.is_raw, Same(node), Same(graph)
    )


# Most kernels of a layer have the same table.
@functools.lru_cache(maxsize=KEPT)
def _remembered(
    kind: str,
    tables: Callable[[Node, Graph], Tables],
    axis: int,
    is_raw: bool,
    known: Same[Node],
    same: Same[Graph],
) -> KernelConstant:
    node, graph = known.value, same.value
    specified = tables(node, graph)
    more = tuple(
        (table.tensor, table.what)
        for table in (specified.weight, specified.bias)
        if not table.is_absent
    )
    multiplier = dataclasses.replace(specified.multiplier, more=more)
    return replaced(multiplier, kind, **_arguments(axis, is_raw, node, graph))


def _arguments(axis: int, is_raw: bool, node: Node, graph: Graph) -> dict[str, float | int | str]:
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
) -> linear.OutputChannels:
    """The sums and the specified requantization of a layer, from the sources and arguments of its
    tables. ``folded``, int64 [channels], is the part of the bias in addition to the data's zero
    point.
    """
    scales, weight, *bias = sources
    effective = transforms.effective_scales([scales], arguments)
    axis, zero = int(arguments["axis"]), int(arguments["input_zero"])
    start = bias[0].astype(np.int64) if bias else np.zeros(weight.shape[axis], np.int64)
    below, above = (int(arguments[end]) - zero for end in ("input_min", "input_max"))

    def measured(values: Array) -> Array:
        ends = values * below, values * above
        each = np.minimum(*ends), np.maximum(*ends), values
        return np.stack([one.sum(axis=1) for one in each])

    least, most, sums = blocks.by_channels(weight, axis, measured)
    # If sums include the zero point, its share, which is independent of the data, is in the bias.
    own = start - (zero * sums if arguments["folds_zero"] else 0)
    return linear.OutputChannels(
        scales=tuple(effective.tolist()),
        least=tuple((least + start).tolist()),
        most=tuple((most + start).tolist()),
        folded=tuple((own + folded).tolist()),
        rounding=Rounding(arguments["rounding"]),
        zero_point=int(arguments["output_zero"]),
        low=int(arguments["low"]),
        high=int(arguments["high"]),
    )


@transforms.remembered
def fitted(sources: Sequence[Array], arguments: transforms.Arguments) -> linear.Linear:
    """The search for MG_LINEAR for each channel, from the sources and arguments of
    linear_multiplier."""
    fit = linear.fit_equal if arguments.get("single") else linear.fit
    return fit(channels(sources, arguments))


@transforms.remembered
def _vector_fitted(
    sources: Sequence[Array], arguments: transforms.Arguments
) -> linear_vector.LinearVector:
    filters = sources[1].shape[int(arguments["axis"])]
    return linear_vector.fit(channels(sources, {**arguments, "channels": filters}))


def multipliers(fitted: Fit, arguments: transforms.Arguments) -> Array:
    """int32, of the first ``channels``."""
    return fitted.multipliers[: int(arguments["channels"])].astype(np.int32)


def biases(fitted: Fit, _arguments: transforms.Arguments) -> Array:
    """int32, of all channels."""
    return fitted.biases.astype(np.int32)


def _shifts(fitted: linear_vector.LinearVector, _arguments: transforms.Arguments) -> Array:
    return np.array([fitted.left, -fitted.right], np.int8)


_PROOF = Proof(fitted, "the linear requantization")
_VECTOR_PROOF = Proof(_vector_fitted, "the linear requantization of vectors")
LINEAR = OutputScales(tables, _refusal)
LINEAR_VECTOR = OutputScales(_vector_tables, _vector_refusal)

# Sources are the weight's scales float32 [n], the weight, and the bias if there is one. Arguments
# are the arguments of requantize_multiplier and:
# - ``axis``: the weight's axis of output channels;
# - ``input_zero``, ``input_min``, ``input_max``: the data's zero point and its limits;
# - ``folds_zero``: 1 if the kernel sums products of data and weights without the zero point, 0 if
#   it subtracts it from the data;
# - ``single``: if it is 1, there is one multiplier for all channels, and ``channels`` is 1;
# - ``output_zero``, ``low``, ``high``, ``rounding``: the specified requantization.
TRANSFORMS: Mapping[str, transforms.Function] = {
    # For MG_LINEAR: int32 [channels].
    "linear_multiplier": _PROOF.transform(multipliers),
    "linear_bias": _PROOF.transform(biases),
    # For MG_LINEAR_VECTOR: int32 [channels], int32 [filters], and int8 [2], the shifts to the left
    # and to the right. ``channels`` is 1 if all filters have one multiplier.
    "linear_vector_multiplier": _VECTOR_PROOF.transform(multipliers),
    "linear_vector_bias": _VECTOR_PROOF.transform(biases),
    "linear_vector_shift": _VECTOR_PROOF.transform(_shifts),
}
