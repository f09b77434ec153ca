"""Relay models as firmware: built, run with sanitizers, compared layer by layer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen import relay
from microgen.graph.ir.graph import Array
from microgen.relay import Expr, Function, IRModule
from tests.frontends.relay import definitions
from tests.frontends.relay.evaluated import close
from tests.frontends.relay.random_networks import Network
from tests.planner.executors.test_graph import expected_demo
from tests.support.places import SEED_DEMO


def ran(
    model: Path | IRModule | Function,
    folder: Path,
    inputs: dict[str, Array] | None = None,
    board: str = "native",
    **options: Any,
) -> microgen.RunResult:
    """What the firmware gave, after every layer was found to be the reference's."""
    if isinstance(model, Function):
        model = IRModule.from_expr(model)
    microgen.generate(model, board, folder, **options)
    result = microgen.run(folder, inputs, compare=True, sanitize=board == "native")
    verdict = result.verdicts[0]
    assert verdict.ok, str(verdict)
    assert verdict.layers is not None, str(verdict)
    return result


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "channels", "size"),
    [
        ("native", 32, 14),
        ("qemu_riscv32", 4, 6),
        pytest.param("native", 32, 56, marks=pytest.mark.slow),
    ],
)
def test_the_seed_demo_runs(board: str, channels: int, size: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    c = channels  # fewer where floats are computed in software
    shapes = {"d1": (1, c, size, size), "w1": (c, c, 3, 3), "b1": (c,)}
    demo = SEED_DEMO.read_text()
    smaller = demo.replace("32)", f"{c})").replace("32,", f"{c},").replace("56", str(size))
    model = tmp_path / "seed.relay"
    model.write_text(smaller.replace(f"float{c}", "float32"))
    data = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    result = ran(model, tmp_path / "p", data, board)
    conv = definitions.conv2d(data["d1"], data["w1"], (1, 1), (1, 1, 1, 1), (1, 1), 1)
    (found,) = result.outputs.values()
    close(found, np.maximum(conv + data["b1"][:, None, None], 0))
    assert "there is none for .relay files" in str(result.verdicts[1])


def test_the_seed_demos_graph_is_the_notes() -> None:
    compiled = microgen.compile_model(SEED_DEMO, "mps3_an547", executor="graph")
    found = json.loads(compiled.files.files["model/executor-config/graph/default.graph"])
    assert len(found["nodes"][3]["attrs"].pop("hash")) == 16
    assert found == expected_demo()


def test_the_seed_demos_functions_and_files() -> None:
    compiled = microgen.compile_model(SEED_DEMO, "native")
    (function,) = compiled.program.functions
    assert function.name == "tvmgen_default_fused_nn_conv2d_nn_bias_add_nn_relu"
    assert [p.name for p in function.parameters] == ["in0", "in1", "in2", "out0", "scratch"]
    (call,) = compiled.program.calls
    assert dict(call.layouts) == {
        "data_layout": "NCHW",
        "kernel_layout": "OIHW",
        "out_layout": "",
    }
    assert compiled.files.files["model/src/default.relay"] == SEED_DEMO.read_bytes()


def test_the_seed_demo_built_in_python_is_the_same() -> None:
    d1 = relay.var("d1", shape=(1, 32, 56, 56), dtype="float32")
    w1 = relay.var("w1", shape=(32, 32, 3, 3), dtype="float32")
    b1 = relay.var("b1", shape=(32,), dtype="float32")
    conv = relay.nn.conv2d(d1, w1, strides=(1, 1), padding=(1, 1))
    function = Function([d1, w1, b1], relay.nn.relu(relay.nn.bias_add(conv, b1)))
    module = relay.transform.InferType()(IRModule.from_expr(function))
    built, read = (microgen.compile_model(m, "native") for m in (module, SEED_DEMO))
    sources = [name for name in read.files.files if name.startswith("model/codegen")]
    assert built.files.files["model/src/default.relay"] == SEED_DEMO.read_bytes()
    assert [len(built.files.files[n]) > 0 for n in sources] == [True] * len(sources)
    assert built.program.functions == read.program.functions


ALIASES = """
def @main(%x: Tensor[(2, 3), float32], %t: (Tensor[(2, 3), float32], int32)) {
  let %a = tanh(%x);
  let %pair = (%a, (%x, %t.0));
  %0 = %pair.1;
  let %b = add(%0.1, %a);
  %1 = reshape(%b, newshape=[3, 2]);
  (%b, %b, %x, %t.1, 2.5f, %pair, %1, (%1,), 2.5f)
}
"""


def test_tuples_lets_and_every_kind_of_output(tmp_path: Path) -> None:
    path = tmp_path / "aliases.relay"
    path.write_text(ALIASES)
    x = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
    inputs = {"x": x, "t.0": 10 * x, "t.1": np.array(7, np.int32)}
    result = ran(path, tmp_path / "p", inputs)
    a, half = np.tanh(x), np.array(2.5, np.float32)
    b = 10 * x + a
    expected = [b, b, x, np.array(7, np.int32), half, a, x, 10 * x, *[b.reshape(3, 2)] * 2, half]
    assert len(result.outputs) == len(expected)
    for found, wanted in zip(result.outputs.values(), expected, strict=True):
        close(found, wanted)


def _unaries(x: Expr, positive: Expr) -> list[Expr]:
    plain: list[Any] = [
        *(relay.tanh, relay.sigmoid, relay.exp, relay.abs, relay.negative, relay.copy),
        *(relay.nn.relu, relay.nn.softmax, relay.nn.log_softmax, relay.nn.batch_flatten),
        *(relay.nn.global_avg_pool2d, relay.nn.global_max_pool2d, relay.nn.leaky_relu),
        *(relay.sum, relay.mean, relay.max, relay.min, relay.argmax, relay.argmin),
    ]
    found = [function(x) for function in plain]
    found += [function(positive) for function in (relay.log, relay.sqrt, relay.rsqrt)]
    return [*found, *(relay.clip(x, *limits) for limits in ((0, 6), (-1, 1), (-0.5, 2.0)))]


def _shapes(x: Expr) -> list[Expr]:
    return [
        relay.transpose(x),
        relay.nn.softmax(x, axis=1),
        relay.stack([x, x], axis=1),
        relay.concatenate([x, x], axis=1),
        relay.split(x, indices_or_sections=2, axis=1)[1],
        relay.strided_slice(x, begin=(0, 1), end=(1, 4), strides=(1, 2)),
        relay.take(x, relay.const(np.array([2, 0], np.int32)), axis=2),
        relay.tile(x, reps=(1, 2, 1)),
        relay.broadcast_to(relay.mean(x, axis=(1,), keepdims=True), shape=(1, 4, 5, 6)),
        relay.nn.pad(x, pad_width=((0, 0), (1, 0), (0, 2), (1, 1)), pad_value=0.5),
        relay.nn.mirror_pad(x, ((0, 0), (1, 0), (0, 2), (1, 1)), "SYMMETRIC"),
        relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2), ceil_mode=True),
        relay.nn.avg_pool2d(x, pool_size=(3, 3), padding=(1, 1), count_include_pad=True),
        relay.nn.upsampling(x, scale_h=2, scale_w=2),
        relay.nn.upsampling(x, scale_h=2, scale_w=2, method="bilinear"),
        relay.nn.l2_normalize(x, eps=1e-3, axis=(1,)),
        relay.sum(x, axis=(1, 2)),
    ]


