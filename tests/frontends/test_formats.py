"""A third format is a folder with a record, and no edit elsewhere: ``tests/toy_formats/toy``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.model_format import Format, ModuleFormat
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.interface.inspection import support
from tests.support.tools import NEEDS_GDBSERVER, NEEDS_NINJA

TOYS = Path(__file__).parent.parent / "toy_formats"
LAYERS = (
    {"name": "biased", "operator": "Bias", "inputs": ["x", "b"]},
    {"name": "pooled", "operator": "Pool", "inputs": ["biased"], "size": 2},
    {"name": "scaled", "operator": "Scale", "inputs": ["pooled", "f"]},
    {"name": "probabilities", "operator": "Softmax", "inputs": ["scaled"]},
)
WEIGHTS = {"b": [1.0, -2.0, 3.0], "f": [0.5]}


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where formats are found besides microgen's own."""
    monkeypatch.setattr(frontends, "__path__", [*frontends.__path__, str(TOYS)])
    frontends.formats.cache_clear()
    yield TOYS
    frontends.formats.cache_clear()
    for name in [name for name in sys.modules if name.startswith("microgen.frontends.toy")]:
        del sys.modules[name]


def written(folder: Path, *layers: Any, weights: dict[str, list[float]] = WEIGHTS) -> Path:
    """A model of an image [1,3,4,6] whose last layer is the output."""
    path = folder / "m.toy"
    model = {"inputs": {"x": [1, 3, 4, 6]}, "layers": layers, "outputs": [layers[-1]["name"]]}
    path.write_text(json.dumps(model))
    path.with_suffix(".weights").write_text(json.dumps(weights))
    return path


def sample() -> Array:
    return np.random.default_rng(0).uniform(-2, 2, (1, 3, 4, 6)).astype(np.float32)


def output(graph: Graph) -> Array:
    return evaluate(graph, {"x": sample()}, registry())[graph.outputs[0]]


def test_the_record_is_all_that_a_format_needs(toys: Path, tmp_path: Path) -> None:
    path = written(tmp_path, *LAYERS)
    graph = frontends.load(path)
    assert graph.inputs == ("x",)
    assert graph.outputs == ("probabilities",)
    oracle = frontends.oracle(path)
    assert oracle is not None
    (values,) = oracle.layers(frontends.files(path), [[sample()]])
    np.testing.assert_allclose(output(graph), values["probabilities"], rtol=1e-6)


def test_layers_keep_their_names_and_are_wrapped_into_layouts(toys: Path, tmp_path: Path) -> None:
    graph = frontends.load(written(tmp_path, *LAYERS[:2]))
    assert [(node.op, node.origin.layer) for node in graph.nodes] == [
        ("add", "biased"),
        ("layout_transform", "pooled"),
        ("nn.max_pool2d", "pooled"),
        ("layout_transform", "pooled"),
    ]
    # Twice the bias is a constant of the graph: its layer is one node.
    constant = graph.nodes[0].inputs[1]
    np.testing.assert_array_equal(graph.constants[constant].reshape(-1), [2.0, -4.0, 6.0])


def test_files_are_those_that_the_record_names(toys: Path, tmp_path: Path) -> None:
    path = written(tmp_path, *LAYERS)
    assert list(frontends.files(path)) == [".toy", ".weights"]
    path.with_suffix(".weights").unlink()
    assert list(frontends.files(path)) == [".toy"]


def test_what_is_listed_and_said_follows_the_records(toys: Path, tmp_path: Path) -> None:
    assert support.operators()[".toy"] == ("Bias", "Pool", "Scale", "Softmax")
    assert "## Operators of `.toy` files\n\nBias, Pool" in support.markdown()
    with pytest.raises(MicrogenError, match=r"give a model file that ends in .+, \.toy"):
        frontends.load(tmp_path / "m.txt")


@pytest.mark.parametrize(
    ("layer", "kind", "said"),
    [
        (
            {"name": "y", "operator": "Scale", "inputs": ["x", "x"]},
            UnsupportedError,
            'm.toy: layer "y" (Scale): has a computed factor; supported: constant factors',
        ),
        (
            {"name": "y", "operator": "Sort", "inputs": ["x"]},
            UnsupportedError,
            'm.toy: layer "y" (Sort): operator Sort is not supported: it would need an importer of '
            "its own; `microgen ops` lists those that are",
        ),
        (
            {"name": "y", "operator": "Pool", "inputs": ["x"], "size": 9},
            ModelError,
            'm.toy: layer "y" (Pool): the window covers 9x9, but the padded input is only 4x6: '
            "there is no output",
        ),
    ],
)
def test_refusals_name_the_layer_and_its_operator(
    layer: Any, kind: type[MicrogenError], said: str, toys: Path, tmp_path: Path
) -> None:
    with pytest.raises(kind) as caught:
        frontends.load(written(tmp_path, layer))
    assert str(caught.value) == said


def test_what_constants_make_counts_against_the_budget(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("microgen.graph.ops.budget.MOST_BYTES", 8)
    monkeypatch.setattr("microgen.graph.ops.budget.BYTES_OF_OWN", 0)
    with pytest.raises(UnsupportedError, match=r'layer "biased" \(Bias\): computes with constants'):
        frontends.load(written(tmp_path, *LAYERS))


@NEEDS_NINJA
@NEEDS_GDBSERVER
def test_a_firmware_is_compared_with_the_oracle_of_the_format(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "p"
    microgen.generate(written(tmp_path, *LAYERS), "native", project)
    microgen.build(project)
    result = microgen.run(project, {"x": sample()[None]}, compare=True)
    _, verdict = result.verdicts
    assert verdict.name == "ToyRT numpy"
    assert verdict.ok, str(verdict)
    assert verdict.layers is not None
    assert verdict.layers.compared
    assert verdict.other is not None
    assert verdict.other.compared
    monkeypatch.setattr("microgen.frontends.toy.runtime.SHIFT", 1.0)
    wrong = microgen.run(project, {"x": sample()[None]}, compare=True).verdicts[1]
    assert not wrong.ok
    assert wrong.other is not None
    assert wrong.other.first is not None
    assert wrong.other.first.layer == "biased"


def test_every_folder_has_a_record() -> None:
    folders = [p for p in Path(frontends.__file__).parent.iterdir() if (p / "__init__.py").exists()]
    found = frontends.formats()
    assert len(found) == len(folders)
    for suffix, each in found.items():
        assert isinstance(each, Format)
        assert re.fullmatch(r"\.[a-z]+", suffix)
        assert each.operators()
    assert [s for s, each in found.items() if isinstance(each, ModuleFormat)] == [".relay"]


def test_only_formats_that_bring_one_have_an_oracle(tmp_path: Path) -> None:
    oracle = frontends.oracle(tmp_path / "m.tflite")
    assert oracle is not None
    assert (oracle.name, oracle.profile) == ("LiteRT", "litert")
    assert frontends.oracle(tmp_path / "m.relay") is None
