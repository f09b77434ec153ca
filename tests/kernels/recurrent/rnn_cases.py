"""Simple recurrent layers as operators of TFLite."""

from __future__ import annotations

import numpy as np

from tests.support.tflite_builder import OperatorSpec, OptionValue, TensorSpec

BATCHES, FEATURES, CELLS, STEPS = 2, 3, 4, 5
TANH, RELU = 4, 1  # ActivationFunctionType
CODES = ("BIDIRECTIONAL_SEQUENCE_RNN", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN")
_TABLES = dict(
    zip(CODES, ("BidirectionalSequenceRNNOptions", "RNNOptions", "SequenceRNNOptions"), strict=True)
)
Shape = tuple[int, ...]


def tensor(rng: np.random.Generator, name: str, shape: Shape, *, known: bool) -> TensorSpec:
    """A float32 tensor, random if it is ``known``."""
    data = rng.normal(0, 0.5, shape).astype(np.float32) if known else None
    return TensorSpec(name, shape, "float32", data)


def direction(rng: np.random.Generator, name: str) -> list[TensorSpec]:
    """Weights, bias and state of one direction."""
    shapes = {"w": (CELLS, FEATURES), "r": (CELLS, CELLS), "b": (CELLS,)}
    weights = [tensor(rng, f"{name}{key}", shape, known=True) for key, shape in shapes.items()]
    return [*weights, TensorSpec(f"{name}h", (BATCHES, CELLS), "float32", is_variable=True)]


def layer(
    code: str, function: int = TANH, *, time_major: bool = False, merged: bool = True, seed: int = 0
) -> tuple[list[TensorSpec], OperatorSpec]:
    """The tensors and the operator, which reads "x"."""
    rng = np.random.default_rng(seed)
    first = (STEPS, BATCHES) if time_major else (BATCHES, STEPS)
    shape = (BATCHES,) if code == "RNN" else first
    tensors = [tensor(rng, "x", (*shape, FEATURES), known=False), *direction(rng, "f")]
    names: list[str | int] = [each.name for each in tensors]
    options: dict[str, OptionValue] = {"fusedActivationFunction": function}
    if code != "RNN":
        options["timeMajor"] = time_major
    made, cells = ["y"], CELLS
    if code.startswith("BI"):
        tensors += direction(rng, "g")
        names += [*(each.name for each in tensors[-4:]), -1, -1, -1]
        options["mergeOutputs"] = merged
        made, cells = (["y"], 2 * CELLS) if merged else (["y", "z"], CELLS)
    tensors += [tensor(rng, name, (*shape, cells), known=False) for name in made]
    return tensors, OperatorSpec(code, names, made, _TABLES[code], options)
