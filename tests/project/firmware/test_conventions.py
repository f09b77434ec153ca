"""Options of the calling conventions, and what the packed convention cannot pass."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.interface.cli import main
from microgen.options import Options
from microgen.project.firmware import conventions
from tests.devices.networks import NPU, chain
from tests.support.compiling import program_of, write_project
from tests.support.graphs import Builder
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

PACKED = Options(interface="packed")


@pytest.mark.parametrize(
    ("interface", "asked", "unpacked"),
    [
        ("c", None, True),
        ("c", True, True),
        ("packed", None, False),
        ("packed", True, True),
        ("packed", False, False),
    ],
)
def test_operators_are_unpacked_by_default_for_the_c_interface_only(
    interface: str, asked: bool | None, unpacked: bool
) -> None:
    options = Options(interface=interface, unpacked_api=asked)
    assert options.is_unpacked is unpacked
    assert options.to_json()["unpacked_api"] is unpacked


def test_the_c_interface_needs_unpacked_operators() -> None:
    with pytest.raises(MicrogenError, match='Either need interface_api == "packed" \\(got: c\\)'):
        Options(unpacked_api=False)


def test_the_aot_executor_needs_linked_parameters() -> None:
    assert Options(link_params=True).link_params
    with pytest.raises(
        UnsupportedError, match=r"--link-params: .*but the aot executor cannot load them"
    ):
        Options(link_params=False)


@pytest.mark.parametrize("alignment", [0, 2, 12, 512, -4])
def test_a_constants_alignment_is_a_power_of_two_from_a_word_up(alignment: int) -> None:
    with pytest.raises(MicrogenError, match="--constant-alignment"):
        Options(constant_alignment=alignment)


def test_switches_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "p"
    command = ["generate", str(SMALL), "-b", "native", "-o", str(out), "--interface", "packed"]
    assert main([*command, "--unpacked-api", "on", "--constant-alignment", "16"]) == 0
    assert not list(out.rglob("default_packed.c"))
    assert "aligned(16)" in next(out.rglob("default_params.c")).read_text()
    assert main([*command, "--force", "--unpacked-api", "off"]) == 0
    assert list(out.rglob("default_packed.c"))
    assert main([*command, "--unpacked-api", "perhaps"]) == 2
    assert "neither 'on' nor 'off'" in capsys.readouterr().err


def _with_ports(count: int) -> Builder:
    b = Builder()
    for _ in range(count):
        b.input(1, 2)
    return b


def test_more_ports_than_a_packed_call_has_arguments_are_refused(tmp_path: Path) -> None:
    """TVM notices only when the model runs."""
    b = _with_ports(9)
    most = b.graph(b.softmax(b.inputs[0]))
    conventions.check(program_of(most), PACKED)
    b.input(1, 2)
    more = program_of(b.graph(b.softmax(b.inputs[0])))
    conventions.check(more, Options())
    with pytest.raises(UnsupportedError, match=r"11 inputs and outputs.*TVM_CRT_MAX_ARGS"):
        conventions.check(more, PACKED)


def test_devices_are_refused_not_dropped() -> None:
    """TVM's packed entry point calls unpacked operators without their contexts."""
    on_device = program_of(chain("npu0"), Options(targets=(NPU,)))
    conventions.check(on_device, Options())
    with pytest.raises(UnsupportedError, match=r"contexts of devices \(npu0\)"):
        conventions.check(on_device, PACKED)


@pytest.mark.parametrize("name", ["MyModel", "7up", "a" * 64, "x_1"])
def test_any_module_name_gives_a_header_that_its_sources_include(name: str, tmp_path: Path) -> None:
    """TVM makes the header's name lower case, but not the name in the #include."""
    b = Builder()
    options = dataclasses.replace(PACKED, name=name)
    write_project(b.graph(b.conv(b.input(1, 4, 4, 2), 2)), tmp_path / "p", options)
    headers = {path.name for path in (tmp_path / "p").rglob("*.h")}
    for source in (tmp_path / "p" / "model").rglob("*.c"):
        ours = re.findall(rf'#include "([^"/]*{name}[^"/]*)"', source.read_text())
        assert set(ours) <= headers


@NEEDS_ARM
@NEEDS_NINJA
def test_constants_are_aligned_as_asked_and_verify_sees_it(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "mps2_an386", project, constant_alignment=32)
    microgen.build(project)
    assert microgen.verify(project).ok
    params = next(project.rglob("default_params.c"))
    params.write_text(params.read_text().replace("aligned(32)", "aligned(4)"))
    microgen.build(project)
    report = microgen.verify(project, project_files=False)
    assert [check.name for check in report.failed] == ["constants_section"]
