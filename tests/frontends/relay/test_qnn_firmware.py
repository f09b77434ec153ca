"""A quantized network as firmware: what kernels of its roundings, or those that costs choose, give
on the host and on a board, layer by layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import relay
from microgen.base import manifest
from microgen.relay import Expr, IRModule
from tests.frontends.relay.test_qnn import conv2d, f32, i32, int8, requantize
from tests.support import forced
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

IMPLEMENTATIONS = [
    "mg_conv2d_s8_upward_dsp",
    "mg_max_pool2d_s8",
    "mg_conv2d_s8_upward_dsp",  # with multipliers that move ties away from zero
    "mg_rescaled_add_s8",
    "mg_cast",
    "mg_avg_pool2d_s32",
    "mg_cast",
    "mg_dense_s8_upward_dsp",
    "mg_dequantize_f32",
]


def _network(layout: str, size: int) -> IRModule:
    """Convolutions of both roundings, a residual, a mean in int32, a dense layer."""
    axis = layout.index("C")
    x = relay.var("x", shape=(1, size, size, 3) if axis == 3 else (1, 3, size, size), dtype="int8")
    window = {"strides": (1, 1), "padding": (1, 1)}
    scales = np.linspace(1e-3, 6e-3, 8)
    sums = conv2d(x, int8(1, 8, 3, 3, 3), -5, layout, **window)
    bias = relay.const(np.arange(8, dtype=np.int32) * 100 - 300)
    first = requantize(relay.nn.bias_add(sums, bias, axis=axis), scales, 0, (0.5, -128), axis=axis)
    relu = relay.clip(first, -128, 127)
    pooled = relay.nn.max_pool2d(relu, pool_size=(2, 2), strides=(2, 2), layout=layout)
    sums = conv2d(pooled, int8(2, 8, 3, 3, 8), -128, layout, **window)
    second = requantize(sums, 0.002, 0, (0.5, 3), axis=axis, rounding="TONEAREST")
    both = relay.qnn.op.add(pooled, second, f32(0.5), i32(-128), f32(0.5), i32(3), f32(0.7), i32(0))
    return IRModule.from_expr(relay.Function([x], _head(both, layout)))


def _head(x: Expr, layout: str) -> Expr:
    mean = relay.nn.global_avg_pool2d(relay.cast(x, "int32"), layout=layout)
    flat = relay.nn.batch_flatten(relay.cast(mean, "int8"))
    weight = relay.const(int8(3, 10, 8))
    sums = relay.qnn.op.dense(
        flat, weight, i32(0), i32(0), f32(0.7), f32(0.01), units=10, out_dtype="int32"
    )
    logits = requantize(sums, 0.007, 0, (0.1, 1), axis=1)
    return relay.Tuple([relay.qnn.op.dequantize(logits, f32(0.1), i32(1)), logits])


def _model(folder: Path, layout: str, size: int) -> Path:
    """The network as files: text, and constants beside it."""
    path = folder / "net.relay"
    relay.save(relay.infer_type(_network(layout, size)), path, {})
    return path


def _assert_equal(result: microgen.RunResult) -> None:
    verdict = result.verdicts[0]
    assert verdict.ok, str(verdict)
    assert verdict.layers is not None, str(verdict)


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_on_the_host(layout: str, tmp_path: Path) -> None:
    microgen.generate(_model(tmp_path, layout, 12), "native", tmp_path / "p")
    _assert_equal(microgen.run(tmp_path / "p", compare=True, sanitize=True))


@pytest.mark.sampled(1)
@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize("is_given", [False, True], ids=["costs decide", "given"])
def test_on_a_board(is_given: bool, tmp_path: Path) -> None:
    project, board, model = tmp_path / "p", "mps2_an386", _model(tmp_path, "NCHW", 8)
    given = forced.first(model, board, tmp_path / "s.json", lambda k: k.symbol in IMPLEMENTATIONS)
    microgen.generate(model, board, project, schedule=given if is_given else "")
    microgen.build(project)
    steps = [step for call in manifest.load(project).calls for step in call.steps]
    kernels = [s.kernel for s in steps if s.op != "layout_transform"]
    assert (kernels == IMPLEMENTATIONS) is is_given
    assert microgen.verify(project).ok
    _assert_equal(microgen.run(project, compare=True))
