"""TFLite models for generators of Relay: taken parts compute the same, others get a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.base.files import MANIFEST
from microgen.base.manifest import note
from microgen.interface import api
from microgen.interface.cli import main
from microgen.project.firmware.compiled import Compiled
from tests.compiler.partition.tflite_models import MODELS
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

ALL = ("dnnl", "ccompiler", "examplejsoncompiler")
WHOLE = {"composite": True, "merge_regions": True}
NOTE = note.header("default")
FLOAT = ("ad01_fp32", "pretrainedResnet", "vww_96_float", "kws_ref_model_float32")
# Usually each network but the largest once, two of them with merged regions.
_USUAL = {("native", name, i % 2 == 1) for i, name in enumerate(FLOAT) if name != "vww_96_float"}
FLOAT_CASES = [
    pytest.param(*(name, board, merges), marks=[pytest.mark.slow] * (key not in _USUAL))
    for name in FLOAT
    for board in ("native", "mps3_an547")
    for merges in (False, True)
    for key in ((board, name, merges),)
]
INT8 = (
    *("ad01_int8", "kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "str_ww_ref_model"),
)
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"{request.param}.tflite"
    path.write_bytes(MODELS[request.param])
    return path


def _taken(done: Compiled) -> dict[str, int]:
    """The number of nodes that each generator takes; the built-in kernels are one of them."""
    found: dict[str, int] = {}
    for region in done.partition.regions:
        inside = region.main.attrs.graph.nodes if region.main.op == "external" else region.nodes  # type: ignore[attr-defined]
        found[region.codegen] = found.get(region.codegen, 0) + len(inside)
    return found


def _agrees(model: Path, board: str, project: Path, **options: Any) -> Compiled:
    done = microgen.generate(model, board, project, **options)
    microgen.build(project)
    result = microgen.run(project, compare=True)  # verifies before it runs
    assert [v.is_skipped for v in result.verdicts] == [False, False]  # numpy and LiteRT
    assert all(v.ok for v in result.verdicts), list(map(str, result.verdicts))
    return done


CASES = [
    ("native", "image", ("dnnl",), {}, {"dnnl": 4, "builtin": 3}),
    ("native", "image", ("dnnl",), {"composite": True}, {"dnnl": 7}),
    ("mps3_an547", "image", ("dnnl",), WHOLE, {"dnnl": 7}),
    ("native", "elementwise", ("ccompiler",), {}, {"ccompiler": 3, "builtin": 1}),
    ("native", "elementwise", ("ccompiler", "dnnl"), WHOLE, {"ccompiler": 3, "dnnl": 1}),
    (
        "mps3_an547",
        "elementwise",
        ("examplejsoncompiler", "ccompiler", "dnnl"),
        WHOLE,
        {"examplejsoncompiler": 2, "ccompiler": 1, "dnnl": 1},
    ),
    ("native", "mixed", ("dnnl",), {}, {"dnnl": 1, "builtin": 4}),
    # As in tests/byoc/test_mixed.py, so that the same objects are linked.
    (
        "mps2_an386",
        "mixed",
        ("dnnl",),
        {"composite": True, "executor": "graph"},
        {"dnnl": 2, "builtin": 3},
    ),
    pytest.param(
        *("mps3_an547", "mixed", ("dnnl",), {"composite": True}, {"dnnl": 2, "builtin": 3}),
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.sampled(3)
@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize(
    ("board", "model", "codegen", "options", "taken"), CASES, indirect=["model"]
)
def test_a_network_agrees_with_numpy_and_litert(
    model: Path,
    codegen: tuple[str, ...],
    options: dict[str, Any],
    taken: dict[str, int],
    board: str,
    tmp_path: Path,
) -> None:
    done = _agrees(model, board, tmp_path / "p", codegen=codegen, **options)
    assert _taken(done) == taken
    assert not done.idle


@pytest.mark.sampled(1)
@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize(("name", "board", "merges"), FLOAT_CASES)
def test_float_networks_of_mlperf_agree(
    name: str, board: str, merges: bool, mlperf_models: Path, tmp_path: Path
) -> None:
    options = {"codegen": ("dnnl",), "composite": True, "merge_regions": merges}
    done = _agrees(mlperf_models / f"{name}.tflite", board, tmp_path / "p", **options)
    assert _taken(done)["dnnl"] > 0
    if name != "kws_ref_model_float32":  # its weights are int8
        assert _taken(done).keys() == {"dnnl"}


@pytest.mark.slow
@NEEDS_NINJA
@NEEDS_ARM
def test_a_float_network_of_mlperf_agrees_under_qemu(mlperf_models: Path, tmp_path: Path) -> None:
    model = mlperf_models / "ad01_fp32.tflite"
    done = _agrees(model, "mps3_an547", tmp_path / "p", codegen=("dnnl",), **WHOLE)
    assert _taken(done) == {"dnnl": 10}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", INT8)
def test_int8_networks_are_refused_and_stay_the_same(name: str, mlperf_models: Path) -> None:
    path = mlperf_models / f"{name}.tflite"
    plain = microgen.compile_model(path, "mps3_an547")
    asked = microgen.compile_model(path, "mps3_an547", codegen=ALL, **WHOLE)
    files, others = (
        {name: data for name, data in done.files.files.items() if name not in (MANIFEST, NOTE)}
        for done in (asked, plain)
    )  # these two record the options
    assert files == others
    assert [idle.name for idle in asked.idle] == list(ALL)
    for idle in asked.idle:
        assert "it is quantized, and TFLite's rounding has no form in Relay" in idle.reasons[0]


@pytest.mark.parametrize("model", ["mixed"], indirect=True)
def test_every_node_that_is_not_taken_has_its_reason(model: Path) -> None:
    found = api.partition(model, "native", codegen=("dnnl",), composite=True)
    assert [(r.by, r.what) for r in found.refusals] == [
        ("dnnl", "qnn.quantize"),
        ("dnnl", "nn.dense"),
        ("dnnl", "qnn.dequantize"),
    ]
    assert all(r.why for r in found.refusals)
    assert found.module is None


@pytest.mark.parametrize("model", ["mixed"], indirect=True)
def test_generate_tells_of_generators_that_take_nothing(
    model: Path, tmp_path: Path, capsys: Capture
) -> None:
    command = ["generate", str(model), "-b", "native", "--codegen", "ccompiler,dnnl"]
    assert main([*command, "-o", str(tmp_path / "p"), "--json"]) == 0
    out, err = capsys.readouterr()
    (line,) = [line for line in err.splitlines() if "takes nothing" in line]
    assert line.startswith("mixed.tflite: ccompiler takes nothing of the model: nn.dense: ")
    assert "`microgen partition` shows" in line
    assert "--composite" not in line  # ccompiler has no patterns
    (idle,) = json.loads(out)["idle_codegens"]
    assert idle["codegen"] == "ccompiler"
    assert "nn.softmax: ccompiler has no nn.softmax" in idle["reasons"]


@pytest.mark.parametrize("model", ["mixed"], indirect=True)
def test_generate_of_several_models_tells_of_each(
    model: Path, tmp_path: Path, capsys: Capture
) -> None:
    other = tmp_path / "elementwise.tflite"
    other.write_bytes(MODELS["elementwise"])
    command = ["generate", str(model), str(other), "-b", "native", "--codegen", "ccompiler"]
    assert main([*command, "-o", str(tmp_path / "p"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err.count("takes nothing of the model") == 1
    idle = [len(module["idle_codegens"]) for module in json.loads(out)["modules"]]
    assert idle == [1, 0]


def test_a_pattern_may_help_is_said(mlperf_models: Path, tmp_path: Path, capsys: Capture) -> None:
    command = ["generate", str(mlperf_models / "ad01_fp32.tflite"), "-b", "native"]
    assert main([*command, "--codegen", "dnnl", "-o", str(tmp_path / "p")]) == 0
    err = capsys.readouterr().err
    assert "dnnl takes nothing of the model: nn.dense: dnnl has no nn.bias_add" in err
    assert "--composite also tries its patterns of several operators" in err


@pytest.mark.parametrize("model", ["mixed"], indirect=True)
def test_nothing_is_said_where_nobody_was_asked(
    model: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["generate", str(model), "-b", "native", "-o", str(tmp_path / "p")]) == 0
    assert "takes nothing" not in capsys.readouterr().err
