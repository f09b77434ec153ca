"""Pools, images of other sizes, and what moves or repeats elements, against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.graph.ir.graph import Array
from microgen.relay import Function
from tests.frontends.relay import definitions
from tests.frontends.relay.evaluated import close, computed, graph_of, var

POOLS = [
    # size, strides, padding, ceil_mode
    ((2, 2), (2, 2), (0, 0, 0, 0), False),
    ((3, 2), (1, 2), (1, 0, 1, 1), False),
    ((2, 3), (2, 2), (0, 0, 0, 0), True),
    ((3, 3), (2, 2), (1, 1, 1, 1), True),
]


def drawn(*shape: int, dtype: str = "float32", seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    if dtype == "float32":
        return np.asarray(rng.standard_normal(shape), np.float32)
    return np.asarray(rng.integers(-100, 100, shape), dtype)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("size", "strides", "pads", "ceil"), POOLS)
@pytest.mark.parametrize(
    ("name", "mode", "dtype"),
    [
        ("max_pool2d", "max", "float32"),
        ("max_pool2d", "max", "int8"),
        ("avg_pool2d", "avg", "float32"),
        ("avg_pool2d", "all", "float32"),
    ],
)
def test_pools(
    name: str, mode: str, dtype: str, size: Any, strides: Any, pads: Any, ceil: bool, layout: str
) -> None:
    data = drawn(2, 3, 7, 7, dtype=dtype)
    x = np.ascontiguousarray(data.transpose(0, 2, 3, 1)) if layout == "NHWC" else data
    options = {"count_include_pad": mode == "all"} if name == "avg_pool2d" else {}
    params = {var("x", x): x}
    body = getattr(relay.nn, name)(
        *params,
        pool_size=size,
        strides=strides,
        padding=pads,
        ceil_mode=ceil,
        layout=layout,
        **options,
    )
    (found,) = computed(body, params)
    expected = definitions.pool2d(data, size, strides, pads, mode=mode, ceil=ceil)
    close(found, expected.transpose(0, 2, 3, 1) if layout == "NHWC" else expected)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("name", ["global_avg_pool2d", "global_max_pool2d"])
def test_pools_of_everything(name: str, layout: str) -> None:
    x = drawn(2, 3, 4, 5)
    params = {var("x", x): x}
    (found,) = computed(getattr(relay.nn, name)(*params, layout=layout), params)
    axes = (2, 3) if layout == "NCHW" else (1, 2)
    reduce = np.mean if "avg" in name else np.max
    close(found, np.asarray(reduce(x.astype(np.float64), axis=axes, keepdims=True), np.float32))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_nearest_upsampling(layout: str) -> None:
    data = drawn(1, 2, 3, 4)
    x = np.ascontiguousarray(data.transpose(0, 2, 3, 1)) if layout == "NHWC" else data
    params = {var("x", x): x}
    (found,) = computed(relay.nn.upsampling(*params, scale_h=2, scale_w=3, layout=layout), params)
    expected = definitions.nearest(data, 2, 3)
    close(found, expected.transpose(0, 2, 3, 1) if layout == "NHWC" else expected)


@pytest.mark.parametrize("mode", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("size", [(6, 8), (5, 7), (2, 3)])
def test_linear_resizing(size: tuple[int, int], mode: str) -> None:
    data = drawn(1, 2, 3, 4)
    params = {var("x", data): data}
    body = relay.image.resize2d(*params, size=size, coordinate_transformation_mode=mode)
    (found,) = computed(body, params)
    close(found, definitions.linear(data, *size, mode))


def test_cubic_resizing_is_refused() -> None:
    x = relay.var("x", shape=(1, 2, 3, 4))
    with pytest.raises(UnsupportedError, match="has the method 'cubic'"):
        graph_of(Function([x], relay.image.resize2d(x, size=(6, 8), method="cubic")))


@pytest.mark.parametrize("dtype", ["float32", "int8", "int32"])
def test_shapes(dtype: str) -> None:
    data = drawn(2, 3, 1, 4, dtype=dtype)
    params = {var("x", data): data}
    (x,) = params
    cases = [
        (relay.reshape(x, newshape=(6, -1)), data.reshape(6, 4)),
        (relay.reshape(x, newshape=(0, -1)), data.reshape(2, 12)),
        (relay.squeeze(x, axis=[2]), data[:, :, 0]),
        (relay.squeeze(x), data[:, :, 0]),
        (relay.expand_dims(x, axis=1, num_newaxis=2), data[:, None, None]),
        (relay.nn.batch_flatten(x), data.reshape(2, 12)),
        (relay.transpose(x), data.transpose()),
        (relay.transpose(x, axes=(0, -1, 1, 2)), data.transpose(0, 3, 1, 2)),
        (relay.layout_transform(x, "NCHW", "NHWC"), data.transpose(0, 2, 3, 1)),
        (relay.broadcast_to(x, shape=(2, 3, 5, 4)), np.broadcast_to(data, (2, 3, 5, 4))),
        (relay.tile(x, reps=(2, 1, 3)), np.tile(data, (2, 1, 3))),
        (relay.tile(x, reps=(2, 1, 1, 1, 2)), np.tile(data, (2, 1, 1, 1, 2))),
        (relay.stack([x, x], axis=1), np.stack([data, data], 1)),
        (relay.stack([x, x], axis=-1), np.stack([data, data], -1)),
        (relay.concatenate([x, x, x], axis=-2), np.concatenate([data] * 3, -2)),
    ]
    found = computed(relay.Tuple([body for body, _ in cases]), params)
    for each, (_, expected) in zip(found, cases, strict=True):
        close(each, np.ascontiguousarray(expected))


def test_a_layout_that_splits_an_axis_is_refused() -> None:
    x = relay.var("x", shape=(1, 8, 2, 2))
    with pytest.raises(MicrogenError, match="an order of the letters NCHW4c"):
        graph_of(Function([x], relay.layout_transform(x, "NCHW", "NCHW4c")))


@pytest.mark.parametrize("mode", ["constant", "reflect"])
def test_pad(mode: str) -> None:
    data = drawn(2, 3, 4)
    params = {var("x", data): data}
    widths = ((0, 0), (1, 2), (2, 1))
    body = relay.nn.pad(*params, pad_width=widths, pad_value=1.5, pad_mode=mode)
    (found,) = computed(body, params)
    options = {"constant_values": 1.5} if mode == "constant" else {}
    close(found, np.pad(data, widths, mode, **options))  # type: ignore[call-overload]


def test_pad_of_integers() -> None:
    data = drawn(2, 3, dtype="int8")
    params = {var("x", data): data}
    (found,) = computed(relay.nn.pad(*params, pad_width=((1, 0), (0, 2)), pad_value=-7), params)
    close(found, np.pad(data, ((1, 0), (0, 2)), constant_values=-7))


def test_pad_with_a_computed_value_or_the_edge_is_refused() -> None:
    x, value = relay.var("x", shape=(4,)), relay.var("v", shape=())
    with pytest.raises(UnsupportedError, match="a pad_value that is computed"):
        graph_of(Function([x, value], relay.nn.pad(x, pad_width=((1, 1),), pad_value=value)))
    with pytest.raises(UnsupportedError, match="the pad_mode 'edge'"):
        graph_of(Function([x], relay.nn.pad(x, pad_width=((1, 1),), pad_mode="edge")))


@pytest.mark.parametrize(("mode", "numpys"), [("SYMMETRIC", "symmetric"), ("REFLECT", "reflect")])
def test_mirror_pad(mode: str, numpys: Any) -> None:
    data = drawn(3, 4)
    params = {var("x", data): data}
    (found,) = computed(relay.nn.mirror_pad(*params, ((1, 2), (2, 0)), mode), params)
    close(found, np.pad(data, ((1, 2), (2, 0)), numpys))


SLICES: list[tuple[dict[str, Any], Any]] = [
    ({"begin": (0, 1), "end": (2, 3)}, np.s_[0:2, 1:3]),
    ({"begin": (1,), "end": (4,)}, np.s_[1:4]),
    ({"begin": (-2, 0), "end": (10, -1)}, np.s_[-2:10, 0:-1]),
    ({"begin": (0, 0), "end": (4, 5), "strides": (2, 3)}, np.s_[0:4:2, 0:5:3]),
    ({"begin": (3, 4), "end": (-5, 0), "strides": (-1, -2)}, np.s_[3::-1, 4:0:-2]),
    ({"begin": (10,), "end": (0,), "strides": (-1,)}, np.s_[10:0:-1]),
    ({"begin": (1, 1), "end": (2, 3), "slice_mode": "size"}, np.s_[1:3, 1:4]),
    ({"begin": (1,), "end": (3,), "axes": (1,)}, np.s_[:, 1:3]),
]


@pytest.mark.parametrize(("attrs", "places"), SLICES)
def test_strided_slice(attrs: dict[str, Any], places: Any) -> None:
    data = drawn(4, 5)
    params = {var("x", data): data}
    (found,) = computed(relay.strided_slice(*params, **attrs), params)
    close(found, np.ascontiguousarray(data[places]))


@pytest.mark.parametrize(("sections", "axis"), [(3, 1), ((1, 4), 1), ((2,), -1), (1, 0)])
def test_split(sections: Any, axis: int) -> None:
    data = drawn(2, 6, 5)
    params = {var("x", data): data}
    whole = relay.split(*params, indices_or_sections=sections, axis=axis)
    expected = np.split(data, list(sections) if isinstance(sections, tuple) else sections, axis)
    for found, part in zip(computed(whole.astuple(), params), expected, strict=True):
        close(found, np.ascontiguousarray(part))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(("axis", "mode"), [(0, "clip"), (1, "clip"), (None, "clip"), (1, "fast")])
def test_take(axis: int | None, mode: str, dtype: str) -> None:
    data = drawn(3, 4, 2)
    places = np.array([[0, 2, 1], [2, 0, 0]] if mode == "fast" else [[0, 2, 99], [-5, 0, 1]], dtype)
    params = {var("x", data): data, var("i", places): places}
    (found,) = computed(relay.take(*params, axis=axis, mode=mode), params)
    limit = (data.size if axis is None else data.shape[axis]) - 1
    close(found, data.take(np.clip(places, 0, limit), axis))


def test_take_that_wraps_is_refused() -> None:
    x, i = relay.var("x", shape=(4,)), relay.var("i", shape=(2,), dtype="int32")
    with pytest.raises(UnsupportedError, match="take has the mode 'wrap'"):
        graph_of(Function([x, i], relay.take(x, i, axis=0, mode="wrap")))


def test_filled_tensors_are_constants() -> None:
    x = relay.var("x", shape=(2, 3))
    parts = [
        relay.zeros((2, 3), "float32"),
        relay.ones((3,), "float32"),
        relay.full(relay.const(2.5), (2, 1), "float32"),
    ]
    body = x
    for part in parts:
        body = relay.add(body, part)
    graph = graph_of(Function([x], body))
    assert {n.op for n in graph.nodes} == {"add"}
    data = drawn(2, 3)
    (found,) = computed(body, {x: data})
    close(found, data + np.float32(0) + np.float32(1) + np.float32(2.5))
