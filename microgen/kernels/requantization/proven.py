"""Shared by int8 kernels whose arithmetic a proof has compared with the reference's for all values:
the results of the search (``microgen/graph/arithmetic/affine.py``), as their fields and their
constant.

``coefficient`` has the numbers that a kernel multiplies and adds. Its sources are the scales that
decide the results. Its arguments are everything else that decides them, and the results of the
search, so that ``microgen/verifier/checks/proofs.py`` can compare all results again without the
search.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.graph.arithmetic.affine import Affine
from microgen.graph.ir.graph import Array, Node
from microgen.kernels import base
from microgen.kernels.constant import KernelConstant

Arguments = tuple[tuple[str, float | int | str], ...]


def limits(affine: Affine) -> base.Fields:
    """The fields of a kernel's clamp."""
    return (("activation_min", affine.low), ("activation_max", affine.high))


def fields(affine: Affine) -> base.Fields:
    """The fields of its shift and its clamp."""
    return (("shift", affine.shift), *limits(affine))


def coefficient(
    node: Node, kind: str, scales: Sequence[float], arguments: Arguments
) -> tuple[KernelConstant, ...]:
    """The kernel's only constant, which the transform ``kind`` makes."""
    array, name = np.array(scales, np.float32), f"{node.outputs[0]}#scales"
    constant = KernelConstant(
        "coefficient", "int32_t", name, transform=kind, arguments=arguments, array=array
    )
    return (constant,)


def check_scales(sources: Sequence[Array], count: int) -> None:
    """Raises ValueError unless the only source has ``count`` scales."""
    (scales,) = sources
    if scales.shape != (count,):
        raise ValueError(f"there are {scales.size} scales, {count} are expected")
