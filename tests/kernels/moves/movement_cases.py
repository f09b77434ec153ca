"""Cases of ops that move and look up elements: one builder for each op."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.detection.roi_align import RoiAlignAttrs
from microgen.graph.ops.detection.sampling import GridSampleAttrs, ResampleAttrs
from microgen.graph.ops.detection.suppression import AllClassSuppressionAttrs
from microgen.graph.ops.moves.indexed import AxisPositionsAttrs, NdPositionsAttrs
from microgen.graph.ops.moves.scatter import ScatterAttrs
from microgen.graph.ops.reductions.extremes import TopKAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import random_array, random_type

Shape = tuple[int, ...]
REDUCTIONS = ("none", "add", "mul", "max", "min")
COMBINED = (DType.FLOAT32, DType.INT32, DType.INT64)
NUMBERS = tuple(dtype for dtype in DType if dtype is not DType.BOOL)


def scatter(
    seed: int, dtype: DType, shape: Shape, count: int, reduction: str, filled: bool, over: int = 0
) -> c.Case:
    """A case whose positions are up to ``over`` outside of each end."""
    rng = np.random.default_rng(seed)
    kind = random_type(rng, (), dtype)
    data, updates = (
        c.Tensor(ArrayType(own, dtype, kind.quant), random_array(rng, own, dtype))
        for own in (() if filled else shape, (count, *shape[1:]))
    )
    values = rng.integers(-over, shape[0] + over, count).astype(np.int32)
    positions = c.Tensor(ArrayType((count,), DType.INT32), values)
    name = f"{reduction} {count} into {shape}, {over} over"
    attrs = ScatterAttrs(shape, reduction)
    return c.Case(name, "scatter", attrs, (data, positions, updates), kind.quant, dtype)


def topk(seed: int, dtype: DType, shape: Shape, axis: int, k: int) -> c.Case:
    """A case with few different values, among them the extremes."""
    rng = np.random.default_rng(seed)
    if dtype is DType.FLOAT32:
        few = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0], np.float32)
        values = rng.choice(few, shape) if seed % 3 else rng.normal(size=shape).astype(np.float32)
    else:
        limits = np.iinfo(dtype.numpy)
        few = np.array([limits.min, limits.max, 0, 1, 2], dtype.numpy)
        values = rng.choice(few, shape) if seed % 3 else rng.integers(0, 100, shape)
    data = c.Tensor(ArrayType(shape, dtype), values.astype(dtype.numpy))
    attrs = TopKAttrs(axis, k, bool(seed % 2))
    output = (DType.INT32, DType.INT64)[seed // 2 % 2]
    return c.Case(f"{k} of {shape} along {axis}", "topk", attrs, (data,), None, output)


def axis_positions(seed: int, shape: Shape, own: Shape, axis: int, over: int = 0) -> c.Case:
    """A case of indices of shape ``own`` that are up to ``over`` outside of each end."""
    rng, dtype = np.random.default_rng(seed), (DType.INT32, DType.INT64)[seed % 2]
    values = rng.integers(-shape[axis] - over, shape[axis] + over, own).astype(dtype.numpy)
    indices = c.Tensor(ArrayType(own, dtype), values)
    attrs = AxisPositionsAttrs(shape, axis)
    name = f"{own} in {shape} along {axis}, {over} over"
    return c.Case(name, "axis_positions", attrs, (indices,), None, DType.INT32)


def nd_positions(seed: int, shape: Shape, counts: Shape, over: int) -> c.Case:
    """A case whose indices are up to ``over`` outside of each end."""
    rng, dtype = np.random.default_rng(seed), (DType.INT32, DType.INT64)[seed % 2]
    sizes = np.array(shape)
    values = rng.integers(-sizes - over, sizes + over, (*counts, len(shape)))
    indices = c.Tensor(ArrayType(values.shape, dtype), values.astype(dtype.numpy))
    name = f"{values.shape} of {shape}, {over} over"
    return c.Case(name, "nd_positions", NdPositionsAttrs(shape), (indices,), None, DType.INT32)


def resample(seed: int, shape: Shape, axis: int, places: int, terms: int) -> c.Case:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, shape[axis] - terms + 1, places).astype(np.int32)
    inputs = (
        c.float32(rng, shape),
        c.Tensor(ArrayType((places,), DType.INT32), first, is_constant=True),
        c.float32(rng, (places, terms), is_constant=True),
    )
    name = f"{places} places of {terms} along {axis} of {shape}"
    return c.Case(name, "resample", ResampleAttrs(axis), inputs, None, DType.FLOAT32)


def random_resample(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 8, int(rng.integers(1, 5))))
    axis = int(rng.integers(len(shape)))
    places, terms = int(rng.integers(1, 9)), int(rng.integers(1, shape[axis] + 1))
    return resample(seed, shape, axis, places, terms)


def grid_sample(
    seed: int, shape: Shape, points: Shape, mode: str, padding: str, aligns: bool
) -> c.Case:
    """Coordinates inside, outside and on the borders."""
    rng = np.random.default_rng(seed)
    grid = rng.uniform(-2.5, 2.5, (shape[0], *points, len(shape) - 2)).astype(np.float32)
    exact = rng.choice(np.array([-3, -1.5, -1, -0.5, 0, 0.25, 1, 2], np.float32), grid.shape)
    grid = np.where(rng.random(grid.shape) < 0.3, exact, grid)
    if seed % 4 == 0:
        far = np.array([np.nan, np.inf, -np.inf, 1e20, -1e8, 3e5], np.float32)
        grid = np.where(rng.random(grid.shape) < 0.1, rng.choice(far, grid.shape), grid)
    inputs = (c.float32(rng, shape), c.Tensor(ArrayType(grid.shape, DType.FLOAT32), grid))
    attrs = GridSampleAttrs(mode, padding, aligns)
    return c.Case(f"{attrs} of {shape}", "grid_sample", attrs, inputs, None, DType.FLOAT32)


def roi_align(seed: int, shape: Shape, regions: int, over: int = 0) -> c.Case:
    """Regions inside and partly outside of images, some without an extent."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-3, 2 * max(shape[1:3]) + 3, (regions, 4)).astype(np.float32)
    if seed % 4 == 0:
        corners[rng.random(corners.shape) < 0.1] = np.nan
        corners[rng.random(corners.shape) < 0.1] = -50.0
    numbers = rng.integers(0, shape[0] + over, regions).astype(np.int32)
    inputs = (
        c.float32(rng, shape),
        c.Tensor(ArrayType(corners.shape, DType.FLOAT32), corners),
        c.Tensor(ArrayType(numbers.shape, DType.INT32), numbers),
    )
    attrs = RoiAlignAttrs(
        (int(rng.integers(1, 4)), int(rng.integers(1, 4))),
        0.5,
        int(rng.integers(0, 4)),
        is_max=bool(seed % 2),
        is_half=bool(seed // 2 % 2),
    )
    return c.Case(f"{attrs} of {shape}", "roi_align", attrs, inputs, None, DType.FLOAT32)


def all_class_suppression(
    seed: int, batches: int, classes: int, boxes: int, **attrs: object
) -> c.Case:
    """Boxes of which many overlap, and few different scores."""
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, 6, (batches, boxes, 4)).astype(np.float32) / 4
    scores = rng.integers(0, 6, (batches, classes, boxes)).astype(np.float32) / 8
    if seed % 5 == 0:
        scores[rng.random(scores.shape) < 0.1] = np.nan
        corners[rng.random(corners.shape) < 0.05] = np.nan
    inputs = tuple(
        c.Tensor(ArrayType(array.shape, DType.FLOAT32), array) for array in (corners, scores)
    )
    chosen = {
        "most": int(rng.integers(1, boxes + 1)),
        "overlap": float(np.float32(rng.choice([0.0, 0.2, 0.5, 1.0]))),
        "least_score": [None, 0.25][seed % 2],
        "is_centred": bool(seed // 2 % 2),
        **attrs,
    }
    made = AllClassSuppressionAttrs(**chosen)  # type: ignore[arg-type]
    return c.Case(
        f"{chosen}", "vision.all_class_non_max_suppression", made, inputs, None, DType.INT64
    )


def random_all_class_suppression(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    sizes = (int(rng.integers(1, n)) for n in (3, 4, 12))
    return all_class_suppression(seed, *sizes)
