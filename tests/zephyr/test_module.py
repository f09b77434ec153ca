"""An exported Zephyr module in an application that follows the module's README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.building import toolchain
from microgen.project import exporting
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA
from tests.zephyr import workspace

workspace.skip_without_zephyr()
pytestmark = [NEEDS_NINJA, NEEDS_ARM]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DIGITS = EXAMPLES / "digits" / "digits_int8.tflite"
BOARD = "mps2_an385"
STRICT = "CONFIG_LINKER_ORPHAN_SECTION_ERROR=y\n"


def written_as_its_readme_says(app: Path, module: Path) -> Path:
    """An application made of the README's four blocks."""
    text = (module / "README.md").read_text()
    config, cmake, main = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    app.mkdir()
    (app / "prj.conf").write_text(config + STRICT)
    (app / "CMakeLists.txt").write_text(cmake)
    (app / "main.c").write_text(main)
    return app


def printed(elf: Path) -> str:
    """What the application prints; it does not end by itself."""
    qemu = ["qemu-system-arm", "-M", "mps2-an385", "-nographic", "-kernel", elf]
    return toolchain.run(["timeout", "3", *qemu], seconds=60).output


def check(project: Path, elf: Path) -> None:
    report = microgen.verify(project, elf=elf, scope="model", reproduce=True)
    assert (report.failed, report.scope) == ((), "model")
    assert report.check("reproduce").status == "ok"


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (DIGITS, {}),
        (DIGITS, {"executor": "graph"}),
        (DIGITS, {"interface": "packed"}),
        (EXAMPLES / "byoc_guide.relay", {"codegen": ("examplejsoncompiler",)}),
    ],
    ids=str,
)
def test_an_application_as_in_the_readme_builds_runs_and_verifies(
    model: Path, options: dict[str, Any], tmp_path: Path
) -> None:
    project, module = tmp_path / "p", tmp_path / "module"
    microgen.generate(model, BOARD, project, **options)
    exporting.write(project, "zephyr", module)
    app = written_as_its_readme_says(tmp_path / "app", module)
    found = f"-DEXTRA_ZEPHYR_MODULES={module}"
    elf = workspace.built(app, tmp_path / "zephyr", BOARD, found)
    assert "status 0" in printed(elf)
    check(project, elf)


def test_two_modules_and_other_optimization_in_one_application(tmp_path: Path) -> None:
    names = ("one", "two")
    modules, includes, runs, config = [], "", [], STRICT + "CONFIG_MAIN_STACK_SIZE=4096\n"
    for name in names:
        microgen.generate(DIGITS, BOARD, tmp_path / f"p_{name}", name=name)
        exporting.write(tmp_path / f"p_{name}", "zephyr", tmp_path / f"m_{name}")
        modules.append(str(tmp_path / f"m_{name}"))
        app = written_as_its_readme_says(tmp_path / f"app_{name}", tmp_path / f"m_{name}")
        code = (app / "main.c").read_text().partition("#include <zephyr")[0]
        includes += re.sub(r"\binfer\(", f"infer_model_{name}(", code)
        runs.append(f"infer_model_{name}()")
        config += f"CONFIG_MICROGEN_{name.upper()}=y\n"
    body = f'    printk("status %d\\n", (int)({" + ".join(runs)}));\n    return 0;\n'
    main = f"int main(void)\n{{\n{body}}}\n"
    app = tmp_path / "app_one"
    (app / "main.c").write_text(f"{includes}#include <zephyr/sys/printk.h>\n{main}")
    (app / "prj.conf").write_text(config + "CONFIG_MICROGEN_TWO_SIZE=y\n")
    given = f"-DEXTRA_ZEPHYR_MODULES={';'.join(modules)}"
    elf = workspace.built(app, tmp_path / "zephyr", BOARD, given)
    assert "status 0" in printed(elf)
    for name in names:
        check(tmp_path / f"p_{name}", elf)
