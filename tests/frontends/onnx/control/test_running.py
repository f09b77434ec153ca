"""Loop, Scan and If: what becomes of them, and that it computes what ONNX Runtime computes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto

import microgen
from microgen import frontends
from microgen.compiler import passes
from microgen.frontends.onnx.oracle import ort_rounds
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.control.loop import LoopAttrs
from tests.frontends.onnx.control import networks
from tests.frontends.onnx.models import written

SAMPLES = 3
# Each kind once in firmware: it takes seconds.
BUILT = (
    "counted",
    "until",
    "limit",
    "rnn backwards",
    "nested loops",
    "branching",
    "quantized",
    "branch that reads little",
)


def session(model: ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    data = ort_rounds.complete(model).SerializeToString()
    return onnxruntime.InferenceSession(data, options)


def inputs_of(name: str, own: onnxruntime.InferenceSession) -> dict[str, Array]:
    """Samples of each input. Values that rounds double are positive."""
    rng = np.random.default_rng(3)
    kinds = {"tensor(int64)": np.int64, "tensor(bool)": np.bool_}
    found: dict[str, Array] = {}
    for port in own.get_inputs():
        shape, kind = (SAMPLES, *port.shape), kinds.get(port.type)
        data = rng.normal(size=shape).astype("f") if kind is None else rng.integers(0, 4, shape)
        found[port.name] = np.asarray(data, kind or np.float32)
    doubles = name in ("until", "limited", "less", "limit", "first")
    return {k: np.abs(v) if doubles and v.dtype == "f" else v for k, v in found.items()}


@pytest.mark.parametrize("name", networks.SOUND)
def test_networks_compute_what_the_runtime_computes(name: str, tmp_path: Path) -> None:
    make, most = networks.SOUND[name]
    model = make()
    graph, oracle = frontends.load(written(model, tmp_path), max_rounds=most), session(model)
    inputs = inputs_of(name, oracle)
    for own in (graph, passes.run(graph)):
        for k in range(SAMPLES):
            given = {each: np.asarray(array[k]) for each, array in inputs.items()}
            wanted = oracle.run(list(graph.outputs), given)
            found = evaluate(own, given, registry())
            for output, value in zip(own.outputs, wanted, strict=True):
                assert found[output].shape == value.shape
                np.testing.assert_allclose(found[output], value, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", BUILT)
def test_firmware_computes_what_the_runtime_computes(name: str, tmp_path: Path) -> None:
    make, most = networks.SOUND[name]
    path = written(make(), tmp_path)
    inputs = inputs_of(name, session(make()))
    microgen.generate(path, "native", tmp_path / "p", max_rounds=most)
    ran = microgen.run(tmp_path / "p", inputs, compare=True)
    assert [verdict.ok for verdict in ran.verdicts] == [True, True]


@pytest.mark.parametrize(
    ("name", "ops"),
    [
        ("counted", {"loop": 1}),
        ("rnn axis", {"nn.recurrent": 1}),
        ("lstm", {"nn.recurrent": 1}),
        ("lstm batch", {"nn.recurrent": 1}),
        ("lstm last", {"nn.recurrent": 1}),
        ("gru", {"nn.recurrent": 1}),
        ("branching", {"branch": 1}),
        ("branch in loop", {"loop": 1}),
        ("three", {"loop": 0, "nn.dense": 3}),
        ("growing", {"loop": 0, "concatenate": 20}),
    ],
)
def test_what_rounds_become(name: str, ops: dict[str, int], tmp_path: Path) -> None:
    make, most = networks.SOUND[name]
    graph = frontends.load(written(make(), tmp_path), max_rounds=most)
    found = Counter(node.op for node in graph.nodes)
    assert {op: found[op] for op in ops} == ops


def loop_of(graph: Graph) -> LoopAttrs:
    (attrs,) = (node.attrs for node in graph.nodes if isinstance(node.attrs, LoopAttrs))
    return attrs


def test_a_body_has_what_it_needs_only(tmp_path: Path) -> None:
    """Neither the number of the round nor the condition, nor a value that no round changes."""
    attrs = loop_of(passes.run(frontends.load(written(networks.counted(), tmp_path))))
    assert attrs.rounds == 6
    assert [attrs.body.types[name].shape for name in attrs.body.variables] == [
        (1, 3),
        (),
        (6, 1, 3),
    ]
    assert attrs.body.inputs == ("x",)


@pytest.mark.parametrize(
    ("name", "rounds", "inputs"),
    [("until", 40, 1), ("limited", 7, 2), ("less", 7, 2), ("limit", 50, 3), ("first", 50, 1)],
)
def test_a_condition_reads_what_ends_the_loop(
    name: str, rounds: int, inputs: int, tmp_path: Path
) -> None:
    make, most = networks.SOUND[name]
    attrs = loop_of(frontends.load(written(make(), tmp_path), max_rounds=most))
    assert attrs.condition is not None
    assert (attrs.rounds, len(attrs.condition.inputs)) == (rounds, inputs)
