"""Applications in the manner of those for microTVM compile unchanged with a generated project's
headers and sources, without a warning, and compute what the model does."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.building import toolchain
from microgen.building.builder import build
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.support.places import ROOT, SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CC, NEEDS_CXX, needs

APPLICATIONS = Path(__file__).parent / "applications"
STRICT = ("-Wall", "-Wextra", "-Werror", "-g", "-O1")
RUNTIME = ("crt", "func_registry", "module", "packed_func", "page_allocator", "stack_allocator")
PIXELS = np.random.default_rng(7).integers(-128, 128, (1, 8, 8, 1), np.int8)


@dataclass(frozen=True)
class Machine:
    """Where an application runs: its project's board, its C compiler, and the emulator."""

    board: str
    compiler: tuple[str, ...]
    run: tuple[str, ...] = ()


HOST = Machine("native", ("cc", "-fsanitize=address,undefined"))
BOARD = Machine(
    "mps2_an386",
    (
        "arm-none-eabi-gcc",
        "-mcpu=cortex-m4",
        "-mthumb",
        "--specs=rdimon.specs",
        "-T",
        "board.ld",
        "-Wl,-z,noexecstack",
    ),
    (
        *("qemu-system-arm", "-M", "mps2-an386", "-nographic"),
        *("-semihosting-config", "enable=on,target=native", "-kernel"),
    ),
)
MACHINES = [
    pytest.param(HOST, marks=NEEDS_CC, id="host"),
    pytest.param(
        BOARD, marks=[NEEDS_ARM_GCC, needs("qemu-system-arm")], id="Cortex-M4 with newlib"
    ),
]


@pytest.fixture(scope="module")
def expected() -> list[int]:
    graph = frontends.load(SMALL)
    (name,) = graph.inputs
    result = evaluate(graph, {name: PIXELS}, registry())[graph.outputs[0]]
    return [int(value) for value in result.reshape(-1)]


def generated(folder: Path, board: str, interface: str = "c") -> Path:
    """A project, with the applications and their arrays in it."""
    project = folder / "project"
    microgen.generate(SMALL, board=board, output=project, name="detection", interface=interface)
    for path in APPLICATIONS.iterdir():
        (project / path.name).write_bytes(path.read_bytes())
    pixels = ", ".join(map(str, PIXELS.reshape(-1).tolist()))
    (project / "inputs.h").write_text(
        f"#include <stddef.h>\n#include <stdint.h>\nstatic int8_t input[64] = {{{pixels}}};\n"
    )
    (project / "outputs.h").write_text(
        "static int8_t output[10];\nstatic const size_t output_len = sizeof(output);\n"
    )
    return project


def program(project: Path, machine: Machine, *sources: str, runtime: tuple[str, ...] = ()) -> str:
    """What the application prints. Only its own sources, the model's and those of ``runtime`` are
    linked: nothing of the project's platform."""
    model = sorted((project / "model/codegen/host/src").glob("*.[cS]"))
    own = [project / source for source in sources]
    crt = [project / f"crt/src/{name}.c" for name in runtime]
    folders = ("model/codegen/host/include", "crt/include", "crt/src", ".")
    command = [*machine.compiler, "-std=gnu99", *STRICT, *(f"-I{name}" for name in folders)]
    command += ["-DTVM_WORKSPACE_SIZE_BYTES=2048", "-o", "application"]
    subprocess.run([*command, *map(str, [*own, *model, *crt])], cwd=project, check=True)
    return run(project, machine, "application")


def run(project: Path, machine: Machine, name: str, status: int = 0) -> str:
    finished = toolchain.run([*machine.run, project / name], seconds=60, cwd=project)
    assert finished.status == status, finished.output
    return finished.output.replace("\r", "")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("machine", MACHINES)
def test_a_bare_metal_demo(machine: Machine, expected: list[int], tmp_path: Path) -> None:
    project = generated(tmp_path, machine.board)
    numbers = " ".join(map(str, expected))
    printed = program(project, machine, "bare_metal.c")
    assert f"{numbers} best {np.argmax(expected)}\n" in printed


