"""``zephyr_microgen_model()``: networks that the build of an application generates."""

from __future__ import annotations

import shutil
from pathlib import Path

import microgen
from microgen.base import resources
from microgen.building import toolchain
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA
from tests.zephyr import workspace

workspace.skip_without_zephyr()
pytestmark = [NEEDS_NINJA, NEEDS_ARM]

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits_int8.tflite"
BOARD = "mps2_an385"
CMAKE = """cmake_minimum_required(VERSION 3.20)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(app LANGUAGES C)
find_package(microgen REQUIRED)
zephyr_microgen_model(app one model.tflite OPTIONS --optimize flash)
zephyr_microgen_model(app two model.tflite)
target_sources(app PRIVATE main.c)
"""
MAIN = """
#include "tvmgen_one.h"
#include "tvmgen_two.h"
#include <zephyr/sys/printk.h>

int main(void)
{
    printk("%d %d\\n", (int)tvmgen_one_run(NULL, NULL), (int)tvmgen_two_run(NULL, NULL));
    return 0;
}
"""


def test_two_networks_in_one_application_are_verified(tmp_path: Path) -> None:
    app, folder = tmp_path / "app", tmp_path / "zephyr"
    app.mkdir()
    shutil.copy(DIGITS, app / "model.tflite")
    (app / "CMakeLists.txt").write_text(CMAKE)
    (app / "main.c").write_text(MAIN)
    (app / "prj.conf").write_text("CONFIG_LINKER_ORPHAN_SECTION_ERROR=y\n")
    given = f"-Dmicrogen_DIR={resources.folder('templates') / 'cmake'}"
    elf = workspace.built(app, folder, BOARD, given)
    for name in ("one", "two"):
        project = folder / "microgen" / name
        report = microgen.verify(project, elf=elf, scope="model", reproduce=True)
        assert report.failed == ()
        assert report.check("reproduce").status == "ok"
    again = toolchain.run(["ninja", "-C", folder], seconds=300)
    assert "no work to do" in again.output
