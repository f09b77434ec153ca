"""Runs one network three ways and compares bytes: C with sanitizers, numpy, LiteRT."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import microgen
from microgen import oracle
from microgen.ir.interpreter import evaluate
from microgen.ops import registry
from tests.differential.network import Network

SAMPLES = 3
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Failure:
    """What went wrong, in one line."""

    what: str


def check(net: Network, outputs: list[str], folder: Path, seed: int) -> Failure | None:
    """Compile, run, compare; None if all agree."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "network.tflite"
    model.write_bytes(net.model(outputs))
    compiled = microgen.compile_model(model, "native")
    inputs = _inputs(net, seed)
    reference = [
        evaluate(compiled.graph, {n: a[i] for n, a in inputs.items()}, registry())
        for i in range(SAMPLES)
    ]
    expected = [[values[name] for name in compiled.graph.outputs] for values in reference]
    samples = [[array[i] for array in inputs.values()] for i in range(SAMPLES)]
    names = tuple(net.tensors)
    for i, layers in enumerate(oracle.layers(model.read_bytes(), samples, names)):
        for name, ours in zip(outputs, expected[i], strict=True):
            if not np.array_equal(layers[name].reshape(-1), ours.reshape(-1)):
                return Failure(f"numpy differs from LiteRT in {name} of sample {i}")
    compiled.files.write_to(folder / "project", force=True)
    return _check_c(folder / "project", inputs, expected)


def _inputs(net: Network, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    arrays = {}
    for name in net.inputs:
        array = rng.integers(-128, 128, (SAMPLES, *net.tensors[name].shape))
        array[0] = rng.choice([-128, 127], array[0].shape)
        arrays[name] = array.astype(np.int8)
    return arrays


def _check_c(
    project: Path, inputs: dict[str, Array], expected: list[list[Array]]
) -> Failure | None:
    built = _compile(project)
    if built.returncode:
        return Failure(f"does not compile: {built.stderr[:300]}")
    rows = [a.reshape(SAMPLES, -1) for a in inputs.values()]
    (project / "microgen_input.bin").write_bytes(np.concatenate(rows, axis=1).tobytes())
    done = subprocess.run(
        ["./program"], cwd=project, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        return Failure(f"the program ended with {done.returncode}: {done.stderr[:300]}")
    found = (project / "microgen_output.bin").read_bytes()
    wanted = b"".join(array.tobytes() for sample in expected for array in sample)
    if found != wanted:
        return Failure("C differs from numpy")
    return None


def _compile(project: Path) -> subprocess.CompletedProcess[str]:
    sources = [*project.glob("model/codegen/host/src/*.[cs]"), *project.glob("src/*.c")]
    sources += project.glob("crt/src/*.c")
    includes = ["model/codegen/host/include", "crt/include", "crt/src"]
    command = ["cc", "-std=c99", "-O1", *_SANITIZERS, *(f"-I{i}" for i in includes)]
    command += [str(source.relative_to(project)) for source in sorted(sources)]
    return subprocess.run(
        [*command, "-o", "program"], cwd=project, capture_output=True, text=True, check=False
    )


def shrunk(net: Network, outputs: list[str], folder: Path, seed: int) -> tuple[Network, str]:
    """The network cut down to the first layer that fails by itself, with what it depends on."""
    for name in net.computed:
        small = net.pruned(name)
        if check(small, [name], folder, seed):
            return small, name
    return net, outputs[-1]
