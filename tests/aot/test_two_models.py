"""Two models, generated separately, in one program of the caller's: their names do not clash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen import relay
from microgen.project.firmware.compiled import Compiled
from microgen.relay import Function
from tests.aot.native import AHEAD_OF_TIME, CRT, compiled
from tests.support.each_compiled import UNOPTIMIZED
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA

_MAIN = """
#include "tvmgen_mod1.h"
#include "tvmgen_mod2.h"
#include <stdio.h>
%s
int main(void)
{
    float x = 0.5F, same = 0.0F, data[64], sums[64];
    int i;

    for (i = 0; i < 64; i++) {
        data[i] = (float)i;
    }
    if (%s || %s) {
        return 1;
    }
    printf("%%g", same);
    for (i = 0; i < 64; i++) {
        printf(" %%g", sums[i]);
    }
    return 0;
}
"""
_PACKED = """
#include "tvm/runtime/c_runtime_api.h"
static int32_t called(int32_t (*run)(void *, void *, int, void *, void *, void *), void *in,
                      void *out, int ndim, int64_t *shape)
{
    DLTensor tensors[2] = {{0}};
    TVMValue values[2];
    int i, codes[2] = {kTVMDLTensorHandle, kTVMDLTensorHandle};
    for (i = 0; i < 2; i++) {
        tensors[i].data = i == 0 ? in : out;
        tensors[i].device.device_type = kDLCPU;
        tensors[i].ndim = ndim;
        tensors[i].shape = shape;
        tensors[i].dtype.code = kDLFloat;
        tensors[i].dtype.bits = 32;
        tensors[i].dtype.lanes = 1;
        values[i].v_handle = &tensors[i];
    }
    return run(values, codes, 2, NULL, NULL, NULL);
}
static int64_t shape[4] = {1, 4, 4, 4};
"""
_PACKED_CALLS = (
    "called(tvmgen_mod1_run, &x, &same, 0, NULL) != 0",
    "called(tvmgen_mod2_run, data, sums, 4, shape) != 0",
)
_C = "static struct tvmgen_mod1_inputs in1; static struct tvmgen_mod1_outputs out1;"
_C += "static struct tvmgen_mod2_inputs in2; static struct tvmgen_mod2_outputs out2;"
_C_CALLS = (
    "(in1.x = &x, out1.output = &same, tvmgen_mod1_run(&in1, &out1)) != 0",
    "(in2.data = data, out2.output = sums, tvmgen_mod2_run(&in2, &out2)) != 0",
)


def _identity() -> Function:
    x = relay.var("x", shape=())
    return Function([x], x)


def _convolution() -> Function:
    """Sums of 3 by 3 neighbours in each channel, then tanh and relu."""
    data = relay.var("data", shape=(1, 4, 4, 4))
    ones = relay.const(np.ones((4, 1, 3, 3), np.float32))
    sums = relay.nn.conv2d(data, ones, padding=(1, 1), groups=4, channels=4, kernel_size=(3, 3))
    return Function([data], relay.nn.relu(relay.tanh(sums)))


def _printed(models: list[Compiled], main: str, folder: Path) -> list[float]:
    command = ["cc", *UNOPTIMIZED, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", "app"]
    command += [f"-I{CRT / 'include'}"]
    sources = []
    for made in models:
        made.files.write_to(folder / made.program.module)
        host = folder / made.program.module / "model" / "codegen" / "host"
        command.append(f"-I{host / 'include'}")
        sources += [p for p in sorted(host.glob("src/*.[cS]")) if "registry" not in p.name]
    (folder / "main.c").write_text(main)
    subprocess.run([*command, *map(str, sources), "main.c"], check=True, cwd=folder)
    done = subprocess.run(["./app"], cwd=folder, check=True, capture_output=True, text=True)
    return list(map(float, done.stdout.split()))


def _expected() -> np.ndarray:
    data = np.arange(64, dtype=np.float32).reshape(4, 4, 4)
    padded = np.pad(data, [(0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    return np.concatenate([[0.5], np.maximum(np.tanh(windows.sum((-1, -2))), 0).ravel()])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("convention", AHEAD_OF_TIME)
def test_each_computes_its_own(convention: str, tmp_path: Path) -> None:
    models = [
        compiled(_identity(), convention, name="mod1"),
        compiled(_convolution(), convention, name="mod2"),
    ]
    plain = convention == "c"
    main = _MAIN % (_C if plain else _PACKED, *(_C_CALLS if plain else _PACKED_CALLS))
    np.testing.assert_allclose(_printed(models, main, tmp_path), _expected(), atol=1e-5)


_POOL = """
#define MAX(A, B) ((A) > (B) ? (A) : (B))
__attribute__((aligned(16))) static uint8_t pool[MAX(TVMGEN_MOD1_POOL_WORKSPACE_POOL_SIZE,
                                                    TVMGEN_MOD2_POOL_WORKSPACE_POOL_SIZE)];
static struct tvmgen_mod1_workspace_pools pools1 = {pool};
static struct tvmgen_mod2_workspace_pools pools2 = {pool};
"""


def test_they_take_turns_in_one_pool_of_the_callers(tmp_path: Path) -> None:
    x = relay.var("x", shape=())
    twice = Function([x], relay.subtract(relay.tanh(relay.exp(x)), relay.exp(x)))
    models = [
        compiled(twice, name="mod1", pool=("pool:*:external",)),
        compiled(_convolution(), name="mod2", pool=("pool:*:external",)),
    ]
    assert all(made.plan.peak > 0 for made in models)
    calls = [
        c.replace("&out1)", "&out1, &pools1)").replace("&out2)", "&out2, &pools2)")
        for c in _C_CALLS
    ]
    found = _printed(models, _MAIN % (_C + _POOL, *calls), tmp_path)
    expected = _expected()
    expected[0] = np.tanh(np.exp(0.5)) - np.exp(0.5)
    np.testing.assert_allclose(found, expected, atol=1e-5)
