"""``microgen inspect`` of module blobs does not trust anything in them."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.base.errors import ModelError
from microgen.building import builder
from microgen.interface.cli import main
from microgen.relay import blob
from microgen.tvm.codegens.json_graph import JsonRuntime
from microgen.verifier.elf import elf as elf_reader
from tests.relay.blob.samples import ALL, KNOWN
from tests.support.external_networks import TOY, convolution
from tests.support.tools import NEEDS_NINJA

Capture = pytest.CaptureFixture[str]
SYMBOL = "__tvm_dev_mblob"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a runtime whose payload microgen does not know, and with one that it knows."""
    made = tmp_path_factory.mktemp("blobs") / "p"
    microgen.generate(convolution(), "native", made, codegen=("toy", "dnnl"), codegen_path=TOY)
    return made


@pytest.fixture(scope="module")
def elf(project: Path) -> Path:
    builder.build(project)
    return project / "build" / "firmware.elf"


def _shown(path: Path, capsys: Capture, *more: str) -> dict[str, Any]:
    assert main(["inspect", str(path), "--json", *more]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def _bytes(elf: Path) -> bytes:
    read = elf_reader.load(elf)
    (symbol,) = read.named(SYMBOL)
    return read.read(symbol.address, symbol.size) or b""


@NEEDS_NINJA
def test_an_elf_shows_tree_keys_symbols_constants_and_graphs(elf: Path, capsys: Capture) -> None:
    data = _shown(elf, capsys)
    (found,) = data["blobs"]
    assert (data["kind"], found["symbol"], found["nbytes"]) == ("elf", SYMBOL, len(_bytes(elf)))
    modules = found["modules"]
    assert [m["key"] for m in modules] == ["const_loader", "toy", "dnnl_json", "_lib"]
    assert modules[0]["imports"] == [1, 2, 3]
    assert [m["symbols"] for m in modules[1:3]] == [
        ["tvmgen_default_toy_main_2"],
        ["tvmgen_default_dnnl_main_0"],
    ]
    assert modules[2]["constants"] == ["dnnl_tvmgen_default_dnnl_main_0_const_0"]
    assert modules[2]["facts"]["kernels"] == ["nn.conv2d"]
    assert main(["inspect", str(elf)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "dnnl_json: 905 bytes; provides: tvmgen_default_dnnl_main_0" in text


@NEEDS_NINJA
def test_an_elf_and_its_project_have_one_blob(project: Path, elf: Path, capsys: Capture) -> None:
    from_elf, from_project = _shown(elf, capsys), _shown(project, capsys)
    assert from_project["kind"] == "project"
    assert from_elf["blobs"] == from_project["blobs"]


@NEEDS_NINJA
def test_payloads_are_extracted(elf: Path, project: Path, tmp_path: Path, capsys: Capture) -> None:
    data = _shown(elf, capsys, "--extract", str(tmp_path / "a" / "b"))
    files = {path.name: path.read_bytes() for path in (tmp_path / "a" / "b").iterdir()}
    assert [Path(p).name for p in data["extracted"]] == list(
        dict.fromkeys(Path(p).name for p in data["extracted"])
    )
    assert files.keys() == {Path(path).name for path in data["extracted"]}
    stem = "2_dnnl_json_tvmgen_default_dnnl_main_0"
    graph = files[f"{stem}.json"].decode()
    constants = ("dnnl_tvmgen_default_dnnl_main_0_const_0",)
    assert (
        files[f"{stem}.bin"] == JsonRuntime("tvmgen_default_dnnl_main_0", graph, constants).dumps()
    )
    for content in (name for name in files if name.endswith(".bin")):
        assert files[content] in _bytes(elf)
    _shown(project, capsys, "--extract", str(tmp_path / "c"))
    assert {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()} == files


def test_what_is_there_is_kept_unless_forced(tmp_path: Path, capsys: Capture) -> None:
    raw, out, other = tmp_path / "blob.bin", tmp_path / "out", tmp_path / "other"
    raw.write_bytes(ALL["firmware"])
    other.write_bytes(b"untouched")
    names = _shown(raw, capsys, "--extract", str(out))["extracted"]
    written = {name: Path(name).read_bytes() for name in names}
    Path(names[0]).write_bytes(b"mine")
    Path(names[1]).unlink()
    Path(names[1]).symlink_to(other)
    assert main(["inspect", str(raw), "--extract", str(out)]) == 2
    assert f"{names[0]}: already exists" in capsys.readouterr().err
    assert Path(names[0]).read_bytes() == b"mine"
    _shown(raw, capsys, "--extract", str(out), "--force")
    assert {name: Path(name).read_bytes() for name in names} == written
    assert other.read_bytes() == b"untouched"


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_file_that_is_a_blob(name: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(ALL[name])
    data = _shown(path, capsys)
    assert data["kind"] == "blob"
    assert len(data["modules"]) == len(blob.loads(ALL[name], KNOWN).modules)


def test_nothing_to_extract(tmp_path: Path, capsys: Capture) -> None:
    microgen.generate(convolution(), "native", tmp_path / "p")
    assert main(["inspect", str(tmp_path / "p"), "--extract", str(tmp_path / "x")]) == 2
    assert "no module blob" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_blob_is_shown_or_refused_in_one_line(
    seed: int, tmp_path: Path, capsys: Capture
) -> None:
    rng = random.Random(seed)
    data = bytearray(ALL["firmware"])
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(8, len(data))] = rng.randrange(256)
    path = tmp_path / "blob.bin"
    path.write_bytes(data)
    code = main(["inspect", str(path), "--extract", str(tmp_path / "x")])
    out, err = capsys.readouterr()
    assert code in (0, ModelError.exit_code)
    assert all(c.isprintable() or c == "\n" for c in out + err)
    assert err.count("\n") == (code != 0)


HOSTILE = "[/bold]\033[31m../../x__tvm_dev_mblob"


@NEEDS_NINJA
@pytest.mark.parametrize("content", ['.incbin "blob.bin"', ".zero 40", ".byte 1"])
def test_symbols_of_an_elf_do_no_harm(content: str, tmp_path: Path, capsys: Capture) -> None:
    """Symbols with markup, control characters, paths, or huge sizes, and two for the same bytes."""
    (tmp_path / "blob.bin").write_bytes(ALL["firmware"])
    size = len(ALL["firmware"]) if "incbin" in content else 40 if "zero" in content else 10**9
    (tmp_path / "x.s").write_text(
        f'.globl main\n.text\nmain:\n.section .rodata\n.type "{HOSTILE}", @object\n'
        f'"{HOSTILE}":\n {content}\n.size "{HOSTILE}", {size}\n'
        '.section .note.GNU-stack,"",@progbits\n'
    )
    command = ["cc", "-nostdlib", "-no-pie", "-Wl,-e,main", "x.s", "-o", "x.elf"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert main(["inspect", str(tmp_path / "x.elf")]) == 0
    out = capsys.readouterr().out
    assert "\033" not in out
    assert "[/bold]?[31m../../x" in out.replace("\n", "")
    (found,) = _shown(tmp_path / "x.elf", capsys)["blobs"]
    assert ("modules" in found) == ("incbin" in content)
    extracted = main(["inspect", str(tmp_path / "x.elf"), "--extract", str(tmp_path / "x")])
    assert extracted == (0 if "modules" in found else 2)
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == [
        *("blob.bin", "x.elf", "x.s"),
    ]
