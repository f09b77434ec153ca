"""Interprets a subgraph, which specifies ``crt/src/examplejson/runtime_examplejson.c``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from microgen.tvm.codegens.examplejson.text import Subgraph

FloatArray = npt.NDArray[np.float32]

_OPERATORS: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
}


def run(subgraph: Subgraph, inputs: Sequence[FloatArray]) -> list[FloatArray]:
    """The outputs, in order, for float32 inputs of the subgraph's shapes."""
    values = {node.id: x for node, x in zip(subgraph.inputs, inputs, strict=True)}
    for node in subgraph.operators:
        a, b = (values[operand] for operand in node.operands)
        values[node.id] = _OPERATORS[node.op](a, b)
    return [values[output] for output in subgraph.outputs]
