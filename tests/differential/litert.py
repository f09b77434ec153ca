"""LiteRT's results for a network, layer by layer, compared with numpy's on the same inputs."""

from __future__ import annotations

import numpy as np

from microgen.frontends.tflite.litert import LiteRT
from tests.differential import evaluation
from tests.differential.network import Network
from tests.differential.stock import SAMPLES, Array
from tests.kernels.conformance.litert_models import NOT_IN_LITERT
from tests.support.tflite_builder import OperatorSpec

# Operators and dtypes that LiteRT's reference kernels lack. They are compared only with C.
LACKING = {
    *((code, dtype.value) for code, dtype in NOT_IN_LITERT),
    *(("ELU", dtype) for dtype in ("int8", "float32")),
    *((code, "float32") for code in ("CEIL", "ROUND", "Convolution2DTransposeBias")),
}


def is_lacking(net: Network, op: OperatorSpec) -> bool:
    """Whether LiteRT has no kernel for the operator and its dtype."""
    return (op.custom_code or op.code, net.dtype(str(op.outputs[0]))) in LACKING


def difference(net: Network) -> str:
    """Where LiteRT differs from numpy in a layer that both give the same inputs, or "".

    Operators that LiteRT lacks are left out, and numpy's outputs of them are fed. Raises
    OracleError if LiteRT refuses the rest.
    """
    part = net.without(is_lacking)
    if not part.operators:
        return ""
    model = part.model(part.computed)
    samples = [[part.values[name][i] for name in part.inputs] for i in range(SAMPLES)]
    found = [dict(values) for values in LiteRT().layers({".tflite": model}, samples)]
    for op in part.operators:
        wrong = _layer_difference(part, op, found)
        if wrong:
            return wrong
    return ""


def _layer_difference(net: Network, op: OperatorSpec, found: list[dict[str, Array]]) -> str:
    outputs = [str(name) for name in op.outputs]
    alone = net.alone(op)
    fed = {name: [values[name] for values in found] for name in alone.inputs}
    graph = evaluation.graph_of(alone, outputs)
    ours = evaluation.computed(graph, fed)
    rng = np.random.default_rng(0)
    others = [evaluation.shaken(graph, fed, rng) for _ in range(evaluation.SHAKES)]
    for name in outputs:
        for i, values in enumerate(found):
            around = [other[name][i] for other in others]
            wrong = evaluation.differing(values[name], ours[name][i], around)
            if wrong:
                return f"numpy differs from LiteRT in {name} ({op.code}) of sample {i}: {wrong}"
    return ""
