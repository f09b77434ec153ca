"""--state: outputs that are inputs of the next inference."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper

import microgen
from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.frontends.model_format import Request
from microgen.graph.ir.graph import Array
from microgen.interface.cli import main
from tests.frontends.onnx.models import FLOAT, info, model, node, written
from tests.support.places import SMALL

CALLS, CELLS, FEATURES = 5, 6, 4


def network(
    nodes: list[NodeProto], inputs: str, outputs: str, kind: int = FLOAT, **constants: object
) -> ModelProto:
    """A model whose ports have three elements."""
    given, made = ([info(n, (3,), kind) for n in side.split()] for side in (inputs, outputs))
    return model(nodes, given, made, constants)


def adding(inputs: str = "x a", outputs: str = "y") -> ModelProto:
    """Y = x + a."""
    return network([node("Add", "a x", "y")], inputs, outputs)


def swapping() -> ModelProto:
    """Two states that change places."""
    nodes = [node("Identity", "a", "b2"), node("Identity", "b", "a2"), node("Sub", "a x", "y")]
    return network(nodes, "x a b", "y a2 b2")


def streaming() -> ModelProto:
    """One step of an LSTM. Its state is also read."""
    rng = np.random.default_rng(0)
    shapes = {"W": (1, 4 * CELLS, FEATURES), "R": (1, 4 * CELLS, CELLS), "B": (1, 8 * CELLS)}
    weights = {name: rng.normal(size=s).astype("f") * 0.4 for name, s in shapes.items()}
    lstm = helper.make_node(
        "LSTM", ["x", "W", "R", "B", "", "h0", "c0"], ["", "h1", "c1"], hidden_size=CELLS
    )
    state = (1, 1, CELLS)
    inputs = [info("x", (1, 1, FEATURES)), info("h0", state), info("c0", state)]
    outputs = [info(name, None) for name in ("y", "h1", "c1")]
    return model([lstm, node("ReduceMax", "h1", "y", keepdims=0)], inputs, outputs, weights)


def quantized(scale: float) -> ModelProto:
    """A sum of uint8; the output has this scale, and the inputs 0.1."""
    nodes = [
        node("DequantizeLinear", "a s z", "af"),
        node("DequantizeLinear", "x s z", "xf"),
        node("Add", "af xf", "f"),
        node("QuantizeLinear", "f t z", "y"),
    ]
    constants = {"s": np.float32(0.1), "t": np.float32(scale), "z": np.uint8(0)}
    return network(nodes, "x a", "y", TensorProto.UINT8, **constants)


def by_hand(found: ModelProto, state: dict[str, str], inputs: dict[str, Array]) -> list[Array]:
    """The first output of each call of ONNX Runtime, which gets the states from the call before,
    and zeros before the first."""
    session = onnxruntime.InferenceSession(found.SerializeToString())
    ports = {port.name: port for port in session.get_inputs()}
    names = [port.name for port in session.get_outputs()]
    dtype = next(iter(inputs.values())).dtype
    kept = {own: np.zeros(ports[own].shape, dtype) for own in state}
    results = []
    for k in range(CALLS):
        given = {name: array[k] for name, array in inputs.items()}
        made = dict(zip(names, session.run(None, {**given, **kept}), strict=True))
        kept = {own: made[output] for own, output in state.items()}
        results.append(made[names[0]])
    return results


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (streaming(), {"h0": "h1", "c0": "c1"}),
        (swapping(), {"a": "a2", "b": "b2"}),
        (adding(), {"a": "y"}),
        (adding(outputs="y x"), {"a": "x"}),
        (adding(outputs="y a"), {"a": "a"}),
        (adding("x a b", "y"), {"a": "y", "b": "y"}),
        (quantized(0.1), {"a": "y"}),
    ],
    ids=["lstm", "swap", "returned", "input", "itself", "unread", "uint8"],
)
def test_calls_give_what_states_by_hand_give(
    found: ModelProto, state: dict[str, str], tmp_path: Path
) -> None:
    path, project = written(found, tmp_path), tmp_path / "p"
    pairs = [f"{output}={own}" for own, output in state.items()]
    microgen.generate(path, "native", project, state=pairs)
    rng = np.random.default_rng(1)
    (port,) = (p for p in found.graph.input if p.name not in state)
    shape = [dim.dim_value for dim in port.type.tensor_type.shape.dim]
    data = rng.normal(size=(CALLS, *shape)).astype(np.float32)
    if port.type.tensor_type.elem_type == TensorProto.UINT8:
        data = (data * 20 + 60).astype(np.uint8)
    ran = microgen.run(project, {"x": data}, compare=True)
    (values,) = ran.outputs.values()
    wanted = np.array(by_hand(found, state, {"x": data}))
    if data.dtype == np.uint8:
        assert np.array_equal(values, wanted)
    assert ran.verdicts
    np.testing.assert_allclose(values.astype("f"), wanted.astype("f"), rtol=0, atol=1e-6)
    assert [verdict.ok for verdict in ran.verdicts] == [True] * len(ran.verdicts)


def test_a_state_begins_with_a_bound_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, project = written(adding(outputs="y x"), tmp_path), str(tmp_path / "p")
    given = ["--state", "y=a", "--bind", "a=[1,2,3]"]
    assert main(["inspect", str(path), "-q", *given]) == 0
    assert main(["generate", str(path), "-b", "native", "-q", "-o", project, *given]) == 0
    record = json.loads((tmp_path / "p/microgen.json").read_text())
    assert (record["options"]["state"], record["options"]["bind"]) == (["y=a"], [])
    assert main(["verify", project, "--reproduce", "-q"]) == 0
    np.savez(tmp_path / "in.npz", x=np.ones((2, 3), np.float32))
    capsys.readouterr()
    files = ["--input", str(tmp_path / "in.npz"), "--output", str(tmp_path / "out.npz")]
    assert main(["run", project, "--compare", "-q", *files]) == 0
    # All outputs are states, or inputs that are returned.
    assert np.load(tmp_path / "out.npz")["x"].tolist() == [[1, 1, 1]] * 2


def test_an_initialiser_of_an_input_is_its_first_value(tmp_path: Path) -> None:
    found = adding()
    found.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(3, "f"), "a"))
    graph = frontends.load(written(found, tmp_path), state=["y=a"])
    assert graph.initial["a"].tolist() == [1, 1, 1]
    assert (graph.inputs, graph.variables, graph.updates) == (("x",), ("a",), {"a": "y"})


def test_the_kept_model_has_its_states(tmp_path: Path) -> None:
    request = Request(state=["h1=h0", "c1=c0"])
    data = frontends.read(written(streaming(), tmp_path), request)[1][".onnx"]
    assert isinstance(data, bytes)
    again = written(onnx.load_from_string(data), tmp_path, "again.onnx")
    assert frontends.load(again).updates == {"h0": "h1", "c0": "c1"}
    # The same pairs again change nothing.
    assert frontends.load(again, state=["h1=h0"]).updates == {"h0": "h1", "c0": "c1"}


def test_names_may_contain_an_equals_sign(tmp_path: Path) -> None:
    found = network([node("Add", "x a=b", "y=z")], "x a=b", "y=z")
    assert frontends.load(written(found, tmp_path), state=["y=z=a=b"]).updates == {"a=b": "y=z"}
    twice = network([node("Add", "x a", "y"), node("Neg", "y", "y=y")], "x a y=a", "y y=y")
    with pytest.raises(MicrogenError, match="names several pairs"):
        frontends.load(written(twice, tmp_path), state=["y=y=a"])


@pytest.mark.parametrize(
    ("found", "state", "sentence"),
    [
        (adding(), ["y"], "--state: 'y' is not of the form OUT=IN"),
        (adding(), ["=a"], "--state: '=a' is not of the form OUT=IN"),
        (adding(), ["z=a"], 'the model has no output "z"; it has "y"'),
        (adding(), ["y=\x1b[2J*/"], 'the model has no input "?[2J*/"; it has "x", "a"'),
        (adding(), ["y=a", "y=x"], "all inputs are states; a network needs an input"),
        (swapping(), ["a2=a", "b2=a"], 'gives the input "a" the next values "a2" and "b2"'),
        (quantized(0.2), ["y=a"], "the output has the scale 0.2 and zero point 0, and the input"),
    ],
)
def test_what_is_no_pair_is_refused(
    found: ModelProto, state: list[str], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(MicrogenError) as caught:
        frontends.load(written(found, tmp_path), state=state)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "kind", "sentence"),
    [
        ((1, 3), FLOAT, "the output is float32[3], and the input float32[1,3]; a state has one"),
        ((3,), TensorProto.INT32, "the output is float32[3], and the input int32[3]"),
        ((0,), FLOAT, "the input has no elements; leave it out"),
    ],
)
def test_a_state_has_one_type(
    shape: tuple[int, ...], kind: int, sentence: str, tmp_path: Path
) -> None:
    found = model(
        [node("Neg", "x", "y")], [info("x", (3,)), info("a", shape, kind)], [info("y", None)]
    )
    with pytest.raises(MicrogenError) as caught:
        frontends.load(written(found, tmp_path), state=["y=a"])
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["[", "[1]", '{"a": 1}', '[["q", "y"]]', '[["a", ["y"]]]', '[["a","y"],["a","y"]]', "null"],
)
def test_metadata_that_are_no_pairs_are_refused(text: str, tmp_path: Path) -> None:
    found = adding()
    found.metadata_props.add(key="microgen.state", value=text)
    with pytest.raises(MicrogenError, match=r'"microgen\.state", which is no list of pairs'):
        frontends.load(written(found, tmp_path))


def test_other_formats_and_executors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match="have operators for their states; leave --state out"):
        frontends.load(SMALL, state=["a=b"])
    path = written(swapping(), tmp_path)
    with pytest.raises(MicrogenError, match="keeps no state between runs"):
        microgen.generate(path, "native", tmp_path / "p", state=["a2=a"], executor="graph")
