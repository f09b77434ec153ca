"""--dim and --bind: open sizes and parameters of ONNX models, and external data."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

import microgen
from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.frontends.model_format import Request
from microgen.frontends.onnx import given
from microgen.graph.ir.graph import DType
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.interface.cli import main
from tests.frontends.onnx.models import INT64, info, model, written
from tests.support.places import SMALL


def reshaping() -> ModelProto:
    """A network with open sizes, a computed shape and a parameter."""
    nodes = [
        helper.make_node("Mul", ["x", "k"], ["t"]),
        helper.make_node("Reshape", ["t", "s"], ["y"]),
    ]
    inputs = [info("x", ("batch", "H", None)), info("k", ()), info("s", (2,), INT64)]
    return model(nodes, inputs, [info("y", ("batch", None))])


def test_sizes_and_values_become_part_of_the_model(tmp_path: Path) -> None:
    path = written(reshaping(), tmp_path)
    np.save(tmp_path / "s.npy", np.array([1, -1]))
    dim, bind = ["H=4", "x:2=5"], [f"s={tmp_path / 's.npy'}", "k=2.5"]
    graph = frontends.load(path, dim=dim, bind=bind)
    assert graph.inputs == ("x",)
    assert graph.types["y"].shape == (1, 20)
    kept = tmp_path / "kept.onnx"
    kept.write_bytes(frontends.read(path, Request(dim=dim, bind=bind))[1][".onnx"])
    again = frontends.load(kept)
    assert (again.nodes[0].op, again.types) == (graph.nodes[0].op, graph.types)
    given = {"x": np.ones((1, 4, 5), np.float32)}
    assert (evaluate(again, given, registry())["y"] == 2.5).all()


def test_the_batch_is_1_or_what_is_given(tmp_path: Path) -> None:
    path = written(reshaping(), tmp_path)
    dim, bind = ["H=4", "x:2=5", "batch=3"], ["s=[3,20]"]
    assert frontends.load(path, dim=dim, bind=bind).types["x"].shape == (3, 4, 5)


def test_a_file_to_which_nothing_is_given_is_kept_as_it_is(tmp_path: Path) -> None:
    path = written(reshaping(), tmp_path)
    assert frontends.files(path) == {".onnx": path.read_bytes()}


@pytest.mark.parametrize(
    ("dim", "bind", "sentence"),
    [
        ([], [], 'm.onnx: its inputs have the symbolic dimensions "H", "x:2"; give sizes: --dim '),
        (["H=4", "x:2=5"], [], "give its value with --bind s=FILE.npy, or =NUMBERS"),
        (["W=4"], [], 'm.onnx: --dim: has no symbolic dimension "W"; it has "batch", "H", "x:2"'),
        (["H"], [], "--dim: 'H' is not of the form NAME=N"),
        (["H=0"], [], "--dim: '0' is not a size of 'H'; give a number from 1 to 2147483647"),
        (["H=-1"], [], "--dim: '-1' is not a size of 'H'"),
        (["H=99999999999"], [], "--dim: '99999999999' is not a size of 'H'"),
        (["H=2", "H=3"], [], "--dim: gives 'H' twice"),
        ([], ["z=1"], '--bind z: the model has no such input; it has "x", "k", "s"'),
        ([], ["s=[1,2,3]"], "--bind s: the value has the shape [3], and the input [2]"),
        ([], ["s=[1,2.5]"], "--bind s: '[1,2.5]' is not of the input's type int64"),
        ([], ["s=true"], "--bind s: 'true' is not of the input's type int64"),
        ([], ["s=[1,9223372036854775808]"], "is not of the input's type int64"),
        ([], ["s=[[1],[2,3]]"], "--bind s: '[[1],[2,3]]' is not a value; give a number, a list"),
        ([], ["s=abc"], "--bind s: 'abc' is not a value"),
        ([], ["s=none.npy"], "--bind s: none.npy: no such file"),
        ([], ["k=true"], "--bind k: 'true' is not of the input's type float32"),
        ([], ["k"], "--bind: 'k' is not of the form INPUT=FILE.npy or INPUT=NUMBERS"),
    ],
)
def test_what_does_not_fit_is_refused(
    dim: list[str], bind: list[str], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(MicrogenError) as caught:
        frontends.load(written(reshaping(), tmp_path), dim=dim, bind=bind)
    assert sentence in str(caught.value)


def test_an_array_has_to_be_of_the_inputs_dtype(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(MicrogenError, match="is not a regular file"):
        given.literal(str(tmp_path / "pipe.npy"), DType.INT8, "here")
    path = tmp_path / "s.npy"
    np.save(path, np.array([1, 2], np.int32))
    with pytest.raises(MicrogenError, match=r"is of int32, and the input of int64; save array"):
        frontends.load(written(reshaping(), tmp_path), bind=[f"s={path}"])
    np.save(path, np.array([{}], object), allow_pickle=True)
    with pytest.raises(MicrogenError, match="cannot be read"):
        frontends.load(written(reshaping(), tmp_path), bind=[f"s={path}"])


def test_bools_are_bound_by_words(tmp_path: Path) -> None:
    choosing = helper.make_node("Where", ["c", "x", "x"], ["y"])
    inputs = [info("x", (2,)), info("c", (2,), TensorProto.BOOL)]
    path = written(model([choosing], inputs, [info("y", (2,))]), tmp_path)
    data = frontends.read(path, Request(bind=["c=[true,false]"]))[1][".onnx"]
    (found,) = onnx.load_from_string(data).graph.initializer
    assert onnx.numpy_helper.to_array(found).tolist() == [True, False]


def test_other_formats_have_no_parameters() -> None:
    for load in (frontends.load, functools.partial(microgen.compile_model, board="native")):
        with pytest.raises(
            MicrogenError, match=r"inputs of \.tflite files cannot become constants"
        ):
            load(SMALL, bind=["a=1"])


def test_relay_has_no_open_sizes(tmp_path: Path) -> None:
    (tmp_path / "m.relay").write_text(
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1), int8]) { %x }'
    )
    with pytest.raises(MicrogenError, match="have fixed shapes; leave --dim out"):
        frontends.load(tmp_path / "m.relay", dim=["a=1"])


def test_a_project_contains_what_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, project = written(reshaping(), tmp_path), str(tmp_path / "p")
    given = ["--dim", "H=2", "--dim", "x:2=3", "--bind", "s=[1,6]"]
    assert main(["inspect", str(path), "-q", *given]) == 0
    assert main(["generate", str(path), "-b", "native", "-q", "-o", project, *given]) == 0
    record = json.loads((tmp_path / "p/microgen.json").read_text())
    assert (record["options"]["dim"], record["options"]["bind"]) == ([], [])
    assert main(["verify", project, "--reproduce", "-q"]) == 0
    capsys.readouterr()
    assert main(["run", project, "--compare", "--json"]) == 0
    names = [each["name"] for each in json.loads(capsys.readouterr().out)["comparisons"]]
    assert any(name.startswith("numpy reference") for name in names)


def external(folder: Path, **changes: str) -> Path:
    """A model whose weights are in another file; entries of its table are changed."""
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    found = model(nodes, [info("x", (2, 3))], [info("y", (2, 3))], {"w": weights})
    path = folder / "m.onnx"
    onnx.save(found, path, save_as_external_data=True, location="m.data", size_threshold=0)
    found = onnx.load(path, load_external_data=False)
    for entry in found.graph.initializer[0].external_data:
        entry.value = changes.get(entry.key, entry.value)
    path.write_bytes(found.SerializeToString())
    return path


def test_external_data_becomes_part_of_the_projects_model(tmp_path: Path) -> None:
    path = external(tmp_path)
    (kept,) = frontends.files(path).values()
    (tmp_path / "m.data").unlink()
    path.write_bytes(kept)
    assert frontends.load(path).constants["w"].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"location": "/etc/passwd"}, "which is not in the model's folder"),
        ({"location": "../m.data"}, "which is not in the model's folder"),
        ({"location": "a/../../m.data"}, "which is not in the model's folder"),
        ({"location": "..\\m.data"}, "which is not in the model's folder"),
        ({"location": ""}, "which is not in the model's folder"),
        ({"location": "link"}, "which is not in the model's folder"),
        ({"location": "loop"}, "m.onnx: "),
        ({"location": "a\0b"}, "m.onnx: "),
        (
            {"location": "absent"},
            "the file 'absent', which is not next to the model; that file holds",
        ),
        ({"location": "."}, "is not a regular file"),
        ({"length": "25"}, "has 25 bytes of external data, not 24"),
        ({"length": "-1"}, "has the length '-1' of external data"),
        ({"offset": "4"}, 'needs the bytes 4 to 28 of "m.data", which has 24'),
        ({"offset": "9" * 30}, "has the offset"),
    ],
)
def test_external_data_is_only_next_to_the_model(
    changes: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/m.data").write_bytes(b"\0" * 24)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "outside/m.data")
    (folder / "loop").symlink_to("loop")
    with pytest.raises(MicrogenError) as caught:
        frontends.load(external(folder, **changes))
    assert sentence in str(caught.value)


def test_data_in_a_function_or_attribute_is_found(tmp_path: Path) -> None:
    tensor = onnx.numpy_helper.from_array(np.ones(3, np.float32), "v")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="v.bin")
    nodes = [
        helper.make_node("Constant", [], ["w"], value=tensor),
        helper.make_node("Add", ["x", "w"], ["y"]),
    ]
    path = written(model(nodes, [info("x", (3,))], [info("y", (3,))]), tmp_path)
    (tmp_path / "v.bin").write_bytes(np.full(3, 2, np.float32).tobytes())
    assert frontends.load(path).constants["w"].tolist() == [2, 2, 2]
