"""Libraries of models in which external code generators compiled some parts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.tvm.mlf import reader, tar
from microgen.version import __version__
from tests.support.external_networks import TOY, convolution
from tests.support.tools import NEEDS_NINJA

GUIDE = Path(__file__).resolve().parents[3] / "examples" / "byoc_guide.relay"


def _dependencies(project: Path) -> list[dict[str, str]]:
    metadata = json.loads((project / "model" / "metadata.json").read_text())
    assert metadata["version"] == 7
    found: list[dict[str, str]] = metadata["modules"]["default"]["external_dependencies"]
    return found


def _on_the_archive(name: str, url: str) -> dict[str, str]:
    return {
        "short_name": name,
        "url": url,
        "url_type": "mlf_path",
        "version_spec": __version__,
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("external") / "p"
    microgen.generate(convolution(), "native", made, codegen=("toy", "dnnl"), codegen_path=TOY)
    return made


def test_what_modules_need_is_named_with_its_place(project: Path) -> None:
    assert _dependencies(project) == [
        _on_the_archive("microgen_crt", "./runtime"),
        _on_the_archive("dnnl_json", "./runtime"),
        _on_the_archive("toy", "./codegens/toy"),
    ]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["microgen_crt"]),
        ({"codegen": ("ccompiler",)}, ["microgen_crt"]),
        ({"codegen": ("examplejsoncompiler", "ccompiler")}, ["microgen_crt", "examplejson"]),
    ],
)
def test_nothing_is_named_that_is_not_needed(
    options: dict[str, Any], names: list[str], tmp_path: Path
) -> None:
    microgen.generate(GUIDE, "native", tmp_path / "p", **options)
    assert [d["short_name"] for d in _dependencies(tmp_path / "p")] == names


def test_the_archive_has_every_place_that_is_named(project: Path, tmp_path: Path) -> None:
    microgen.export(project, tmp_path / "x.tar")
    files = tar.read((tmp_path / "x.tar").read_bytes())
    for dependency in _dependencies(project):
        folder = dependency["url"].removeprefix("./")
        assert any(name.startswith(f"{folder}/") for name in files)
    assert {"codegens/toy/toy.c", "codegens/toy/include/toy.h"} <= files.keys()
    assert "runtime/src/dnnl/runtime_dnnl_json.c" in files
    (module,) = reader.load(tmp_path / "x.tar").modules.values()
    assert module.external_dependencies == ("microgen_crt", "dnnl_json", "toy")


def test_constants_that_modules_are_handed_count_for_their_target(project: Path) -> None:
    metadata = json.loads((project / "model" / "metadata.json").read_text())
    main = metadata["modules"]["default"]["memory"]["functions"]["main"]
    # The kernels use the bias, and dnnl the convolution's weights.
    sizes = {entry["target"]: entry["constants_size_bytes"] for entry in main}
    assert sizes == {"c -keys=host": 4 * 4, "dnnl": 4 * 4 * 4 * 3 * 3, "toy": 0}


PROGRAM = """
#include "tvmgen_default.h"
static float x[TVMGEN_DEFAULT_X_SIZE / sizeof(float)];
static float output[TVMGEN_DEFAULT_OUTPUT_SIZE / sizeof(float)];
int main(void)
{
    struct tvmgen_default_inputs in = {x};
    struct tvmgen_default_outputs out = {.output = output};
    return (int)tvmgen_default_run(&in, &out);
}
"""
PLATFORM = "platform"  # the folder of what belongs to programs, not to models


@NEEDS_NINJA
def test_the_archive_stands_alone(project: Path, tmp_path: Path) -> None:
    microgen.export(project, tmp_path / "x.tar")
    subprocess.run(["tar", "xf", "x.tar"], cwd=tmp_path, check=True)
    (tmp_path / "main.c").write_text(PROGRAM)
    host, runtime = tmp_path / "codegen/host", tmp_path / "runtime"
    sources = [p for p in (host / "src").iterdir() if p.suffix in (".c", ".S")]
    sources += [p for p in (runtime / "src").rglob("*.c") if p.parent.name != PLATFORM]
    sources += [tmp_path / "main.c", *(tmp_path / "codegens").rglob("*.c")]
    folders = (host / "include", runtime / "include", runtime / "src")
    include = [f"-I{folder}" for folder in (*folders, tmp_path / "codegens/toy/include")]
    command = ["cc", "-std=c99", *include, *map(str, sources), "-o", str(tmp_path / "a.out")]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "a.out"], check=True)
