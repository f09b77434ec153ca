"""Models of many megabytes: memory that `generate` takes, a firmware of 100 MB of weights."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from tests.frontends.onnx.models import info, model, node, written
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_NINJA

ROOT = Path(__file__).resolve().parent.parent
_SPARE = 100 * 10**6  # bytes
_LAYERS = 4
# VmHWM is of the program alone: rusage includes the process that started it.
_PEAK = """
import re, sys
from pathlib import Path
from microgen.interface import cli
assert cli.main([*sys.argv[1:], "-q"]) == 0
print(1024 * int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]))
"""
_LARGEST = """
import resource, sys
from microgen.interface import cli
assert cli.main([*sys.argv[1:], "-q"]) == 0
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def _weight(dtype: str, size: int, layer: int) -> np.ndarray:
    rng = np.random.default_rng(layer)
    if dtype == "int8":
        return rng.integers(-127, 128, (size, size), np.int8)
    return rng.standard_normal((size, size), np.float32)


def _onnx(dtype: str, size: int, folder: Path) -> Path:
    nodes, constants, last = [], {"s": np.float32(0.05), "z": np.int8(0)}, "x"
    if dtype == "int8":
        nodes = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "t")]
        last = "t"
    for k in range(_LAYERS):
        constants[f"w{k}"] = _weight(dtype, size, k)
        if dtype == "int8":
            constants[f"s{k}"] = np.full(size, 1e-5, np.float32)
            constants[f"z{k}"] = np.zeros(size, np.int8)
            nodes += [
                node("DequantizeLinear", f"w{k} s{k} z{k}", f"f{k}", axis=1),
                node("MatMul", f"{last} f{k}", f"m{k}"),
                node("QuantizeLinear", f"m{k} s z", f"q{k}"),
                node("DequantizeLinear", f"q{k} s z", f"t{k}"),
            ]
        else:
            nodes.append(node("Gemm", f"{last} w{k}", f"t{k}", transB=k % 2))
        last = f"t{k}"
    made = model(nodes, [info("x", (1, size))], [info(last, None)], constants)
    return written(made, folder)


def _tflite(dtype: str, size: int, folder: Path) -> Path:
    stored = {"scale": (0.05,), "zero_point": (0,)} if dtype == "int8" else {}
    own = {"scale": (0.0001,), "zero_point": (0,)} if dtype == "int8" else {}
    tensors, operators = [TensorSpec("t0", (1, size), dtype, **stored)], []
    for k in range(_LAYERS):
        weight = _weight(dtype, size, k)
        tensors += [
            TensorSpec(f"w{k}", weight.shape, dtype, weight, **own),
            TensorSpec(f"t{k + 1}", (1, size), dtype, **stored),
        ]
        inputs, outputs = [f"t{k}", f"w{k}"], [f"t{k + 1}"]
        options = "FullyConnectedOptions"
        operators.append(OperatorSpec("FULLY_CONNECTED", inputs, outputs, options))
    path = folder / "m.tflite"
    path.write_bytes(build_model(tensors, operators, ["t0"], [f"t{_LAYERS}"]))
    return path


def _made(form: str, dtype: str, megabytes: float, folder: Path) -> Path:
    width = 1 if dtype == "int8" else 4
    size = int((megabytes * 10**6 / width / _LAYERS) ** 0.5)
    return {"onnx": _onnx, "tflite": _tflite}[form](dtype, size, folder)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("form", ["onnx", "tflite"])
@pytest.mark.parametrize(
    "megabytes",
    [pytest.param(megabytes, marks=pytest.mark.slow) for megabytes in (10, 25, 100)],
)
def test_generate_takes_three_times_the_file_and_100_megabytes(
    megabytes: int, form: str, dtype: str, tmp_path: Path
) -> None:
    path = _made(form, dtype, megabytes, tmp_path)
    command = [sys.executable, "-c", _PEAK, "generate", str(path), "-b", "native"]
    ran = subprocess.run(
        [*command, "-o", str(tmp_path / "p")], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    assert int(ran.stdout) <= _SPARE + 3 * path.stat().st_size


@NEEDS_NINJA
@pytest.mark.slow
@pytest.mark.parametrize("form", ["onnx", "tflite"])
def test_a_firmware_of_100_megabytes_of_weights_is_verified(form: str, tmp_path: Path) -> None:
    path = _made(form, "int8", 100, tmp_path)
    for command in (
        ["generate", str(path), "-b", "native", "-o", str(tmp_path / "p")],
        ["build", str(tmp_path / "p")],
        ["verify", str(tmp_path / "p")],
    ):
        ran = subprocess.run(
            [sys.executable, "-c", _LARGEST, *command], cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
        assert int(ran.stdout.splitlines()[-1]) < 4 * 10**9


@pytest.mark.parametrize("form", ["onnx", "tflite"])
def test_a_large_file_of_a_project_is_the_models(form: str, tmp_path: Path) -> None:
    path = _made(form, "int8", 1.5, tmp_path)
    data = path.read_bytes()
    arrays = frontends.load(path).constants.values()
    assert sum(array.nbytes for array in arrays) < 2 * len(data)
    compiled = microgen.compile_model(path, "native")
    path.unlink()  # a compiled model needs its file no more
    assert compiled.files.files[f"model/src/default{path.suffix}"] == data
