"""docs/guides/byoc.md describes its codegens rightly."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.graph import params_file
from microgen.interface import cli
from tests.relay import seed
from tests.support.tools import NEEDS_NINJA

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "byoc.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files that a reader has after the first section."""
    page = PAGE.read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    model = re.search(r"```\n(#\[version.*?)```", page, re.DOTALL)
    assert code
    assert model
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "halver.py").write_text(code[1])
    (tmp_path / "sum.relay").write_text(model[1])
    return tmp_path


def test_it_is_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["codegens", "--codegen-path", str(folder / "mine")]) == 0
    listed = capsys.readouterr().out
    assert f"halver ({folder / 'mine'}): The sum of two tensors, by a library." in listed


def test_partition_says_who_takes_what(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--codegen", "halver", "--codegen-path", str(folder / "mine")]
    assert cli.main(["partition", str(folder / "sum.relay"), *chosen]) == 0
    found = capsys.readouterr()
    assert "@tvmgen_default_halver_main_0(%x, %y)" in found.out
    assert "sigmoid is not for halver: halver has no sigmoid" in found.err


@NEEDS_NINJA
@pytest.mark.parametrize("interface", ["c", "packed"])
def test_its_firmware_agrees(folder: Path, interface: str) -> None:
    project = folder / "demo"
    microgen.generate(
        folder / "sum.relay",
        "native",
        project,
        codegen=("halver",),
        codegen_path=str(folder / "mine"),
        interface=interface,
    )
    run = microgen.run(project, compare=True)
    assert run.verdicts
    assert all(verdict.ok for verdict in run.verdicts)


@pytest.fixture
def second(tmp_path: Path) -> Path:
    """The files that a reader has after the second example."""
    _, _, page = PAGE.read_text().partition("## 6. A second example")
    code, model = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "densebox.py").write_text(code)
    (tmp_path / "model.py").write_text(model)
    subprocess.run([sys.executable, "model.py"], cwd=tmp_path, check=True)
    return tmp_path


@NEEDS_NINJA
def test_the_second_codegen_takes_a_composite_with_its_constants(second: Path) -> None:
    project = second / "dense"
    done = microgen.generate(
        *(second / "net.relay", "native", project),
        codegen=("densebox",),
        codegen_path=str(second / "mine"),
        composite=True,
    )
    assert next(f.target for f in done.program.functions) == "densebox"
    run = microgen.run(project, compare=True)
    assert run.verdicts
    assert all(verdict.ok or verdict.is_skipped for verdict in run.verdicts)


def test_without_composite_it_gets_nothing(
    second: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["--codegen", "densebox", "--codegen-path", str(second / "mine")]
    assert cli.main(["partition", str(second / "net.relay"), *chosen]) == 0
    found = capsys.readouterr()
    assert "densebox" not in found.out
    assert "nn.dense is not for densebox: densebox has no nn.dense" in found.err


def test_merged_layers_are_refused_in_its_own_words(
    second: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (second / "net.relay").read_text()
    more = "nn.dense(%1, meta[relay.Constant][2], units=None)"
    text = text.replace("sigmoid(%1)", f"%2 = {more};\n  nn.bias_add(%2, meta[relay.Constant][1])")
    arrays = params_file.loads((second / "net.params").read_bytes())
    arrays["relay.Constant.2"] = np.ones((8, 8), np.float32)
    (second / "net.params").write_bytes(params_file.dumps(arrays))
    (second / "net.relay").write_text(text)
    chosen = ["--codegen", "densebox", "--codegen-path", str(second / "mine"), "--composite"]
    command = ["generate", str(second / "net.relay"), "-b", "native", *chosen]
    assert cli.main([*command, "-o", str(second / "two")]) == 0
    assert cli.main([*command, "--merge-regions", "-o", str(second / "one")]) == 2
    assert "densebox compiles one dense layer with its bias at a time" in capsys.readouterr().err


def test_an_exception_in_a_codegen_is_one_line_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "mine" / "halver.py"
    text = path.read_text().replace("count = out.type.nbytes // 4", "count = {}['x']")
    path.write_text(text)
    line = text[: text.index("count = {}")].count("\n") + 1
    chosen = ["--codegen", "halver", "--codegen-path", str(folder / "mine")]
    command = ["generate", str(folder / "sum.relay"), "-b", "native", *chosen]
    assert cli.main([*command, "-o", str(folder / "demo")]) == 2
    said = f"halver: compile ended with KeyError: 'x' (at {path}:{line})"
    assert said in capsys.readouterr().err


def test_the_registration_on_the_page_partitions_the_notes_demo() -> None:
    found = re.search(r"```python\n(import microgen as tvm\n.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    before = "from tests.relay import seed\nmod = seed.demo()\n"
    after = "print(relay.show(mod), end='')"
    code = f"{before}{found[1]}{after}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=PAGE.parents[1], check=True, capture_output=True, text=True)
    assert done.stdout == seed.PARTITIONED_FOR_MY
