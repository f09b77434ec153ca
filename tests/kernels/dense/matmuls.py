"""Random operands of nn.batch_matmul, for the tests of the reference and of the kernels."""

from __future__ import annotations

import numpy as np

from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs

Shape = tuple[int, ...]


def operand_shapes(attrs: BatchMatmulAttrs, lhs: Shape, rhs: Shape) -> tuple[Shape, Shape]:
    """The stored shapes of [..., rows, depth] and [..., depth, columns]."""
    return _stored(lhs, attrs.transpose_a), _stored(rhs, attrs.transpose_b)


def _stored(shape: Shape, is_transposed: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if is_transposed else shape


def random_operands(rng: np.random.Generator) -> tuple[BatchMatmulAttrs, Shape, Shape, int]:
    """Attributes, stored shapes of 2 to 5 dimensions whose batches broadcast, and the depth."""
    attrs = BatchMatmulAttrs(bool(rng.integers(2)), bool(rng.integers(2)))
    rows, depth, columns = (int(n) for n in rng.integers(1, 8, 3))
    if rng.random() < 0.2:
        depth = int(rng.integers(30, 300))
    batches = [int(n) for n in rng.integers(1, 4, int(rng.integers(0, 4)))]
    pair = [[1 if rng.random() < 0.3 else n for n in batches] for _ in range(2)]
    if batches and rng.random() < 0.5:
        shorter = pair[int(rng.integers(2))]
        del shorter[: int(rng.integers(1, len(shorter) + 1))]
    shapes = operand_shapes(attrs, (*pair[0], rows, depth), (*pair[1], depth, columns))
    return attrs, *shapes, depth


def output_scale(lhs: float, rhs: float, depth: int) -> float:
    """A scale that spreads the sums of ``depth`` random products over most of int8."""
    return lhs * rhs * 75 * 75 * float(np.sqrt(depth)) / 50
