"""``microgen inspect`` of libraries: microgen's own, and those of TVM's versions 5, 6 and 7."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.graph import params_file
from microgen.interface.cli import main
from microgen.tvm.mlf import reader
from tests.support.places import DIGITS
from tests.tvm.mlf import tvm_archives
from tests.tvm.mlf.tvm_archives import CMSIS, C, pack

Capture = pytest.CaptureFixture[str]


def _inspected(path: Path, capsys: Capture) -> dict[str, Any]:
    assert main(["inspect", str(path), "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert main(["inspect", str(path)]) == 0
    assert f"Model Library Format {data['version']}" in capsys.readouterr().out
    return data


def test_our_archive_and_our_folder_are_shown_alike(tmp_path: Path, capsys: Capture) -> None:
    done = microgen.generate(DIGITS, "mps2_an386", tmp_path / "p")
    microgen.export(tmp_path / "p", tmp_path / "x.tar")
    folder = _inspected(tmp_path / "p" / "model", capsys)
    archive = _inspected(tmp_path / "x.tar", capsys)
    assert folder["kind"] == "library"
    assert folder["modules"] == archive["modules"]
    assert folder["files"].items() <= archive["files"].items()
    (module,) = folder["modules"].values()
    assert module["main"][0]["workspace_size_bytes"] == done.plan.peak
    assert module["main"][0]["target"] == "c -keys=cortex-m4f"
    assert [p["name"] for p in module["parameters"]] == list(done.program.parameters)
    assert module["parameters"][0] == {
        "name": "p0",
        "dtype": "int8",
        "shape": [16, 3, 3, 1],
        "nbytes": 144,
    }


def test_a_project_is_still_a_project(tmp_path: Path, capsys: Capture) -> None:
    microgen.generate(DIGITS, "native", tmp_path / "p")
    assert main(["inspect", str(tmp_path / "p"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "project"


@pytest.mark.parametrize(
    "tar_format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT]
)
def test_version_5_of_the_graph_executor(tar_format: int, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "model.tar"
    path.write_bytes(pack(tvm_archives.version5(), tar_format))
    found = _inspected(path, capsys)
    assert found["version"] == 5
    module = found["modules"]["add"]
    assert module["target"] == [C]
    assert module["executors"] == ["graph"]
    assert module["sids"] == [
        {"storage_id": 0, "size_bytes": 2, "input_binding": "a"},
        {"storage_id": 1, "size_bytes": 8, "input_binding": "p1"},
        {"storage_id": 2, "size_bytes": 8, "input_binding": ""},
    ]
    assert module["main"] == [
        {
            "device": 1,
            "target": "",
            "workspace_size_bytes": 1024,
            "constants_size_bytes": 80,
            "io_size_bytes": 18,
            "inputs": {},
            "outputs": {},
        }
    ]
    assert [(p["name"], p["shape"]) for p in module["parameters"]] == [
        ("p0", [8, 3, 3, 1]),
        ("p1", [2]),
    ]
    assert found["files"]["src/relay.txt"] == 21


def test_version_6_has_a_list_of_targets(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "m").write_bytes(pack(tvm_archives.version6()))
    found = _inspected(tmp_path / "m", capsys)
    assert found["version"] == 6
    assert found["modules"]["add"]["target"] == [C]


@pytest.mark.parametrize("names", [("default",), ("first", "Second_2")])
def test_version_7_has_one_module_or_several(
    names: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "m.tar").write_bytes(pack(tvm_archives.version7(*names)))
    found = _inspected(tmp_path / "m.tar", capsys)
    assert sorted(found["modules"]) == sorted(names)
    for name in names:
        module = found["modules"][name]
        assert module["target"] == [C, CMSIS]
        assert module["external_dependencies"] == ["tvm_standalone_crt"]
        assert module["main"][0]["inputs"] == {"a": {"dtype": "uint8", "size": 2}}
        assert module["main"][0]["outputs"] == {"output": {"dtype": "float32", "size": 16}}
        assert len(module["parameters"]) == 2


def test_the_operator_style_has_buffers_instead(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "m.tar").write_bytes(pack(tvm_archives.operator()))
    module = _inspected(tmp_path / "m.tar", capsys)["modules"]["add"]
    assert module["style"] == "operator"
    assert module["operators"] == {
        "add": [
            {"input_binding": "A", "size_bytes": 2},
            {"input_binding": "C", "size_bytes": 2},
        ]
    }


def test_a_compressed_archive_is_read_too(tmp_path: Path) -> None:
    files = tvm_archives.version7("default")
    (tmp_path / "a.tar").write_bytes(pack(files))
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(pack(files)))
    (tmp_path / "c").write_bytes(pack(files, mode="w:gz"))
    assert (
        reader.load(tmp_path / "a.tar")
        == reader.load(tmp_path / "b.tar.gz")
        == reader.load(tmp_path / "c")
    )


def test_an_extracted_archive_is_read_as_the_archive(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(pack(tvm_archives.version7("default")))
    with tarfile.open(tmp_path / "a.tar") as archive:
        for member in filter(tarfile.TarInfo.isfile, archive.getmembers()):
            data = archive.extractfile(member)
            assert data is not None
            path = tmp_path / "a" / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.read())
    assert reader.load(tmp_path / "a") == reader.load(tmp_path / "a.tar")


def test_long_names_are_read_in_every_format(tmp_path: Path) -> None:
    name = "x" * 150
    for tar_format in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        (tmp_path / "a.tar").write_bytes(pack(tvm_archives.version7(name), tar_format))
        assert f"codegen/host/include/tvmgen_{name}.h" in reader.load(tmp_path / "a.tar").files


def test_parameters_of_dtypes_that_microgen_has_not_are_described() -> None:
    half = bytearray(params_file.dumps({"w": np.zeros((3, 2), np.int16)}))
    at = half.index(bytes([0, 16, 1, 0]))
    half[at : at + 4] = bytes([2, 16, 1, 0])
    (found,) = params_file.describe(bytes(half))
    assert (found.dtype, found.shape, found.nbytes) == ("float16", (3, 2), 12)
    half[at : at + 4] = bytes([1, 8, 2, 0])
    assert params_file.describe(bytes(half))[0].dtype == "uint8x2"


def test_names_from_an_archive_do_not_reach_the_terminal_raw(
    tmp_path: Path, capsys: Capture
) -> None:
    files = tvm_archives.version7("default")
    files["metadata.json"] = files["metadata.json"].replace(b"full-model", b"[red]\\u001b[31m")
    (tmp_path / "a.tar").write_bytes(pack(files))
    assert main(["inspect", str(tmp_path / "a.tar")]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[red]?[31m" in out
