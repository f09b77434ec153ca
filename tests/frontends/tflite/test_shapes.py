"""Shapes are inferred from the inputs on, whatever a file declares, and open sizes are given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen import frontends
from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.model_format import Request
from microgen.frontends.tflite import litert
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.interface.cli import main
from tests.frontends import mutated
from tests.frontends.tflite.test_convolution import transpose_conv
from tests.frontends.tweaked import Network
from tests.support.tflite_builder import OperatorSpec, TensorSpec


def floats(name: str, *shape: int, open_axes: tuple[int, ...] = ()) -> TensorSpec:
    """A float32 tensor, whose signature has -1 for the ``open_axes``."""
    signature = tuple(-1 if axis in open_axes else size for axis, size in enumerate(shape))
    return TensorSpec(name, shape, "float32", shape_signature=signature if open_axes else None)


def constant(name: str, values: object, dtype: str = "int32") -> TensorSpec:
    """A constant."""
    data = np.array(values, dtype)
    return TensorSpec(name, data.shape, dtype, data)


def dilated(batch: int = 1) -> Network:
    """The dilated Conv1D that Keras writes for an open batch: inner shapes have 1 for each size
    that the converter does not know."""
    rng = np.random.default_rng(3)
    return Network(
        (
            floats("x", batch, 8, 3, open_axes=(0,)),
            constant("block", [2]),
            constant("pads", [[2, 2]]),
            constant("crops", [[0, 0]]),
            constant("axis", 1),
            constant("axes", [-3]),
            constant("w", rng.normal(size=(4, 1, 3, 3)), "float32"),
            constant("b", rng.normal(size=4), "float32"),
            floats("s2b", 1, 1, 3, open_axes=(0, 1)),
            floats("e", 1, 1, 1, 3, open_axes=(0, 2)),
            floats("c", 1, 1, 1, 4, open_axes=(0, 2)),
            floats("q", 1, 1, 4, open_axes=(0, 1)),
            floats("y", 1, 8, 4, open_axes=(0,)),
        ),
        (
            OperatorSpec("SPACE_TO_BATCH_ND", ["x", "block", "pads"], ["s2b"]),
            OperatorSpec("EXPAND_DIMS", ["s2b", "axes"], ["e"]),
            OperatorSpec(
                *("CONV_2D", ["e", "w", "b"], ["c"], "Conv2DOptions"),
                {"padding": 1, "strideH": 1, "strideW": 1},
            ),
            OperatorSpec("SQUEEZE", ["c"], ["q"], "SqueezeOptions", {"squeezeDims": [1]}),
            OperatorSpec("BATCH_TO_SPACE_ND", ["q", "block", "crops"], ["y"]),
        ),
    )


def written(network: Network, folder: Path) -> Path:
    """The network's file."""
    path = folder / "m.tflite"
    path.write_bytes(network.to_bytes())
    return path


def compared(path: Path, **options: list[str]) -> None:
    """Compare the reference's outputs with LiteRT's, on the file as a project keeps it."""
    graph, files = frontends.read(path, Request(**options))
    rng = np.random.default_rng(5)
    sample = [rng.normal(size=graph.types[n].shape).astype(np.float32) for n in graph.inputs]
    (expected,) = litert.LiteRT().layers(files, [sample])
    found = evaluate(graph, dict(zip(graph.inputs, sample, strict=True)), registry())
    for name in graph.outputs:
        assert expected[name].shape == graph.types[name].shape
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=1e-6)


def test_an_open_batch_is_one(tmp_path: Path) -> None:
    path = written(dilated(), tmp_path)
    graph = frontends.load(path)
    assert graph.types["c"].shape == (2, 1, 4, 4)
    compared(path)


def test_the_batch_is_given(tmp_path: Path) -> None:
    path = written(dilated(), tmp_path)
    graph = frontends.load(path, dim=["batch=3"])
    assert (graph.types["x"].shape, graph.types["y"].shape) == ((3, 8, 3), (3, 8, 4))
    compared(path, dim=["batch=3"])


def test_declared_shapes_do_not_matter() -> None:
    """Every shape that an operator computes may be declared wrongly, even with another rank."""
    for network in (dilated(), mutated.small_network(), transpose_conv()):
        expected = network.load()
        made = {name for operator in network.operators for name in operator.outputs}
        for shape in ((), (1,), (0,), (-1, 7), (1, 1, 1, 1)):
            wrong = network
            for name in made:
                wrong = wrong.with_tensor(str(name), shape=shape, shape_signature=None)
            found = wrong.load()
            assert (found.nodes, found.types) == (expected.nodes, expected.types)
            assert all("declares shapes" in note for note in found.details)
            assert found.details


def test_right_declarations_give_no_note() -> None:
    assert transpose_conv().load().details == ()


def sized(*axes: int, size: int = 1) -> Network:
    """RELU of a tensor whose ``axes`` are open."""
    return Network(
        (floats("x", 1, size, 2, open_axes=axes), floats("y", 1, size, 2, open_axes=axes)),
        (OperatorSpec("RELU", ["x"], ["y"]),),
    )


