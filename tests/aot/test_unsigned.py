"""A network of uint8 weights and activations, as the MobileNets in TVM's tests have them, with all
kinds of pools. The reference is LiteRT."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import numpy as np
import pytest

import microgen
from tests.aot.native import CRT
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.each_compiled import UNOPTIMIZED
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_CC, NEEDS_NINJA

pytestmark = [needs_litert, NEEDS_NINJA, NEEDS_CC]
IMAGES = np.random.default_rng(3).integers(0, 256, (4, 1, 12, 12, 3), np.uint8)
RELU6 = 3


def _tensor(name: str, *shape: int, scale: float = 0.05, zero_point: int = 0) -> TensorSpec:
    return TensorSpec(name, shape, "uint8", scale=(scale,), zero_point=(zero_point,))


def _weights(name: str, *shape: int, seed: int) -> TensorSpec:
    data = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    return TensorSpec(name, shape, "uint8", data, scale=(0.01,), zero_point=(122,))


def _bias(name: str, count: int, scale: float) -> TensorSpec:
    data = np.arange(count, dtype=np.int32) * 37 - 100
    return TensorSpec(name, (count,), "int32", data, scale=(scale,), zero_point=(0,))


@functools.cache
def mobile(channels: int = 8) -> bytes:
    """A convolution, a depthwise and a pointwise one, global pooling and softmax, all of uint8."""
    tensors = [
        _tensor("image", 1, 12, 12, 3, scale=1 / 128, zero_point=128),
        _weights("w0", channels, 3, 3, 3, seed=1),
        _bias("b0", channels, 0.01 / 128),
        _tensor("first", 1, 6, 6, channels),
        _weights("w1", 1, 3, 3, channels, seed=2),
        _bias("b1", channels, 0.05 * 0.01),
        _tensor("depthwise", 1, 6, 6, channels),
        _weights("w2", 10, 1, 1, channels, seed=3),
        _bias("b2", 10, 0.05 * 0.01),
        _tensor("pointwise", 1, 6, 6, 10),
        _tensor("pooled", 1, 1, 1, 10),
        _tensor("MobilenetV1/Predictions/Reshape_1", 1, 1, 1, 10, scale=1 / 256),
    ]
    window = {"padding": 0, "strideH": 1, "strideW": 1, "fusedActivationFunction": RELU6}
    strided = {**window, "strideH": 2, "strideW": 2}
    pool = {"padding": 1, "strideH": 1, "strideW": 1, "filterHeight": 6, "filterWidth": 6}
    operators = [
        OperatorSpec("CONV_2D", ("image", "w0", "b0"), ("first",), "Conv2DOptions", strided),
        OperatorSpec(
            "DEPTHWISE_CONV_2D",
            ("first", "w1", "b1"),
            ("depthwise",),
            "DepthwiseConv2DOptions",
            {**window, "depthMultiplier": 1},
        ),
        OperatorSpec("CONV_2D", ("depthwise", "w2", "b2"), ("pointwise",), "Conv2DOptions", window),
        OperatorSpec("AVERAGE_POOL_2D", ("pointwise",), ("pooled",), "Pool2DOptions", pool),
        OperatorSpec(
            "SOFTMAX",
            ("pooled",),
            ("MobilenetV1/Predictions/Reshape_1",),
            "SoftmaxOptions",
            {"beta": 1.0},
        ),
    ]
    return build_model(tensors, operators, ["image"], ["MobilenetV1/Predictions/Reshape_1"])


def expected(model: bytes) -> np.ndarray:
    """LiteRT's results for all images."""
    interpreter = interpreter_of(model)
    interpreter.allocate_tensors()
    found = []
    for image in IMAGES:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image)
        interpreter.invoke()
        found.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return np.stack(found)


POOLS: dict[str, tuple[str, ...]] = {
    "internal": (),
    "external": ("a:*:external",),
    "two external": ("a:300:external", "b:*:external"),
    "constants external": ("a:*:external", "c:*:external:const"),
}


