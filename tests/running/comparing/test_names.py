"""``run --compare`` of networks whose layers passes put together or lay out anew: a sound firmware
passes, all of its layers are compared, and a wrong name is not the firmware's fault."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import microgen
from microgen.base import manifest
from microgen.building import builder
from microgen.compiler import passes
from microgen.compiler.passes.fuse_activation import fuse_activation
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import Array, Graph, frozen
from microgen.running.comparing import compare
from microgen.running.comparing.verdict import Verdict
from microgen.running.runner.compare import Comparison
from tests.compiler.passes import chains
from tests.compiler.passes.test_names import _keeps_old_names, _with
from tests.support.tools import NEEDS_GDBSERVER, NEEDS_NINJA

pytestmark = [
    NEEDS_NINJA,
    NEEDS_GDBSERVER,
    pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking()),
]
RNG = np.random.default_rng(3)
Nodes = Sequence[tuple[str, Sequence[str], dict[str, object]]]


def _data(*shape: int) -> Array:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


CONSTANTS = {"w1": _data(4, 2, 3), "b1": _data(4), "scale": np.abs(_data(4)) + np.float32(0.5)}
CONSTANTS |= {"mean": _data(4), "w2": _data(16, 6), "b2": _data(6), "w": _data(3, 2, 2, 2)}
CONSTANTS |= {"shape": np.array([1, 2, 3], np.int64)}
CHAIN: Nodes = [
    ("Conv", ["", "w1", "b1"], {}),
    ("BatchNormalization", ["", "scale", "b1", "mean", "scale"], {}),
    ("Relu", [""], {}),
    ("MaxPool", [""], {"kernel_shape": [2], "strides": [2]}),
    ("Flatten", [""], {}),
    ("Gemm", ["", "w2", "b2"], {}),
    ("Reshape", ["", "shape"], {}),
    ("Relu", [""], {}),
]
IN_OUT: Nodes = [
    ("Transpose", [""], {"perm": [0, 3, 1, 2]}),
    ("Conv", ["", "w"], {}),
    ("Transpose", [""], {"perm": [0, 2, 3, 1]}),
]


def _model(nodes: Nodes, shape: Sequence[int], path: Path) -> Path:
    """A chain of nodes whose results are t0, t1, ...; "" is the one before."""
    made, last = [], "x"
    for k, (op, inputs, attrs) in enumerate(nodes):
        made.append(helper.make_node(op, [name or last for name in inputs], [f"t{k}"], **attrs))
        last = f"t{k}"
    port = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
    values = [numpy_helper.from_array(value, name) for name, value in CONSTANTS.items()]
    graph = helper.make_graph(
        made, "g", [port], [helper.make_empty_tensor_value_info(last)], values
    )
    opset = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


def _built(model: Path) -> Path:
    project = model.with_suffix("")
    microgen.generate(model, "native", project)
    microgen.build(project)
    return project


def _compared(project: Path) -> tuple[Verdict, ...]:
    (port,) = manifest.load(project).inputs
    data = np.random.RandomState(0).randn(4, *port.shape).astype(np.float32)
    verdicts = microgen.run(project, {port.tensor: data}, compare=True).verdicts
    assert not any(verdict.is_skipped for verdict in verdicts)
    return verdicts


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(_model(CHAIN, (1, 2, 10), tmp_path_factory.mktemp("names") / "chain.onnx"))


def test_all_layers_of_a_chain_are_compared(chain: Path) -> None:
    for verdict in _compared(chain):
        assert verdict.ok, str(verdict)
        assert verdict.layers is not None
        assert not verdict.layers.absent
        read = [step.tensor for call in manifest.load(chain).calls for step in call.read]
        assert verdict.layers.compared >= len({*read}) - 1  # the input's change of layout


def test_layers_between_changes_of_layout_are_compared(tmp_path: Path) -> None:
    """The passes leave nothing but the convolution, whose result is the output."""
    project = _built(_model(IN_OUT, (1, 5, 4, 2), tmp_path / "m.onnx"))
    for verdict in _compared(project):
        assert verdict.ok, str(verdict)
        assert verdict.layers is not None
        assert verdict.layers.compared == 1


@pytest.mark.parametrize("equal", [4, 3])
def test_outputs_decide_if_no_layer_can_be_read(equal: int) -> None:
    nothing = Comparison((), (), None)
    verdict = Verdict("ONNX Runtime", 4, equal, nothing)
    assert verdict.ok == (equal == 4)
    assert str(verdict).startswith(f"ONNX Runtime: outputs equal on {equal} of 4 samples; no layer")
    assert str(verdict).endswith("; no layer could be read")


def test_a_wrong_value_of_a_fused_layer_is_found_under_its_name(
    chain: Path, tmp_path: Path
) -> None:
    """The firmware's t2 has its elements in another layout."""
    project = tmp_path / "p"
    shutil.copytree(chain, project, ignore=shutil.ignore_patterns("build"))
    source = project / "model/codegen/host/src/default_lib1.c"
    _, call, *_ = manifest.load(project).calls
    before, body = source.read_text().split(f"{call.function}(", 1)
    body = body.replace("    return 0;", "    out0[5] += 0.001F;\n    return 0;", 1)
    source.write_text(f"{before}{call.function}({body}")
    (port,) = manifest.load(project).inputs
    data = {port.tensor: np.random.RandomState(0).randn(2, *port.shape).astype(np.float32)}
    elf = builder.build(project).elf
    outputs = microgen.running.runner.run(project, data, elf=elf).outputs
    for verdict, layer in zip(
        compare.compare(project, data, outputs, elf), ("t0", "t2"), strict=True
    ):
        assert verdict.difference is not None
        assert (verdict.difference.layer, verdict.difference.tensor) == (layer, "t2")
        assert verdict.difference.index == (0, 1, 1)  # of channels, then places
        assert verdict.difference.call == 1


def test_a_wrong_name_is_not_the_fault_of_the_firmware(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted, run = _with(fuse_activation, _keeps_old_names(fuse_activation)), passes.run
    monkeypatch.setattr(passes, "run", lambda graph: run(graph, planted))
    reference, runtime = _compared(_built(_model(CHAIN, (1, 2, 10), tmp_path / "m.onnx")))
    assert reference.ok
    assert runtime.ok
    said = "a defect of microgen, not of the firmware: its passes change "
    assert said in str(runtime)
    assert runtime.layers is not None
    assert runtime.layers.misnamed
    assert "after the passes, and" in runtime.layers.misnamed[0]


def test_a_wrong_network_is_not_only_a_wrong_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dense layer, which computes the output, has other weights after the passes."""

    def planted(graph: Graph) -> Graph:
        (layer,) = [node for node in graph.nodes if node.op == "nn.dense"]
        weight = graph.constants[layer.inputs[1]] * np.float32(1.01)
        return graph.replace(constants={**graph.constants, layer.inputs[1]: frozen(weight)})

    run = passes.run
    monkeypatch.setattr(passes, "run", lambda graph: planted(run(graph)))
    _, runtime = _compared(_built(_model(CHAIN, (1, 2, 10), tmp_path / "m.onnx")))
    assert not runtime.ok
    assert runtime.difference is not None
    assert runtime.difference.tensor == "t7"
    assert "a defect of microgen, not of the firmware" in str(runtime)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_chains_are_compared(seed: int, tmp_path: Path) -> None:
    onnx.save(chains.model(seed), tmp_path / "m.onnx")
    for verdict in _compared(_built(tmp_path / "m.onnx")):
        assert verdict.ok, str(verdict)
        assert verdict.layers is not None
        assert verdict.layers.compared
        assert not verdict.layers.misnamed
