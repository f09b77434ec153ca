"""Judges damaged models that microgen reads: ONNX Runtime computes the same, or refuses them.

    python -m tests.frontends.onnx.judged FILE...

It prints a line for each file: its name, and what is wrong with it, if anything is. It is a program
of its own, because such a file may end ONNX Runtime's process.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.frontends.model_format import OracleError
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir import beside
from microgen.graph.ir.graph import Array, DType, Graph
from microgen.graph.ops import registry
from microgen.graph.ops.base import StatusError

ROOT = Path(__file__).resolve().parents[3]
_ROUGH = ("DFT", "STFT")  # off by 1e-5 of the numbers: factors are multiplied in float32
_LARGEST = 2.0**20
_BIAS = 2.0**30
_MOST = 2**18  # elements of a tensor: numpy may take long for larger ones
_BYTES = 2**31  # of the process


def wrong(paths: Sequence[Path]) -> dict[str, str]:
    """The files that are wrong, and why. Files that end the process, or take too long, are not
    judged."""
    found, left = dict[str, str](), list(paths)
    while left:
        lines = _printed(left)
        found |= dict(line.split("\t", 1) for line in lines)
        left = left[len(lines) + 1 :]  # the next one ended the process
    return {name: what for name, what in found.items() if what}


def _printed(paths: Sequence[Path]) -> list[str]:
    command = [sys.executable, "-m", "tests.frontends.onnx.judged", *map(str, paths)]
    seconds = 30 + 2 * len(paths)
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
        )
        return done.stdout.splitlines()
    except subprocess.TimeoutExpired as ended:
        output = ended.stdout or b""
        return output.decode().splitlines() if isinstance(output, bytes) else output.splitlines()


def _judged(path: Path) -> str:
    """What is wrong with a file."""
    if not _is_usual(onnx.load(path)):
        return ""
    try:
        graph, oracle = frontends.load(path), OnnxRuntime()
        if max(kind.size for kind in graph.types.values()) > _MOST:
            return ""
        given = _inputs(graph)
        (layers,) = oracle.layers(frontends.files(path), [[given[n] for n in graph.inputs]])
        found = {n: a for n, a in layers.items() if a.shape == graph.types[n].shape}
        every = beside.walk(
            graph, given, registry(), found, slack=oracle.slack(frontends.files(path), graph)
        )
        return next((what for one in every if (what := _difference(graph, one))), "")
    except (MicrogenError, MemoryError, OracleError, StatusError):
        return ""


def _is_usual(model: onnx.ModelProto) -> bool:
    """Whether all numbers of the main graph are finite and not huge, and ONNX Runtime computes its
    operators accurately. ONNX does not say what integers other numbers become, and ONNX Runtime's
    errors grow with them. Its int32 sums wrap around a bias near the limits of int32."""
    if any(node.op_type in _ROUGH for node in model.graph.node):
        return False
    attributes = [attribute for node in model.graph.node for attribute in node.attribute]
    numbers = [number for a in attributes for number in (a.f, *a.floats)]
    floats = [each for each in model.graph.initializer if each.data_type == onnx.TensorProto.FLOAT]
    values = [np.array(numbers), *map(numpy_helper.to_array, floats)]
    biases = [each for each in model.graph.initializer if each.data_type == onnx.TensorProto.INT32]
    if any(
        np.abs(numpy_helper.to_array(each).astype(float)).max(initial=0) > _BIAS for each in biases
    ):
        return False
    return all((np.abs(each) <= _LARGEST).all() for each in values)


def _difference(graph: Graph, one: beside.Expected) -> str:
    """Where finite numbers differ: a damaged number may be NaN, about which ONNX says nothing."""
    if one.found is None:
        return ""
    is_finite = np.isfinite(one.found) & np.isfinite(one.values)
    if not (beside.exceeds(one.found, one.values, one.bound) & is_finite).any():
        return ""
    kinds = [str(graph.types[name]) for name in one.node.inputs]
    apart = beside.distance(one.found, one.values)
    return f"{one.node.op} {one.tensor} of {kinds} differs by {apart.max():g}: {one.node.attrs}"


def _inputs(graph: Graph) -> Mapping[str, Array]:
    random = np.random.default_rng(1)
    found = {}
    for name in graph.inputs:
        kind = graph.types[name]
        numbers = random.normal(0, 2, kind.shape)
        if kind.dtype is not DType.FLOAT32:
            numbers = random.integers(0, 2 if kind.dtype is DType.BOOL else 4, kind.shape)
        found[name] = np.asarray(numbers).astype(kind.dtype.numpy)
    return found


def main() -> None:
    """Judge the files of the command line. Damaged sizes may ask for more memory than there is."""
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for path in map(Path, sys.argv[1:]):
        print(path.name, " ".join(_judged(path).split()), sep="\t", flush=True)


if __name__ == "__main__":
    main()
