"""Convolutions, dense layers, biases and batch normalisation, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from microgen import relay
from microgen.compiler import passes
from microgen.graph.ir.graph import Array
from microgen.relay import Function
from tests.frontends.relay import definitions
from tests.frontends.relay.evaluated import close, computed, graph_of, moved, outputs_of, var

LAYOUTS = ("NCHW", "NHWC", "CNHW")
IMPLEMENTATIONS = {"NCHW": "OIHW", "NHWC": "HWIO", "CNHW": "OHWI"}
Pair = tuple[int, int]


def floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


CONVOLUTIONS = [
    # channels, filters, groups, kernel, strides, padding as given, dilation
    (3, 4, 1, (3, 3), (1, 1), (1, 1), (1, 1)),
    (4, 6, 2, (2, 3), (2, 1), (0, 1, 2, 3), (1, 1)),
    (2, 5, 1, (1, 1), (2, 2), (0,), (1, 1)),
    (3, 2, 1, (3, 2), (1, 2), (2,), (2, 3)),
    (1, 3, 1, (5, 5), (1, 1), (2, 2), (1, 1)),
]


def four(padding: tuple[int, ...]) -> tuple[int, int, int, int]:
    times = 4 // len(padding)
    top, left, bottom, right = padding * times
    return top, left, bottom, right


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_conv2d(
    case: tuple[int, int, int, Pair, Pair, tuple[int, ...], Pair], is_constant: bool, layout: str
) -> None:
    channels, filters, groups, kernel, strides, padding, dilation = case
    rng = np.random.default_rng(channels * 7 + filters)
    data = floats(rng, 2, channels, 7, 8)
    weight = floats(rng, filters, channels // groups, *kernel)
    x = moved(data, "NCHW", layout)
    w = moved(weight, "OIHW", IMPLEMENTATIONS[layout])
    params = {var("x", x): x}
    given = relay.const(w) if is_constant else var("w", w)
    if not is_constant:
        params[given] = w
    body = relay.nn.conv2d(
        next(iter(params)),
        given,
        strides=strides,
        padding=padding,
        dilation=dilation,
        groups=groups,
        data_layout=layout,
        kernel_layout=IMPLEMENTATIONS[layout],
        out_layout="NCHW",
    )
    (found,) = computed(body, params)
    close(found, definitions.conv2d(data, weight, strides, four(padding), dilation, groups))


@pytest.mark.parametrize("kernel_layout", ["OIHW", "HWOI"])
@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise_conv2d(multiplier: int, kernel_layout: str) -> None:
    rng = np.random.default_rng(multiplier)
    data, weight = floats(rng, 1, 3, 6, 5), floats(rng, 3, multiplier, 3, 2)
    expected = definitions.depthwise(data, weight, (1, 2), (1, 0, 1, 0), (1, 1))
    w = moved(weight, "OIHW", kernel_layout)
    params = {var("x", data): data, var("w", w): w}
    x, given = params
    body = relay.nn.conv2d(
        x, given, strides=(1, 2), padding=(1, 0), groups=3, kernel_layout=kernel_layout
    )
    assert [n.op for n in graph_of(Function([x, given], body)).nodes].count(
        "nn.depthwise_conv2d"
    ) == 1
    (found,) = computed(body, params)
    close(found, expected)


def test_depthwise_conv2d_whose_filters_count_both() -> None:
    rng = np.random.default_rng(5)
    data, weight = floats(rng, 1, 3, 6, 5), floats(rng, 6, 1, 3, 3)
    params = {var("x", data): data, var("w", weight): weight}
    (found,) = computed(relay.nn.conv2d(*params, groups=3), params)
    close(found, definitions.conv2d(data, weight, (1, 1), (0, 0, 0, 0), (1, 1), 3))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(
    ("kernel", "strides", "pads", "extra"),
    [
        ((3, 3), (2, 2), (1, 1, 1, 1), (0, 0)),
        ((3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
        ((2, 4), (1, 3), (0, 1, 1, 2), (0, 0)),
        ((2, 2), (2, 2), (0, 0, 0, 0), (0, 0)),
    ],
)
def test_conv2d_transpose(
    kernel: Pair, strides: Pair, pads: tuple[int, int, int, int], extra: Pair, layout: str
) -> None:
    rng = np.random.default_rng(3)
    data, weight = floats(rng, 2, 3, 4, 5), floats(rng, 3, 4, *kernel)
    x = moved(data, "NCHW", layout)
    params = {var("x", x): x, var("w", weight): weight}
    body = relay.nn.conv2d_transpose(
        *params,
        strides=strides,
        padding=pads,
        output_padding=extra,
        data_layout=layout,
        kernel_layout="IOHW",
        channels=4,
        kernel_size=kernel,
    )
    (found,) = computed(body, params)
    expected = definitions.conv2d_transpose(data, weight, strides, pads, extra)
    close(found, moved(expected, "NCHW", layout))


@pytest.mark.parametrize("shape", [(5,), (1, 5), (4, 5), (2, 3, 5)])
def test_dense(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    data, weight, bias = floats(rng, *shape), floats(rng, 3, 5), floats(rng, 3)
    params = {var("x", data): data, var("w", weight): weight, var("b", bias): bias}
    x, w, b = params
    (found,) = computed(relay.nn.bias_add(relay.nn.dense(x, w), b, axis=-1), params)
    close(found, (data.astype(np.float64) @ weight.T + bias).astype(np.float32))


@pytest.mark.parametrize("transposes", [(False, False), (False, True), (True, False), (True, True)])
def test_batch_matmul(transposes: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(1)
    a, b = floats(rng, 2, 3, 4), floats(rng, 2, 4, 5)
    lhs = np.ascontiguousarray(a.transpose(0, 2, 1)) if transposes[0] else a
    rhs = np.ascontiguousarray(b.transpose(0, 2, 1)) if transposes[1] else b
    params = {var("a", lhs): lhs, var("b", rhs): rhs}
    body = relay.nn.batch_matmul(*params, transpose_a=transposes[0], transpose_b=transposes[1])
    (found,) = computed(body, params)
    close(found, (a.astype(np.float64) @ b).astype(np.float32))


@pytest.mark.parametrize(("rank", "axis"), [(4, 1), (4, 3), (4, -2), (2, 1), (3, 0), (1, 0)])
def test_bias_add_by_itself(rank: int, axis: int) -> None:
    rng = np.random.default_rng(rank)
    data = floats(rng, *(2, 3, 4, 5)[:rank])
    bias = floats(rng, data.shape[axis])
    params = {var("x", data): data, var("b", bias): bias}
    (found,) = computed(relay.nn.bias_add(*params, axis=axis), params)
    close(found, data + definitions.along(bias, axis % rank, rank))


@pytest.mark.parametrize("kind", ["bias_add", "add", "add_swapped"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_a_bias_after_a_convolution_is_its_own(layout: str, kind: str) -> None:
    rng = np.random.default_rng(2)
    data, weight, bias = floats(rng, 1, 3, 5, 5), floats(rng, 4, 3, 3, 3), floats(rng, 4)
    x = moved(data, "NCHW", layout)
    shape = {"bias_add": (4,), "NCHW": (4, 1, 1), "NHWC": (4,)}[
        kind if kind == "bias_add" else layout
    ]
    b = bias.reshape(shape)
    params = {var("x", x): x, var("w", weight): weight, var("b", b): b}
    v, w, c = params
    conv = relay.nn.conv2d(v, w, data_layout=layout)
    axis = layout.index("C")
    body = {
        "bias_add": lambda: relay.nn.bias_add(conv, c, axis=axis),
        "add": lambda: relay.add(conv, c),
        "add_swapped": lambda: relay.add(c, conv),
    }[kind]()
    function = Function(list(params), relay.nn.relu(body))
    nodes = [
        n
        for n in passes.run(graph_of(function)).nodes
        if n.op not in ("layout_transform", "reshape")
    ]
    assert [(n.op, len(n.inputs)) for n in nodes] == [("nn.conv2d", 3)]
    (found,) = computed(relay.nn.relu(body), params)
    expected = definitions.conv2d(data, weight, (1, 1), (0, 0, 0, 0), (1, 1), 1)
    expected = np.maximum(expected + bias[:, None, None], 0)
    close(found, moved(expected, "NCHW", layout))


def test_a_convolution_that_others_read_keeps_its_own_result() -> None:
    rng = np.random.default_rng(2)
    data, weight, bias = floats(rng, 1, 3, 5, 5), floats(rng, 4, 3, 3, 3), floats(rng, 4)
    params = {var("x", data): data, var("w", weight): weight, var("b", bias): bias}
    x, w, b = params
    conv = relay.nn.conv2d(x, w)
    plain, biased = computed(relay.Tuple([conv, relay.nn.bias_add(conv, b)]), params)
    expected = definitions.conv2d(data, weight, (1, 1), (0, 0, 0, 0), (1, 1), 1)
    close(plain, expected)
    close(biased, expected + bias[:, None, None])


def test_an_add_that_is_no_bias_stays() -> None:
    rng = np.random.default_rng(2)
    data, weight, rows = floats(rng, 1, 3, 6, 6), floats(rng, 4, 3, 3, 3), floats(rng, 4, 1)
    params = {var("x", data): data, var("w", weight): weight, var("r", rows): rows}
    x, w, r = params
    (found,) = computed(relay.add(relay.nn.conv2d(x, w), r), params)
    close(found, definitions.conv2d(data, weight, (1, 1), (0, 0, 0, 0), (1, 1), 1) + rows)


def statistics(rng: np.random.Generator, channels: int) -> list[Array]:
    gamma, beta, mean = (floats(rng, channels) for _ in range(3))
    return [gamma, beta, mean, rng.uniform(0.1, 2, channels).astype(np.float32)]


@pytest.mark.parametrize(("center", "scale"), [(True, True), (False, True), (True, False)])
@pytest.mark.parametrize("is_constant", [True, False])
def test_batch_norm_by_itself(is_constant: bool, center: bool, scale: bool) -> None:
    rng = np.random.default_rng(3)
    data, given = floats(rng, 2, 3, 4, 5), statistics(rng, 3)
    params = {var("x", data): data}
    (x,) = params
    values = [relay.const(a) if is_constant else var(f"s{i}", a) for i, a in enumerate(given)]
    if not is_constant:
        params.update(zip(values, given, strict=True))
    body = relay.nn.batch_norm(x, *values, epsilon=1e-3, center=center, scale=scale)[0]
    (found,) = computed(body, params)
    gamma, beta, *rest = given
    gamma, beta = gamma if scale else np.ones_like(gamma), beta if center else np.zeros_like(beta)
    close(found, definitions.batch_norm(data, gamma, beta, *rest, 1, 1e-3))


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("what", ["conv2d", "depthwise", "dense"])
def test_batch_norm_goes_into_the_weights_before_it(what: str, has_bias: bool) -> None:
    rng = np.random.default_rng(4)
    data = floats(rng, 2, 4, 5, 5) if what != "dense" else floats(rng, 3, 6)
    weight = {"conv2d": (4, 4, 3, 3), "depthwise": (4, 1, 3, 3), "dense": (4, 6)}[what]
    w, given, bias = floats(rng, *weight), statistics(rng, 4), floats(rng, 4)
    params = {var("x", data): data}
    (x,) = params
    zeros = (0, 0, 0, 0)
    if what == "dense":
        body, expected = relay.nn.dense(x, relay.const(w)), data @ w.T
    else:
        groups = 4 if what == "depthwise" else 1
        body = relay.nn.conv2d(x, relay.const(w), groups=groups)
        expected = definitions.conv2d(data, w, (1, 1), zeros, (1, 1), groups)
    if has_bias:
        body = relay.nn.bias_add(body, relay.const(bias))
        expected = expected + definitions.along(bias, 1, data.ndim)
    body = relay.nn.batch_norm(body, *map(relay.const, given))[0]
    graph = passes.run(graph_of(Function([x], body)))
    assert len([n for n in graph.nodes if n.op not in ("layout_transform", "reshape")]) == 1
    (found,) = outputs_of(graph_of(Function([x], body)), [data])
    close(found, definitions.batch_norm(expected, *given, 1, 1e-5))


def test_batch_norm_gives_back_its_statistics() -> None:
    rng = np.random.default_rng(3)
    data, given = floats(rng, 1, 3, 2, 2), statistics(rng, 3)
    params = {var("x", data): data}
    whole = relay.nn.batch_norm(*params, *map(relay.const, given))
    _, mean, variance = computed(whole.astuple(), params)
    close(mean, given[2])
    close(variance, given[3])
