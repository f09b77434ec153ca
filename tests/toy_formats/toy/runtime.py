"""The oracle of toy models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from microgen.graph.ir.beside import Slack, no_slack
from microgen.graph.ir.graph import Array, Graph

SHIFT = 0.0  # an error that tests add to outputs


class Runtime:
    """Runs toy models by numpy."""

    name = "ToyRT"
    kernels = "numpy"
    profile = "litert"
    is_apart = False

    def lacking(self) -> str:
        """The missing library: there is none."""
        return ""

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """The tensors of every layer for each sample."""
        model, weights = json.loads(files[".toy"]), json.loads(files[".weights"])
        for sample in samples:
            values = {name: np.array(numbers, np.float32) for name, numbers in weights.items()}
            values |= dict(zip(model["inputs"], sample, strict=True))
            for record in model["layers"]:
                operands = [values[name] for name in record["inputs"]]
                values[record["name"]] = _computed(record["operator"], record, operands)
            yield values

    def slack(self, files: Mapping[str, bytes], graph: Graph) -> Slack:
        """The tolerance for its own choices: there is none."""
        del files, graph
        return no_slack


def _computed(operator: str, record: Mapping[str, int], operands: Sequence[Array]) -> Array:
    data, *rest = operands
    if operator == "Bias":
        return np.asarray(data + (rest[0] + rest[0])[:, None, None] + np.float32(SHIFT))
    if operator == "Scale":
        return np.asarray(data * rest[0])
    if operator == "Pool":
        n, c, h, w = data.shape
        size = record["size"]
        return np.asarray(data.reshape(n, c, h // size, size, w // size, size).max((3, 5)))
    shifted = np.exp(data.astype(np.float64) - data.max(1, keepdims=True))
    return (shifted / shifted.sum(1, keepdims=True)).astype(np.float32)