def test_another_open_size_has_to_be_given(tmp_path: Path) -> None:
    path = written(sized(0, 1), tmp_path)
    with pytest.raises(UnsupportedError, match=r'leave the size "x:1" open; .*--dim x:1=N'):
        frontends.load(path)
    assert frontends.load(path, dim=["x:1=7"]).types["y"].shape == (1, 7, 2)
    compared(path, dim=["x:1=7", "batch=2"])


def test_a_size_that_the_file_states_is_taken(tmp_path: Path) -> None:
    """LiteRT runs the file with it."""
    path = written(sized(1, size=5), tmp_path)
    assert frontends.load(path).types["y"].shape == (1, 5, 2)
    assert frontends.load(path, dim=["x:1=6"]).types["y"].shape == (1, 6, 2)


@pytest.mark.parametrize(
    ("dim", "said"),
    [
        (["x:1=0"], "'0' is not a size"),
        (["x:2=4"], 'has no open size "x:2"; it has "batch", "x:1"'),
        (["x:1=4", "x:1=5"], "gives 'x:1' twice"),
        (["x:1"], "is not of the form NAME=N"),
        (["x:0=4"], 'has no open size "x:0"'),
    ],
)
def test_wrong_sizes(dim: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError) as caught:
        frontends.load(written(sized(0, 1), tmp_path), dim=dim)
    assert said in str(caught.value)


def test_a_fixed_file_has_no_open_size(tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match="it has none: leave --dim out"):
        frontends.load(written(transpose_conv(), tmp_path), dim=["batch=1"])


def test_a_project_keeps_the_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, project = written(dilated(), tmp_path), str(tmp_path / "p")
    given = ["--dim", "batch=2"]
    assert main(["generate", str(path), "-b", "native", "-q", "-o", project, *given]) == 0
    assert main(["verify", project, "--reproduce", "-q"]) == 0
    capsys.readouterr()
    assert main(["run", project, "--compare"]) == 0
    assert "LiteRT BUILTIN_REF: outputs equal on 8 of 8 samples" in capsys.readouterr().out


def test_the_note_is_for_verbose_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(dilated(), tmp_path)
    assert main(["inspect", str(path)]) == 0
    assert "declares shapes" not in capsys.readouterr().out
    assert main(["inspect", str(path), "-v"]) == 0
    assert '"s2b" is [2, 6, 3], not [1, 1, 3]' in capsys.readouterr().out


def test_a_shape_that_tensors_share_is_not_overwritten(
    tmp_path: Path,
) -> None:
    """A writer may store equal vectors once; then the new size would change a constant."""
    network = sized(0, 1)
    shared = network.replace(
        tensors=(*network.tensors, constant("k", np.ones((1, 1, 2)), "float32"), floats("z", 1)),
        operators=(*network.operators, OperatorSpec("ADD", ["y", "k"], ["z"], "AddOptions")),
        outputs=("z",),
    )
    path = written(shared, tmp_path)
    data = path.read_bytes()
    vector = np.array([3, 1, 1, 2], np.int32).tobytes()
    places = [i for i in range(0, len(data), 4) if data[i : i + len(vector)] == vector]
    assert len(places) == 3, "the shapes of x, y and k"
    found = bytearray(data)
    for i in range(0, len(data) - 4, 4):
        target = i + int.from_bytes(data[i : i + 4], "little")
        if target in places:  # offsets point forwards, so the last vector can stand for all
            found[i : i + 4] = (places[-1] - i).to_bytes(4, "little")
    path.write_bytes(bytes(found))
    with pytest.raises(ModelError, match=r'stores the shape of "k" together with an input\'s'):
        frontends.load(path, dim=["x:1=4"])


def test_several_signatures(tmp_path: Path) -> None:
    """Sizes are those of the chosen network."""
    network = replace(sized(0, 1), signatures=("one", "two"))
    path = written(network, tmp_path)
    assert frontends.load(path, signature="two", dim=["x:1=4"]).types["y"].shape == (1, 4, 2)


@pytest.mark.parametrize("code", ["RESHAPE", "SUM"])
def test_a_constant_without_elements(code: str, tmp_path: Path) -> None:
    """The converter writes tf.reshape(x, []) with a shape whose buffer has no bytes."""
    network = Network(
        (floats("x", 1, 1), constant("empty", []), floats("y", *([1, 1] * (code == "SUM")))),
        (OperatorSpec(code, ["x", "empty"], ["y"]),),
        ("x",),
        ("y",),
    )
    graph = frontends.load(written(network, tmp_path))
    x = np.array([[2.5]], np.float32)
    found = evaluate(graph, {"x": x}, registry())["y"]
    (layers,) = litert.LiteRT().layers({".tflite": network.to_bytes()}, [[x]])
    np.testing.assert_array_equal(found, layers["y"], strict=True)
