"""qnn operators against TVM's definitions: what patterns become, and every operator by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from microgen import kernels, relay
from microgen.base.errors import UnsupportedError
from microgen.compiler import passes
from microgen.graph.ir.graph import Array, Graph
from microgen.relay import Expr, Function, Var
from tests.frontends.relay.evaluated import computed, graph_of, moved, outputs_of, var
from tests.kernels.conformance import tvm_oracle as tvm
from tests.kernels.quantization.requantizing import is_for_any_rounding

LAYOUTS = {"NCHW": "OIHW", "NHWC": "HWIO"}
PADS = (1, 0, 2, 1)
SCALES = np.float32([0.01, 0.002, 0.0625, 0.03])
OUT = (0.5, -9)


def int8(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


def f32(value: object) -> Expr:
    return relay.const(np.array(value, np.float32))


def i32(value: object) -> Expr:
    return relay.const(np.array(value, np.int32))


def requantize(
    x: Expr, scale: object, zero_point: object, to: tuple[float, int], **attrs: object
) -> Expr:
    dtype = attrs.pop("out_dtype", "int8")
    parameters = (f32(scale), i32(zero_point), f32(to[0]), i32(to[1]))
    found: Expr = relay.qnn.op.requantize(x, *parameters, out_dtype=dtype, **attrs)
    return found


def conv2d(x: Expr, w: Array, zero_point: int, layout: str, **attrs: object) -> Expr:
    weight = relay.const(moved(w, "OHWI", LAYOUTS[layout]))
    found: Expr = relay.qnn.op.conv2d(
        x,
        weight,
        i32(zero_point),
        i32(0),
        f32(0.1),
        f32(0.1),
        kernel_size=w.shape[1:3],
        channels=w.shape[0],
        data_layout=layout,
        kernel_layout=LAYOUTS[layout],
        **{"strides": (1, 2), "padding": PADS, **attrs},
    )
    return found


def fitting(graph: Graph) -> list[list[str]]:
    """The kernels that take each node, of a CPU that has everything but vectors. Without any, the
    node's op."""
    found = []
    for node in passes.run(graph).nodes:
        symbols = [
            kernel.symbol
            for kernel in kernels.registry().get(node.op, ())
            if "mve" not in kernel.symbol and not kernel.refusal(node, graph)
        ]
        found.append(symbols or [node.op])
    return found


def named(symbols: Sequence[str], fast: str, plain: str) -> bool:
    """Whether both kernels are among these, ``plain`` is the last resort, and all others have its
    rounding, or the upward one, with which ties that are rounded to nearest are served, too."""
    others = [symbol for symbol in symbols[:-1] if not is_for_any_rounding(symbol)]
    agree = all("upward" in symbol or symbol.startswith(plain) for symbol in others)
    return fast in symbols and symbols[-1] == plain and agree


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rounding", ["None", "UPWARD", "TONEAREST"])
@pytest.mark.parametrize("scales", [SCALES, SCALES[2]], ids=["per channel", "per tensor"])
def test_a_convolution_takes_bias_and_requantize(layout: str, rounding: str, scales: Array) -> None:
    data, w = int8(1, 2, 6, 7, 3), int8(2, 4, 3, 2, 3)
    bias = np.int32([100, -2000, 30, 7])
    x = moved(data, "NHWC", layout)
    axis = layout.index("C")
    given = var("x", x)
    sums = relay.nn.bias_add(conv2d(given, w, 5, layout), relay.const(bias), axis=axis)
    body = requantize(sums, scales, 0, OUT, axis=axis, rounding=rounding)
    graph = graph_of(Function([given], body))
    (found,) = outputs_of(graph, [x])
    way = "UPWARD" if rounding == "None" else rounding
    exact = tvm.conv2d(data, w, 5, (1, 2), PADS) + bias
    expected = tvm.requantize(exact, np.atleast_1d(scales).tolist(), 0, OUT, way, "int8", 3)
    np.testing.assert_array_equal(moved(found, layout, "NHWC"), expected)
    (convolution,) = (found for found in fitting(graph) if found[0].startswith("mg_conv"))
    plain = "mg_conv2d_s8_nearest" if way == "TONEAREST" else "mg_conv2d_s8_upward"
    assert named(convolution, "mg_conv2d_s8_upward_dsp", plain)
    assert "qnn.rescale" not in [node.op for node in graph.nodes]


