"""Random networks of Loop, Scan and If compute what ONNX Runtime computes, or are refused."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.compiler import passes
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.onnx.control.random_networks import RandomNetwork

_QUICK, _SLOW = 25, 500
_SAMPLES = 3
_MOST = 24  # rounds of a loop whose number depends on data; they have at most 9


@pytest.mark.parametrize("count", [_QUICK, pytest.param(_SLOW, marks=pytest.mark.slow)])
def test_random_networks_compute_what_the_runtime_computes(count: int, tmp_path: Path) -> None:
    found = Counter(_outcome(seed, tmp_path) for seed in range(count))
    assert set(found) <= {"equal", "refused", "not a model"}
    assert found["equal"] > 0.7 * count


def _outcome(seed: int, folder: Path) -> str:
    """What became of the network of a seed. AssertionError for a value that is wrong."""
    network = RandomNetwork(seed)
    path = folder / "m.onnx"
    path.write_bytes(network.model.SerializeToString())
    try:
        graph = _loaded(path)
        graphs = graph, passes.run(graph)
    except MicrogenError:
        graphs = ()
    try:
        session = _session(path)
    except Exception:  # ONNX Runtime has classes of its own for each reason
        return "not a model"
    names = {each.name for each in session.get_inputs()}
    for _ in range(_SAMPLES):
        given = {name: value for name, value in network.sample().items() if name in names}
        wanted = session.run(None, given)
        for own in graphs:
            made = evaluate(own, {name: given[name] for name in own.inputs}, registry())
            for output, value in zip(own.outputs, wanted, strict=True):
                assert made[output].shape == value.shape, seed
                np.testing.assert_allclose(made[output], value, 1e-4, 1e-5, err_msg=f"{seed}")
    return "equal" if graphs else "refused"


def _loaded(path: Path) -> Graph:
    """The network, with the bounds of rounds that refusals ask for."""
    most: list[str] = []
    while True:
        try:
            return frontends.load(path, max_rounds=most)
        except MicrogenError as error:
            asked = re.search(r"--max-rounds (\S+)=N", str(error))
            if asked is None or f"{asked[1]}={_MOST}" in most:
                raise
            most.append(f"{asked[1]}={_MOST}")


def _session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    # As the oracle of run --compare.
    level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(path, options)
