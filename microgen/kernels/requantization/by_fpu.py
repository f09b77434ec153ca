"""The requantization by an FPU of ``crt/include/microgen/requantization/scaling_fpu.h``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.kernels.constant import Tables
from microgen.kernels.requantization import transforms
from microgen.kernels.requantization.recipe import OutputScales, Recipe, replaced, without
from microgen.kernels.requantization.sums import largest_sums

_LIMIT = 2**31 - 256  # of scaled sums: with a zero point they fit int32


def refusal(recipe: Recipe, node: Node, graph: Graph) -> str | None:
    """Refusal unless scaled sums fit int32."""
    (data, weight, *_), output = base.types(node, graph)
    scales = in_float32.scale_of_sums(data, weight, output)
    worst = float((largest_sums(node, graph, recipe.axis).sum(axis=0) * scales).max())
    if worst < _LIMIT:
        return None
    return f"scaled sums with its weights and bias may reach {worst:g}, the kernel takes {_LIMIT}"


def _tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    specified = recipe.specified(node, graph)
    scale = replaced(specified.multiplier, "float_scale")
    tables = specified._replace(multiplier=scale, shift=without(specified.shift))
    return recipe.folded(tables, node, graph)


# float_scale: the sources and arguments of requantize_multiplier. int32 [channels]: the bits of the
# scales as float32.
def _float_scale(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    scales = np.ascontiguousarray(transforms.effective_scales(sources, arguments), np.float32)
    return scales.view(np.int32)


FLOAT = OutputScales(_tables, refusal)
TRANSFORMS: Mapping[str, transforms.Function] = {"float_scale": _float_scale}
