"""The requantization by an FPU of ``crt/include/microgen/requantization/scaling_fpu.h``: its
requirement and its table.

Kind of transform: ``float_scale``, with the sources and arguments of ``requantize_multiplier``.
int32 [channels]: the bits of the scales as float32.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.kernels.requantization import transforms
from microgen.kernels.requantization.sums import largest_sums

_LIMIT = 2**31 - 256  # of scaled sums: with a zero point they fit int32

Constants = Callable[[Node, Graph], tuple[base.KernelConstant, ...]]


def refusal(node: Node, graph: Graph, axis: int) -> str | None:
    """Refusal unless scaled sums fit int32. ``axis`` is the weight's axis of output channels."""
    (data, weight, *_), output = base.types(node, graph)
    scales = in_float32.scale_of_sums(data, weight, output)
    worst = float((largest_sums(node, graph, axis).sum(axis=0) * scales).max())
    if worst < _LIMIT:
        return None
    return f"scaled sums with its weights and bias may reach {worst:g}, the kernel takes {_LIMIT}"


def tables(constants: Constants) -> Constants:
    """The same constants with float32 scales, and without shifts."""

    def changed(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        weight, bias, multiplier, _ = constants(node, graph)
        scale = dataclasses.replace(multiplier, transform="float_scale")
        return (weight, bias, scale, base.KernelConstant("shift", "int8_t"))

    return changed


def _float_scale(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    scales = np.ascontiguousarray(transforms.effective_scales(sources, arguments), np.float32)
    return scales.view(np.int32)


TRANSFORMS: Mapping[str, transforms.Function] = {"float_scale": _float_scale}
