"""Text for people in a generated project: lines that fit, licences, one line for each call."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import microgen
from microgen.base import resources
from microgen.base.files import FileTree
from microgen.base.names import cnames
from microgen.interface.cli import main
from microgen.project.emit.layout import WIDTH
from tests.several import models
from tests.support import fused_layers

ROOT = Path(__file__).resolve().parents[3]
DIGITS = ROOT / "examples" / "digits" / "digits_int8.tflite"
SEED = ROOT / "examples" / "seed_demo.relay"
GUIDE = ROOT / "examples" / "byoc_guide.relay"

LONG = "keyword_spotting_small"

PROJECTS = {
    "int8": (DIGITS, "mps2_an386", {}),
    "packed": (DIGITS, "microbit", {"interface": "packed", "name": LONG}),
    "graph": (DIGITS, "mps2_an386", {"executor": "graph", "name": LONG}),
    "llvm": (DIGITS, "mps3_an547", {"toolchain": "llvm", "optimize": "flash"}),
    "workspace I/O": (DIGITS, "qemu_riscv32", {"workspace_io": True, "name": LONG}),
    "pools": (DIGITS, "native", {"pool": ("fast:*:external", "slow:*:external:const")}),
    "graph of Relay": (SEED, "mps3_an547", {"executor": "graph"}),
    "dnnl": (SEED, "mps3_an547", {"codegen": ("dnnl",), "name": LONG}),
    "examplejson": (GUIDE, "qemu_riscv32", {"codegen": ("examplejsoncompiler",)}),
    "ccompiler": (GUIDE, "native", {"codegen": ("ccompiler",)}),
}
NOT_OURS = ("crt/", "codegens/", "src/platform", "boards/startup.c", "LICENSE")
NOT_READ = (".json", ".relay", ".params", ".tflite", ".graph")


@functools.cache
def _files(name: str) -> Mapping[str, bytes]:
    model, board, options = PROJECTS[name]
    return microgen.compile_model(model, board, **options).files.files


def _texts(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """The text files that microgen wrote for people to read."""
    for path, data in files.items():
        if not path.startswith(NOT_OURS) and not path.endswith(NOT_READ):
            yield path, data.decode()


def _long(files: Mapping[str, bytes]) -> list[str]:
    """The lines that are too long. Nothing can break one that is little more than a name: the name
    of a function that computes several layers is long."""
    return [
        f"{path}: {line}"
        for path, text in _texts(files)
        for line in text.splitlines()
        if len(line) > WIDTH and max(map(len, re.findall(r"\w+", line))) < WIDTH * 3 // 4
    ]


@pytest.mark.parametrize("name", PROJECTS)
def test_lines_fit(name: str) -> None:
    assert _long(_files(name)) == []


def test_lines_of_several_models_fit(tmp_path: Path) -> None:
    files = models.written(tmp_path)
    pairs = [(file, name) for name, file in files.items()]
    microgen.generate_models(pairs, "native", tmp_path / "p", targets=("npu:device-api",))
    found = {
        p.relative_to(tmp_path / "p").as_posix(): p.read_bytes()
        for p in (tmp_path / "p").rglob("*")
        if p.is_file()
    }
    assert _long(found) == []


@pytest.mark.parametrize("name", PROJECTS)
def test_every_file_names_its_licence_in_the_first_lines(name: str) -> None:
    texts = dict(_texts(_files(name)))
    assert [p for p, text in texts.items() if "SPDX-License-Identifier: " not in text[:80]] == []
    numbers = [p for p in texts if p.endswith(("_params.c", "_blob.c"))]
    assert [p for p, text in texts.items() if "LicenseRef-Model */" in text[:80]] == numbers


def test_every_template_names_its_licence() -> None:
    for path in resources.folder("templates").rglob("*.j2"):
        assert "SPDX-License-Identifier: " in path.read_text()[:80], path


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_has_the_licence_and_says_whose_what_is(name: str) -> None:
    files = _files(name)
    assert files["LICENSE"] == (ROOT / "LICENSE").read_bytes()
    notice = files["NOTICE"].decode()
    assert "crt/include/tvm" in notice
    assert "model/parameters/" in notice
    assert ("\ncodegens/\n" in notice) is any(path.startswith("codegens/") for path in files)


def test_a_call_is_one_line_with_the_name_that_the_profile_prints() -> None:
    files = _files("int8")
    calls = json.loads(files["microgen.json"])["calls"]
    text = files["model/codegen/host/src/default_lib0.c"].decode()
    one = rf"^    /\* (\d+)/{len(calls)} (.*): (.*) -> (.*), (\w+) \*/$"
    found = re.findall(one, text, re.MULTILINE)
    assert [(int(number) - 1, layer, kernel) for number, layer, _, _, kernel in found] == [
        (call["index"], cnames.layer(step["layer"]), step["kernel"])
        for call in calls
        if len(call["steps"]) == 1
        for step in call["steps"]
    ]


def test_the_layers_of_one_function_are_lines_of_its_comment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fused_layers.fuse(monkeypatch, 4)
    files = microgen.compile_model(DIGITS, "mps2_an386").files.files
    text = files["model/codegen/host/src/default_lib0.c"].decode()
    kernels = [step["kernel"] for step in json.loads(files["microgen.json"])["calls"][0]["steps"]]
    image = "int8[1,8,8,16]"
    assert (
        f"    /* 1/4 conv1/Relu: int8[1,8,8,1] -> {image} in scratch[0], {kernels[0]}\n"
        f"     * then block/depthwise/Relu: {image} -> {image} in scratch[1024], {kernels[1]}\n"
        f"     * then block/pointwise/BiasAdd: {image} -> {image} in scratch[2048], {kernels[2]}\n"
        f"     * then block/add/Relu: {image}, {image} -> {image}, {kernels[3]} */\n"
    ) in text.replace("\n     *   ", " ")  # a long line goes on after a deeper indentation
    names = "conv1/Relu + block/depthwise/Relu + block/pointwise/BiasAdd + block/add/Relu"
    assert f"/* {names} */" in files["model/codegen/host/src/default_lib1.c"].decode()
    profile = files["src/profile_zephyr.c"].decode()
    texts = re.sub(r'"\s+"', "", profile)  # C joins them
    assert f'{{"{" + ".join(kernels)}",\n     "{names}"}},' in texts
    assert '    {"mg_softmax_s8_table", "probabilities"},\n' in profile
    assert not _long(files)


def test_why_a_kernel_was_taken_is_in_the_manifest_and_in_inspect_not_in_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = _files("int8")
    first = json.loads(files["microgen.json"])["calls"][0]["steps"][0]
    assert first["reason"].startswith(f"--optimize balanced: {first['kernel']} ")
    assert "; mg_conv2d_s8" in first["reason"]
    why = next(text for text in first["refusals"] if text.startswith("mg_conv2d_s8_rows_mve: "))
    assert why.endswith(": Arm Cortex-M4 with FPU has no mve")
    FileTree(files).write_to(tmp_path / "p")
    assert main(["inspect", str(tmp_path / "p"), "-v"]) == 0
    assert why in " ".join(capsys.readouterr().out.split())
    assert not [p for p, text in _texts(files) if "has no mve" in text]