def test_sums_that_two_calls_read_stay() -> None:
    data, w = int8(1, 1, 4, 4, 3), int8(2, 4, 3, 2, 3)
    x = var("x", data)
    sums = conv2d(x, w, -3, "NHWC")
    body = relay.Tuple([requantize(sums, SCALES, 0, OUT, axis=3), sums])
    graph = graph_of(Function([x], body))
    exact = tvm.conv2d(data, w, -3, (1, 2), PADS)
    scaled, plain = outputs_of(graph, [data])
    np.testing.assert_array_equal(plain, exact)
    expected = tvm.requantize(exact, SCALES.tolist(), 0, OUT, "UPWARD", "int8", 3)
    np.testing.assert_array_equal(scaled, expected)
    assert fitting(graph) == [["qnn.reinterpret"], ["mg_conv2d_s8_s32"], ["mg_rescale_int"]]


@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise_convolutions(multiplier: int) -> None:
    data, w = int8(3, 1, 5, 5, 3), int8(4, 3 * multiplier, 2, 2, 1)
    x = var("x", data)
    weight = relay.const(np.ascontiguousarray(w.reshape(3, multiplier, 2, 2).transpose(2, 3, 0, 1)))
    sums = relay.qnn.op.conv2d(
        *(x, weight, i32(0), i32(0), f32(1), f32(1)),
        kernel_size=(2, 2),
        channels=3 * multiplier,
        groups=3,
        data_layout="NHWC",
        kernel_layout="HWOI",
        out_dtype="int32",
    )
    graph = graph_of(Function([x], requantize(sums, 0.0078125, 0, OUT)))
    exact = np.concatenate(
        [
            tvm.conv2d(data[..., k // multiplier, None], w[k : k + 1], 0, (1, 1), (0,) * 4)
            for k in range(len(w))
        ],
        axis=3,
    )
    (found,) = outputs_of(graph, [data])
    expected = tvm.requantize(exact, [0.0078125], 0, OUT, "UPWARD", "int8")
    np.testing.assert_array_equal(found, expected)
    plain = "mg_depthwise_conv2d_s8_upward"
    (symbols,) = fitting(graph)
    assert named(symbols, f"{plain}_dsp" if multiplier == 1 else plain, plain)


@pytest.mark.parametrize("rounding", ["UPWARD", "TONEAREST"])
def test_dense(rounding: str) -> None:
    data, w = int8(5, 3, 20), int8(6, 4, 20)
    x = var("x", data)
    sums = relay.qnn.op.dense(
        *(x, relay.const(w), i32(-4), i32(0), f32(1), f32(1)), units=4, out_dtype="int32"
    )
    exact = (data.astype(np.int32) + 4) @ w.T.astype(np.int32)
    (found,) = computed(sums, {x: data})
    np.testing.assert_array_equal(found, exact)
    graph = graph_of(Function([x], requantize(sums, SCALES, 0, OUT, axis=1, rounding=rounding)))
    (found,) = outputs_of(graph, [data])
    expected = tvm.requantize(exact, SCALES.tolist(), 0, OUT, rounding, "int8", 1)
    np.testing.assert_array_equal(found, expected)
    fast, plain = {
        "UPWARD": ("mg_dense_s8_upward_dsp", "mg_dense_s8_upward_portable"),
        "TONEAREST": ("mg_dense_s8_dsp", "mg_dense_s8"),
    }[rounding]
    assert named(fitting(graph)[-1], fast, plain)


@pytest.mark.parametrize(
    ("low", "high", "ops"),
    [
        (-128, 127, ["nn.conv2d"]),
        (-9, 127, ["nn.conv2d"]),  # relu
        (-9, 3, ["nn.conv2d"]),  # relu6: 6 / 0.5 - 9
        (-20, 50, ["nn.conv2d", "maximum", "minimum"]),
    ],
)
def test_clips_after_requantize(low: int, high: int, ops: list[str]) -> None:
    data, w = int8(1, 1, 5, 5, 3), int8(2, 4, 3, 2, 3)
    x = var("x", data)
    scaled = requantize(conv2d(x, w, 0, "NHWC"), SCALES, 0, OUT, axis=3)
    graph = graph_of(Function([x], relay.clip(scaled, low, high)))
    (found,) = outputs_of(graph, [data])
    exact = tvm.conv2d(data, w, 0, (1, 2), PADS)
    expected = tvm.requantize(exact, SCALES.tolist(), 0, OUT, "UPWARD", "int8", 3)
    np.testing.assert_array_equal(found, np.clip(expected, low, high))
    assert [node.op for node in passes.run(graph).nodes] == ops


@pytest.mark.parametrize("source", ["int8", "int16", "int32"])
@pytest.mark.parametrize("target", ["int8", "int16", "int32"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_requantize_by_itself(source: str, target: str, axis: int) -> None:
    rng = np.random.default_rng(7)
    limits = np.iinfo(source)
    data = rng.integers(limits.min // 2, limits.max // 2, (2, 4, 4)).astype(source)
    scales = (SCALES if axis else SCALES[:2]).tolist()
    to = (0.25, 0 if target == "int16" else 3)
    x = var("x", data)
    body = requantize(x, scales, -7, to, axis=axis, rounding="TONEAREST", out_dtype=target)
    (found,) = computed(body, {x: data})
    expected = tvm.requantize(data, scales, -7, to, "TONEAREST", target, axis % 3)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("op", ["add", "subtract", "mul"])
def test_elementwise(op: str) -> None:
    lhs, rhs = int8(8, 2, 1, 30), int8(9, 4, 30)
    a, b = var("a", lhs), var("b", rhs)
    of = ((0.5, 3), (0.125, -128), (0.25, 17))
    parameters = [make(v) for pair in of for make, v in zip((f32, i32), pair, strict=True)]
    (found,) = computed(getattr(relay.qnn.op, op)(a, b, *parameters), {a: lhs, b: rhs})
    np.testing.assert_array_equal(found, tvm.elementwise(f"qnn.{op}", lhs, rhs, of, "UPWARD"))


def test_concatenate_requantizes_what_differs() -> None:
    arrays = [int8(10, 2, 3), int8(11, 2, 1), int8(12, 2, 2)]
    names = [var(name, array) for name, array in zip("abc", arrays, strict=True)]
    of = [(0.5, 3), (0.25, 1), (0.5, 4)]
    body = relay.qnn.op.concatenate(
        relay.Tuple(names),
        relay.Tuple([f32(s) for s, _ in of]),
        relay.Tuple([i32(z) for _, z in of]),
        f32(0.5),
        i32(3),
        axis=-1,
    )
    graph = graph_of(Function(names, body))
    (found,) = outputs_of(graph, arrays)
    parts = [
        tvm.requantize(array, [s], z, of[0], "UPWARD", "int8")
        for array, (s, z) in zip(arrays, of, strict=True)
    ]
    np.testing.assert_array_equal(found, np.concatenate(parts, axis=1))
    assert [n.op for n in graph.nodes].count("qnn.rescale") == 2


@pytest.mark.parametrize(("dtype", "to"), [("int8", (0.5, -3)), ("int32", (1e-4, 0))])
def test_quantize_and_dequantize(dtype: str, to: tuple[float, int]) -> None:
    data = np.float32([0.25, -0.25, 0.75, -1.25, 300, -300, 1.1, 2.5e5])
    x = var("x", data)
    (stored,) = computed(
        relay.qnn.op.quantize(x, f32(to[0]), i32(to[1]), out_dtype=dtype), {x: data}
    )
    np.testing.assert_array_equal(stored, tvm.quantize(data, to, dtype))
    s = var("s", stored)
    (real,) = computed(relay.qnn.op.dequantize(s, f32(to[0]), i32(to[1])), {s: stored})
    np.testing.assert_array_equal(real, tvm.dequantize(stored, to))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_average_pools_of_int32_are_truncated(layout: str) -> None:
    data = moved(int8(13, 1, 4, 6, 2), "NHWC", layout)
    x = var("x", data)
    wide = relay.cast(x, "int32")
    pool = relay.nn.avg_pool2d(wide, pool_size=(2, 3), strides=(2, 3), layout=layout)
    (found,) = computed(relay.cast(pool, "int8"), {x: data})
    blocks = moved(data, layout, "NHWC").astype(np.int32).reshape(1, 2, 2, 2, 3, 2)
    means = np.trunc(blocks.sum(axis=(2, 4)) / 6).astype(np.int8)
    np.testing.assert_array_equal(moved(found, layout, "NHWC"), means)
    (whole,) = computed(relay.nn.global_avg_pool2d(wide, layout=layout), {x: data})
    mean = np.trunc(moved(data, layout, "NHWC").astype(np.int32).sum(axis=(1, 2)) / 24)
    np.testing.assert_array_equal(whole.reshape(-1), mean.reshape(-1).astype(np.int32))


def test_plain_integer_operators_between() -> None:
    data = int8(14, 1, 4, 4, 2)
    x = var("x", data)
    pooled = relay.nn.max_pool2d(relay.nn.relu(x), pool_size=(2, 2), strides=(2, 2), layout="NHWC")
    body = relay.add(relay.cast(pooled, "int32"), relay.const(np.int32([5, -300])))
    (found,) = computed(body, {x: data})
    best = np.maximum(data, 0).reshape(1, 2, 2, 2, 2, 2).max(axis=(2, 4)).astype(np.int32)
    np.testing.assert_array_equal(found, best + np.int32([5, -300]))


def refused(params: Sequence[Var], body: Expr) -> str:
    with pytest.raises(UnsupportedError) as caught:
        graph_of(Function(list(params), body))
    return str(caught.value)


def test_refusals_name_operator_and_reason() -> None:
    x, w = relay.var("x", shape=(2, 4), dtype="int8"), relay.const(int8(0, 3, 4))
    u, z = relay.var("u", shape=(2, 4), dtype="uint8"), relay.var("z", shape=(), dtype="int32")
    one, zero = f32(1), i32(0)
    dense = relay.qnn.op.dense
    assert "qnn.dense of uint8[2,4] has no kernel; supported: int8" in refused(
        [u], dense(u, w, zero, zero, one, one, units=3, out_dtype="int32")
    )
    assert "qnn.dense has weights with a zero point; supported: zero point 0" in refused(
        [x], dense(x, w, zero, i32(1), one, one, units=3, out_dtype="int32")
    )
    assert "has a scale or zero point (argument 2) that is computed" in refused(
        [x, z], dense(x, w, z, zero, one, one, units=3, out_dtype="int32")
    )
    assert "has the compute_dtype 'float32'; supported: 'int64'" in refused(
        [x], requantize(x, 1, 0, OUT, compute_dtype="float32")
    )
    assert "has the out_dtype uint8" in refused([x], requantize(x, 1, 0, OUT, out_dtype="uint8"))
    assert "has different input_zero_points" in refused(
        [x], requantize(x, [1, 1, 1, 1], [0, 1, 0, 0], OUT)
    )
    assert "has 4 scales and 4 zero points" in refused(
        [x], relay.qnn.op.dequantize(x, f32([1] * 4), i32([0] * 4), axis=1)
    )
    assert "qnn.add of uint8[2,4] has no kernel" in refused(
        [u], relay.qnn.op.add(u, u, *(one, zero) * 3)
    )