@pytest.mark.sampled(1)
@pytest.mark.parametrize("machine", MACHINES)
def test_a_stand_alone_application_with_its_platform(
    machine: Machine, expected: list[int], tmp_path: Path
) -> None:
    project = generated(tmp_path, machine.board)
    sources = ("standalone_main.c", "standalone_platform.c")
    own = ("stack_allocator", "platform/platform_hooks")
    best = f"best {len(expected) - 1 - int(np.argmax(expected[::-1]))}:{max(expected)}\n"
    printed = program(project, machine, *sources, runtime=own)
    assert f"wakeup\n{best}not a command: bye\n{best}" in printed


@pytest.mark.sampled(1)
@pytest.mark.parametrize("machine", MACHINES)
def test_an_application_that_finds_the_model_by_its_name(
    machine: Machine, expected: list[int], tmp_path: Path
) -> None:
    project = generated(tmp_path, machine.board, interface="packed")
    printed = program(project, machine, "handles.c", runtime=RUNTIME)
    assert f"{' '.join(map(str, expected))} tvmgen_detection\n" in printed


@NEEDS_CXX
@pytest.mark.parametrize("standard", ["gnu++17", "c++20"])
def test_an_application_in_cpp(standard: str, expected: list[int], tmp_path: Path) -> None:
    project = generated(tmp_path, "native")
    model = sorted((project / "model/codegen/host/src").glob("*.[cS]"))
    folders = [f"-I{name}" for name in ("model/codegen/host/include", "crt/include")]
    objects = []
    for path in model:
        objects.append(f"{path.name}.o")
        subprocess.run(["cc", "-c", *folders, path, "-o", objects[-1]], cwd=project, check=True)
    command = ["g++", f"-std={standard}", *STRICT, *folders, "fields.cpp", *objects]
    subprocess.run([*command, "-o", "application"], cwd=project, check=True)
    assert run(project, HOST, "application") == f"{' '.join(map(str, expected))} \n"


@pytest.mark.sampled(1)
@needs("cmake", "ninja", "cc", "arm-none-eabi-gcc", "qemu-system-arm")
@pytest.mark.parametrize("machine", [HOST, BOARD], ids=["host", "Cortex-M4 without a C library"])
def test_an_application_in_place_of_a_projects_own(
    machine: Machine, expected: list[int], tmp_path: Path
) -> None:
    """It calls functions that the project gives it, and ends with a check that fails."""
    project = generated(tmp_path, machine.board)
    (project / "src/main.c").write_bytes((project / "replaced_main.c").read_bytes())
    flags = f"-std=gnu99 -Wno-error=pedantic -I{project}"
    settings = {"MICROGEN_TVM_RUNTIME": "ON", "MICROGEN_EXTRA_CFLAGS": flags}
    elf = build(project, settings=settings).elf
    printed = run(project, machine, str(elf.relative_to(project)), status=1)
    assert f"{' '.join(map(str, expected))} end    -7|7    |-0042|beef|123|4\n" in printed
    assert "check failed: output_len == 11: found 77\nmicrogen: abort=0x00000500\n" in printed


@NEEDS_CC
@pytest.mark.parametrize("options", [{}, {"executor": "graph"}, {"interface": "packed"}])
def test_the_documented_include_path_is_complete(
    tmp_path: Path, options: dict[str, object]
) -> None:
    page = ROOT / "docs" / "start" / "from-microtvm.md"
    text = " ".join(page.read_text(encoding="utf-8").split())
    said = re.search(r"The include path is (.*?); with `--executor graph` also (.*?), from", text)
    assert said
    folders = re.findall("`(.*?)`", said[1] + said[2] * ("executor" in options))
    microgen.generate(SMALL, "native", tmp_path / "p", **options)
    sources = sorted(str(path) for path in (tmp_path / "p/model/codegen/host/src").glob("*.[cS]"))
    command = ["cc", "-std=gnu99", "-c", *(f"-I{name}" for name in folders), *sources]
    subprocess.run(command, cwd=tmp_path / "p", check=True)