# In every run of the tests, each kind with inputs and outputs in the workspace or without, in turn.
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("pool", "workspace_io"),
    [
        pytest.param(
            *(pool, workspace_io),
            marks=[pytest.mark.slow] * ((i + workspace_io) % 2),
            id=f"{name}-{'with' if workspace_io else 'without'} inputs and outputs",
        )
        for i, (name, pool) in enumerate(POOLS.items())
        for workspace_io in (False, True)
    ],
)
def test_it_equals_litert_with_every_kind_of_pool(
    pool: tuple[str, ...], workspace_io: bool, tmp_path: Path
) -> None:
    (tmp_path / "m.tflite").write_bytes(mobile())
    done = microgen.generate(
        tmp_path / "m.tflite", "native", tmp_path / "p", pool=pool, workspace_io=workspace_io
    )
    assert len({placed.pool for placed in done.plan.placements}) == (2 if "b:" in str(pool) else 1)
    ran = microgen.run(tmp_path / "p", {"image": IMAGES})
    (found,) = ran.outputs.values()
    assert len(np.unique(expected(mobile()))) > 4
    np.testing.assert_array_equal(found.reshape(-1), expected(mobile()).reshape(-1))


def test_an_outputs_buffer_is_written_by_its_own_operator_only(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(mobile())
    program = microgen.compile_model(tmp_path / "m.tflite", "native").program
    writing = [
        call.function
        for call in program.calls
        if any(argument.name == "output" for argument in call.args)
    ]
    assert writing == [program.calls[-1].function]


MAIN = """
#include "tvmgen_mod1.h"
#include "tvmgen_mod2.h"
#include <stdio.h>
#define MAX(A, B) ((A) > (B) ? (A) : (B))
__attribute__((aligned(16))) static uint8_t pool[MAX(TVMGEN_MOD1_POOL_WORKSPACE_POOL_SIZE,
                                                    TVMGEN_MOD2_POOL_WORKSPACE_POOL_SIZE)];
static uint8_t image[TVMGEN_MOD1_IMAGE_SIZE] = {%s};
static uint8_t scores[10];

static int printed(int32_t status)
{
    for (int i = 0; i < 10; i++) {
        printf("%%d ", scores[i]);
    }
    return status;
}

int main(void)
{
    struct tvmgen_mod1_inputs in1 = {.image = image};
    struct tvmgen_mod2_inputs in2 = {.image = image};
    struct tvmgen_mod1_outputs out1 = {.MobilenetV1_Predictions_Reshape_1 = scores};
    struct tvmgen_mod2_outputs out2 = {.MobilenetV1_Predictions_Reshape_1 = scores};
    struct tvmgen_mod1_workspace_pools pools1 = {.pool = pool};
    struct tvmgen_mod2_workspace_pools pools2 = {.pool = pool};

    return printed(tvmgen_mod1_run(&in1, &out1, &pools1)) +
           printed(tvmgen_mod2_run(&in2, &out2, &pools2)) +
           printed(tvmgen_mod1_run(&in1, &out1, &pools1));
}
"""


def test_two_of_them_take_turns_in_one_pool_of_the_callers(tmp_path: Path) -> None:
    models = {"mod1": mobile(), "mod2": mobile(16)}
    command = ["cc", *UNOPTIMIZED, "-std=c99", "-Wall", "-Wextra", "-Werror"]
    command += [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-o",
        "app",
        f"-I{CRT / 'include'}",
    ]
    for name, model in models.items():
        (tmp_path / f"{name}.tflite").write_bytes(model)
        microgen.generate(
            *(tmp_path / f"{name}.tflite", "native", tmp_path / name),
            name=name,
            pool=("pool:*:external",),
        )
        host = tmp_path / name / "model/codegen/host"
        command += [f"-I{host / 'include'}", *map(str, sorted(host.glob("src/*.[cS]")))]
    (tmp_path / "main.c").write_text(MAIN % ", ".join(map(str, IMAGES[0].reshape(-1).tolist())))
    subprocess.run([*command, "main.c"], check=True, cwd=tmp_path)
    done = subprocess.run(["./app"], cwd=tmp_path, check=True, capture_output=True, text=True)
    first, second = (expected(model)[0].reshape(-1).tolist() for model in models.values())
    assert first != second
    assert list(map(int, done.stdout.split())) == [*first, *second, *first]
