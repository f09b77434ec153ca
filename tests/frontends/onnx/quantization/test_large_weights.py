"""Large weights: a file's own are accepted, and move as the integers that the file stores."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from microgen import frontends
from microgen.base.errors import UnsupportedError
from microgen.frontends.onnx import provenance
from microgen.graph.ir.graph import Array
from microgen.graph.ops.moves.layouts import TransposeAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from tests.frontends.onnx.models import info, model, node, written

SIZE = 1950
SCALE, ZERO = np.float32(0.05), np.int8(0)


def quantized(size: int, layers: int) -> ModelProto:
    """Layers of int8 weights between conversions. MatMul's weights are moved to the order of a
    dense layer."""
    nodes = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "t0")]
    constants: dict[str, object] = {"s": SCALE, "z": ZERO}
    for k in range(layers):
        rng = np.random.default_rng(k)
        constants[f"w{k}"] = rng.integers(-127, 128, (size, size), np.int8)
        constants[f"ws{k}"] = rng.uniform(1e-5, 2e-5, size).astype(np.float32)
        constants[f"wz{k}"] = np.zeros(size, np.int8)
        nodes += [
            node("DequantizeLinear", f"w{k} ws{k} wz{k}", f"f{k}", axis=1),
            node("MatMul", f"t{k} f{k}", f"m{k}"),
            node("QuantizeLinear", f"m{k} s z", f"q{k}"),
            node("DequantizeLinear", f"q{k} s z", f"t{k + 1}"),
        ]
    return model(nodes, [info("x", (1, size))], [info(f"t{layers}", None)], constants)


def test_weights_of_integers_are_moved_and_never_computed_as_floats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reader in ("stored", "builder"):
        monkeypatch.setattr(f"microgen.graph.{reader}.floats", lambda _: pytest.fail("is computed"))
    found = quantized(SIZE, 2)
    weight = np.frombuffer(found.graph.initializer[2].raw_data, np.int8).reshape(SIZE, SIZE)
    graph = frontends.load(written(found, tmp_path))
    moved = graph.constants["m0#transpose#stored"]
    assert moved.dtype == np.int8
    assert np.array_equal(moved, weight.T)


@pytest.mark.parametrize("flip", [0, 1])
def test_a_layer_of_25_megabytes_of_floats_is_accepted(flip: int, tmp_path: Path) -> None:
    weight = np.random.default_rng(0).normal(size=(2500, 2500)).astype(np.float32)
    made = [node("Gemm", "x w", "y", transB=flip)]
    graph = frontends.load(
        written(model(made, [info("x", (1, 2500))], [info("y", None)], {"w": weight}), tmp_path)
    )
    (found,) = graph.constants.values()
    assert np.array_equal(found, weight if flip else weight.T)


def _tiled(repeats: int, weight: Array) -> ModelProto:
    made = [node("Tile", "w n", "c"), node("MatMul", "x c", "y")]
    shape = (1, repeats * len(weight))
    constants = {"w": weight, "n": np.array([repeats, 1])}
    return model(made, [info("x", shape)], [info("y", None)], constants)


def test_the_hint_of_a_refusal_can_be_followed(tmp_path: Path) -> None:
    weight = np.ones((2**10, 2**10), np.float32)
    with pytest.raises(UnsupportedError, match="store the result in the file"):
        frontends.load(written(_tiled(40, weight), tmp_path))
    made = [node("MatMul", "x c", "y")]
    folded = {"c": np.tile(weight, (40, 1))}
    stored = model(made, [info("x", (1, 40 * 2**10))], [info("y", None)], folded)
    assert frontends.load(written(stored, tmp_path)).nodes


def _by_values(old: tuple[int, ...], new: tuple[int, ...], axis: int) -> tuple[int, Array] | None:
    """The axis of the scales, found by reshaping the indices of the old one."""
    along = [1] * len(old)
    along[axis] = old[axis]
    numbers = np.broadcast_to(np.arange(old[axis]).reshape(along), old).reshape(new)
    for position, size in enumerate(new):
        rows = np.moveaxis(numbers, position, 0).reshape(size, -1)
        if (rows == rows[:, :1]).all():
            return position, rows[:, 0]
    return None


def test_the_axis_of_scales_is_followed_through_every_reshape() -> None:
    shapes = [
        s for rank in (1, 2, 3, 4) for s in itertools.product((1, 2, 3, 4, 6, 12), repeat=rank)
    ]
    shapes = [s for s in shapes if math.prod(s) in (12, 24)]
    seen = 0
    for old, new in itertools.product(shapes, shapes):
        if math.prod(old) != math.prod(new) or (len(old) + len(new)) > 6:
            continue
        for axis in (k for k, size in enumerate(old) if size > 1):
            expected = _by_values(old, new, axis)
            found = provenance._axis(ReshapeAttrs(new), old, new, axis)
            assert (found is None) == (expected is None), (old, new, axis)
            if found is not None and expected is not None:
                assert found[0] == expected[0]
                assert np.array_equal(found[1], expected[1])
                seen += 1
    assert seen > 1000


def test_the_axis_of_scales_is_followed_through_transposes_and_slices() -> None:
    assert provenance._axis(TransposeAttrs((2, 0, 1)), (2, 3, 4), (4, 2, 3), 0) == (
        1,
        pytest.approx(np.arange(2)),
    )
    attrs = StridedSliceAttrs((0, 4), (1, -2), (2, 3))
    position, places = provenance._axis(attrs, (2, 5), (2, 3), 1) or (None, np.empty(0))
    assert (position, places.tolist()) == (1, [4, 2, 0])
