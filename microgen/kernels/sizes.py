"""Bytes of the constants that kernels lay out."""

from __future__ import annotations

import numpy as np

from microgen.ir.graph import Array, Graph
from microgen.kernels import transforms
from microgen.kernels.base import KernelConstant


def source(constant: KernelConstant, graph: Graph) -> Array:
    """The model's array from which a constant is computed."""
    if constant.array is not None:
        return constant.array
    if constant.what == "data":
        return graph.constants[constant.tensor]
    quant = graph.types[constant.tensor].quant
    assert quant is not None, "it has scales"
    return np.array(quant.scale, np.float32)


def constant_bytes(constant: KernelConstant, graph: Graph) -> int:
    """Bytes of the constant in the firmware."""
    array = source(constant, graph)
    if constant.transform == "identity":
        return array.nbytes
    return transforms.apply(constant.transform, [array], dict(constant.arguments)).nbytes