def _integers(i: Expr, narrow: Expr) -> list[Expr]:
    three = relay.const(np.array(3, np.int32))
    wide = [f(i, three) for f in (relay.add, relay.multiply, relay.divide, relay.maximum)]
    return [
        *wide,
        relay.sum(i, axis=(1,)),
        relay.clip(i, -5, 60),
        relay.cast(i, "int8"),
        relay.where(relay.less(i, three), i, three),
        relay.nn.relu(narrow),
        relay.less(narrow, relay.const(np.array(0, np.int8))),
        relay.maximum(narrow, relay.const(np.array(-3, np.int8))),
        relay.nn.max_pool2d(narrow, pool_size=(2, 2)),
        relay.max(narrow, axis=(1,)),
        relay.argmax(narrow, axis=(1,)),
        relay.cast(narrow, "float32"),
        relay.concatenate([narrow, narrow], axis=1),
    ]


def test_operators_have_kernels(tmp_path: Path) -> None:
    x, positive = (relay.var(name, shape=(1, 4, 5, 6)) for name in ("x", "positive"))
    i = relay.var("i", shape=(3, 4), dtype="int32")
    narrow = relay.var("narrow", shape=(1, 3, 4, 5), dtype="int8")
    w, depthwise = relay.var("w", shape=(6, 4, 3, 3)), relay.var("v", shape=(4, 1, 3, 3))
    u = relay.var("u", shape=(4, 2, 3, 3))
    products = [
        relay.nn.conv2d(x, w, dilation=(1, 2)),
        relay.nn.conv2d(x, depthwise, groups=4),
        relay.nn.conv2d_transpose(x, u, strides=(2, 2), channels=2, kernel_size=(3, 3)),
        relay.nn.dense(x, relay.const(np.ones((2, 6), np.float32))),
        relay.nn.prelu(x, relay.const(np.array([0.1, 0.2, 0.3, 0.4], np.float32))),
    ]
    parts = [*_unaries(x, positive), *_shapes(x), *_integers(i, narrow), *products]
    function = Function([x, positive, i, narrow, w, depthwise, u], relay.Tuple(parts))
    rng = np.random.default_rng(1)
    inputs: dict[str, Array] = {
        "x": rng.standard_normal((1, 4, 5, 6)).astype(np.float32),
        "positive": rng.uniform(0.1, 3, (1, 4, 5, 6)).astype(np.float32),
        "i": rng.integers(-100, 100, (3, 4)).astype(np.int32),
        "narrow": rng.integers(-128, 128, (1, 3, 4, 5)).astype(np.int8),
        "w": rng.standard_normal((6, 4, 3, 3)).astype(np.float32),
        "v": rng.standard_normal((4, 1, 3, 3)).astype(np.float32),
        "u": rng.standard_normal((4, 2, 3, 3)).astype(np.float32),
    }
    result = ran(function, tmp_path / "p", inputs)
    assert len(result.outputs) == len(parts)


def _network(seed: int, folder: Path) -> None:
    ran(Network(seed).function(12), folder)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(2))
def test_random_networks(seed: int, tmp_path: Path) -> None:
    _network(seed, tmp_path / "p")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 40))
def test_more_random_networks(seed: int, tmp_path: Path) -> None:
    _network(seed, tmp_path / "p")
