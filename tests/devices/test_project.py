"""A project's files for devices: a driver to replace, in every build."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.options import Options
from tests.devices.networks import BOTH, chain
from tests.support.compiling import write_project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("devices") / "p"
    write_project(chain("npu1", "npu0"), folder, Options(targets=BOTH), "mps2_an386")
    return folder


def test_bare_metal_and_zephyr_both_build_the_driver(project: Path) -> None:
    before, zephyr = (project / "CMakeLists.txt").read_text().split("if(MICROGEN_ZEPHYR)", 1)
    for text in (before, zephyr.split("return()")[0]):
        for source in ("src/devices.c", "crt/src/platform/tracing_device.c", "src/main.c"):
            assert f"  {source}\n" in text
            assert (project / source).is_file()


def test_the_driver_says_that_it_is_to_be_replaced(project: Path) -> None:
    driver = (project / "src" / "devices.c").read_text()
    assert "Replace this file with one for your driver" in driver
    assert driver.index("npu0_context = ") < driver.index("npu1_context = ")
    assert "`src/devices.c`" in (project / "README.md").read_text()


def test_a_project_without_devices_has_no_driver(tmp_path: Path) -> None:
    write_project(chain(""), tmp_path / "p")
    assert not list((tmp_path / "p").rglob("*device*"))
