"""Modelled cycles of layers on Cortex-M55 next to measured ones: a table of
docs/explanation/timing.md.

    python -m scripts.m55_layers --cmsis-nn SOURCES

Cycles of single int8 layers with an input of [1,32,32,16] are published for an Apollo510, but not
their filters. So each kind of layer is built here with a range of plausible ones, with CMSIS-NN's
kernels and with microgen's. The published programs are TensorFlow Lite Micro with CMSIS-NN.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tflite

from microgen.interface import api
from scripts import sections
from scripts.bench import matrix
from scripts.bench.tables import markdown

if str(matrix.ROOT) not in sys.path:
    sys.path.insert(0, str(matrix.ROOT))

from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

DOCUMENT = matrix.ROOT / "docs" / "explanation" / "timing.md"
BOARD = "mps3_an547"
SIDE, DEPTH = 32, 16
INPUT = (1, SIDE, SIDE, DEPTH)
# Cycles on Apollo510 (Cortex-M55), GCC 15.2, TensorFlow Lite Micro with CMSIS-NN.
PUBLISHED = {
    "CONV_2D": 1_642_809,
    "DEPTHWISE_CONV_2D": 636_011,
    "FULLY_CONNECTED": 27_950,
    "ADD": 218_369,
    "MEAN": 2_230_860,
    "REDUCE_MAX": 2_688_873,
    "kws": 2_016_376,
}
# These are TensorFlow Lite Micro's own, because CMSIS-NN has none.
PORTABLE = ("MEAN", "REDUCE_MAX")


@dataclass(frozen=True)
class Shape:
    """A layer: its name in the table, its output and weights, and its options."""

    code: str
    title: str
    output: tuple[int, ...]
    weights: tuple[int, ...] = ()
    kind: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def shapes() -> Iterator[Shape]:
    """Every layer, by kind."""
    for kernel, stride, count in (
        *((3, 1, 8), (3, 1, 16), (3, 1, 32), (3, 2, 16)),
        *((1, 1, 16), (1, 1, 64), (5, 1, 16)),
    ):
        yield _window("CONV_2D", kernel, stride, count)
    for kernel, stride in ((3, 1), (3, 2), (5, 1)):
        yield _window("DEPTHWISE_CONV_2D", kernel, stride, DEPTH)
    for count in (1, 4, 10, 16):
        weights = (count, SIDE * SIDE * DEPTH)
        title = f"{weights[1]:,} to {count}"
        yield Shape("FULLY_CONNECTED", title, (1, count), weights, "FullyConnectedOptions")
    rows = {"keepNumDims": True}
    yield Shape(
        *("FULLY_CONNECTED", "16 to 16, of 1,024 places", INPUT, (DEPTH, DEPTH)),
        *("FullyConnectedOptions", rows),
    )
    yield Shape("ADD", "two inputs", INPUT, kind="AddOptions")
    for code in PORTABLE:
        pooled = (1, DEPTH)
        yield Shape(code, "over height and width", pooled, kind="ReducerOptions")


def _window(code: str, kernel: int, stride: int, count: int) -> Shape:
    options: dict[str, Any] = {"padding": tflite.Padding.SAME, "strideH": stride, "strideW": stride}
    options |= {"dilationHFactor": 1, "dilationWFactor": 1}
    side = SIDE // stride
    title = f"{kernel}x{kernel}, stride {stride}, {DEPTH} to {count}"
    if code == "CONV_2D":
        weights, kind = (count, kernel, kernel, DEPTH), "Conv2DOptions"
    else:
        weights, kind = (1, kernel, kernel, DEPTH), "DepthwiseConv2DOptions"
        options["depthMultiplier"] = 1
    return Shape(code, title, (1, side, side, count), weights, kind, options)


def model(shape: Shape) -> bytes:
    """A .tflite file of the layer, with random weights."""
    random, axis = np.random.RandomState(0), 3 if shape.code.startswith("DEPTHWISE") else 0
    tensors = [_activation("input", INPUT), _activation("output", shape.output)]
    inputs = ["input"]
    if shape.weights:
        count = shape.weights[axis]
        scales = (0.01,) * (1 if shape.code == "FULLY_CONNECTED" else count)
        weights = random.randint(-127, 128, shape.weights).astype(np.int8)
        bias = random.randint(-999, 1000, count).astype(np.int32)
        tensors += [
            _constant("weights", weights, scales, axis),
            _constant("bias", bias, tuple(s * 0.05 for s in scales), 0),
        ]
        inputs += ["weights", "bias"]
    elif shape.code == "ADD":
        tensors.append(_activation("other", INPUT))
        inputs.append("other")
    else:
        tensors.append(_constant("axes", np.array([1, 2], np.int32), (), 0))
        inputs.append("axes")
    operator = OperatorSpec(shape.code, inputs, ["output"], shape.kind, shape.options)
    fed = ["input", "other"] if "other" in inputs else ["input"]
    return build_model(tensors, [operator], fed, ["output"])


def _activation(name: str, shape: tuple[int, ...]) -> TensorSpec:
    return TensorSpec(name, shape, scale=(0.05,), zero_point=(3,))


def _constant(name: str, data: Any, scale: tuple[float, ...], axis: int) -> TensorSpec:
    return TensorSpec(
        name, data.shape, data.dtype.name, data, scale, (0,) * len(scale), axis if scale else 0
    )


def cycles(path: Path, sources: str = "") -> int:
    """Modelled cycles of an inference; with the kernels of CMSIS-NN if its ``sources`` are given.
    Raises MicrogenError if it cannot be built or run."""
    codegen = {"codegen": ("cmsis-nn",), "codegen_option": (f"cmsis-nn.path={sources}",)}
    with tempfile.TemporaryDirectory() as folder:
        api.generate(path, BOARD, folder, numerics="tflm", **(codegen if sources else {}))
        ran = api.run(folder, profile=True)
    assert ran.modelled is not None
    return ran.modelled.totals[0].cycles


def table(sources: str) -> str:
    """The table, measured."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layer.tflite"
        for shape in shapes():
            path.write_bytes(model(shape))
            rows.append(_row(shape.code, shape.title, path, sources))
            print(rows[-1], file=sys.stderr, flush=True)
    kws = matrix.load().networks["kws"]
    rows.append(_row("kws", kws.title, kws.path, sources))
    heads = ("modelled, CMSIS-NN", "modelled, microgen", "measured")
    return markdown(("operator", "layer", *heads), rows, 2)


def _row(code: str, title: str, path: Path, sources: str) -> tuple[str, ...]:
    theirs = "" if code in PORTABLE else f"{cycles(path, sources):,}"
    return code, title, theirs, f"{cycles(path):,}", f"{PUBLISHED[code]:,}"


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cmsis-nn", required=True)
    sections.write(DOCUMENT, "m55", f"{table(parser.parse_args().cmsis_nn)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
