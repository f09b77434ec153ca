from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from microgen.base.errors import BuildError, CapacityError, ProjectError, ToolError
from microgen.building import toolchain
from microgen.building.builder import BuildResult, build, disassemble
from microgen.target import board as boards
from tests.support.minimal_project import (
    BUILT_HERE,
    PARAMS,
    built,
    model_files,
    needs_build,
    with_statement,
    write,
)
from tests.support.tools import needs

pytestmark = needs_build


def symbols(elf: Path) -> set[str]:
    listing = toolchain.run(["nm", elf], seconds=10).output
    return {line.split()[-1] for line in listing.splitlines()}


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("uncached")
@pytest.mark.parametrize("board", ["mps2_an386", "native"])
def test_firmware_does_not_depend_on_where_it_is_built(board: str, tmp_path: Path) -> None:
    first = build(write(tmp_path / "here", board))
    second = build(write(tmp_path / "quite" / "another place", board))
    assert first.elf.read_bytes() == second.elf.read_bytes()
    assert str(tmp_path).encode() not in second.elf.read_bytes()


@pytest.fixture(scope="module")
def m4() -> BuildResult:
    return built("mps2_an386")


def test_the_result_names_the_firmware_and_the_map(m4: BuildResult) -> None:
    assert m4.elf.name == "firmware.elf"
    assert "tvmgen_default_run" in m4.map.read_text()


def _one_of_each_core() -> list[ParameterSet]:
    """All boards but the host; those with the core of an earlier one are slow."""
    found, seen = [], set()
    for board in (boards.load(name) for name in BUILT_HERE if name != "native"):
        marks = [needs(f"{board.toolchain}gcc"), *[pytest.mark.slow] * (board.cpu.name in seen)]
        found.append(pytest.param(board.name, marks=marks))
        seen.add(board.cpu.name)
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", _one_of_each_core())
def test_nothing_is_linked_but_the_project_and_integer_helpers(board: str) -> None:
    names = symbols(built(board).elf)
    unwanted = re.compile(
        r"__aeabi_(d|f|[ul]?[il]2[df])|.*malloc|free$|.*sbrk|.*printf|exit$|abort$|unwind"
    )
    assert "tvmgen_default_run" in names
    assert not sorted(filter(unwanted.match, names))


def test_no_segment_is_both_writable_and_executable(m4: BuildResult) -> None:
    headers = toolchain.run(["arm-none-eabi-readelf", "-lW", m4.elf], seconds=10).output
    flags = re.findall(r"LOAD .* 0x[0-9a-f]+ ([R W E]{3}) 0x", headers)
    assert flags.count("R E") == 1
    assert not [f for f in flags if "W" in f and "E" in f]


@pytest.mark.parametrize("board", ["mps2_an386", "native"])
def test_arena_and_constants_have_sections_of_their_own(board: str) -> None:
    elf = built(board).elf
    objdump = f"{boards.load(board).toolchain}objdump"
    listing = toolchain.run([objdump, "-t", elf], seconds=10).output
    where = {line.split()[-1]: line for line in listing.splitlines() if line}
    assert " .bss.noinit.tvm\t" in where["tvmgen_default_global_workspace"]
    assert " .bss.noinit.tvm\t" in where["sid_0"]
    assert " .rodata.tvm\t" in where["tvmgen_default_p0"]


def test_start_up_platform_and_main_are_under_two_kilobytes(m4: BuildResult) -> None:
    """The sizes include their strings, the vector table and the model's two small operators."""
    listing = toolchain.run(["arm-none-eabi-size", "-A", m4.elf], seconds=10).output
    sizes = dict(re.findall(r"^(\S+) +(\d+) ", listing, re.MULTILINE))
    assert sum(int(sizes[name]) for name in (".vectors", ".text", ".rodata")) < 2048


def test_main_needs_little_stack(m4: BuildResult) -> None:
    usage = next(m4.elf.parent.rglob("main.c.su")).read_text()
    frames = [int(line.split("\t")[1]) for line in usage.splitlines()]
    assert frames
    assert sum(frames) < 200


@pytest.mark.usefixtures("uncached")
def test_a_copied_project_builds_again(tmp_path: Path) -> None:
    project = write(tmp_path / "project", "native")
    elf = build(project).elf.read_bytes()
    shutil.copytree(project, tmp_path / "copy")
    assert build(tmp_path / "copy").elf.read_bytes() == elf


def test_a_rebuild_may_change_the_optimization(m4: BuildResult, tmp_path: Path) -> None:
    root = write(tmp_path / "p", "mps2_an386")
    command = ["cmake", "-S", root, "-B", root / "b0", "-G", "Ninja"]
    command += ["-DMICROGEN_MODEL_OPTIMIZATION=-O0"]
    assert toolchain.run(command, seconds=60).ok
    assert toolchain.run(["ninja", "-C", root / "b0"], seconds=60).ok
    assert (root / "b0" / "firmware.elf").read_bytes() != m4.elf.read_bytes()


def test_what_does_not_fit_is_named_with_bytes_needed_and_there(tmp_path: Path) -> None:
    table = '__attribute__((section(".rodata.tvm"))) const int8_t tvmgen_default_p9[300000] = {1};'
    text = model_files().files[PARAMS].decode()
    root = write(
        tmp_path / "p",
        "microbit",
        {PARAMS: f"{text}extern const int8_t tvmgen_default_p9[300000];\n{table}\n"},
    )
    with pytest.raises(CapacityError) as caught:
        build(root)
    message = str(caught.value)
    needed = int(re.search(r"flash of microbit needs (\d+) bytes", message)[1])  # type: ignore[index]
    assert 300_000 < needed < 303_000
    assert "and has 262144 (largest: tvmgen_default_p9 300000, " in message
    assert "a model with fewer weights would help" in message


def test_ram_that_does_not_fit_counts_the_stack(tmp_path: Path) -> None:
    statement = "static volatile int8_t big[20000]; out0[0] = big[5];"
    with pytest.raises(
        CapacityError, match=r"ram of microbit needs 2\d{4} bytes and has 16384 "
    ) as caught:
        build(write(tmp_path / "p", "microbit", with_statement(statement)))
    assert re.search(r"largest: big\.0 20000, stack 2048, ", str(caught.value))


def test_a_compiler_error_is_quoted_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        build(write(tmp_path / "p", "native", with_statement("int unused = 1")))
    assert "model/codegen/host/src/default_lib1.c:9:" in str(caught.value)
    assert "error: expected" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_warning_is_an_error_unless_switched_off(tmp_path: Path) -> None:
    root = write(tmp_path / "p", "native", with_statement("int unused = 1;"))
    with pytest.raises(BuildError, match="unused"):
        build(root)
    command = ["cmake", "-S", root, "-B", root / "build", "-DMICROGEN_WERROR=OFF"]
    assert toolchain.run(command, seconds=60).ok
    assert toolchain.run(["ninja", "-C", root / "build"], seconds=60).ok


def test_sanitizers_catch_an_access_out_of_bounds(as_shipped: None, tmp_path: Path) -> None:
    root = write(tmp_path / "p", "native", with_statement("out0[0] = in0[-1];"))
    assert toolchain.run([build(root).elf], seconds=10).ok
    finished = toolchain.run([build(root, sanitize=True).elf], seconds=10)
    assert not finished.ok
    assert "AddressSanitizer: global-buffer-overflow" in finished.output


def test_sanitizers_are_refused_on_a_board(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="on the host only, not on microbit"):
        build(write(tmp_path / "p", "microbit"), sanitize=True)


def test_a_missing_tool_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "p", "microbit")
    monkeypatch.setattr(toolchain, "search_path", lambda: str(tmp_path))
    with pytest.raises(ToolError, match="cmake is not installed; apt-get install cmake"):
        build(root)
    for tool in ("cmake", "ninja"):
        shutil.copy("/bin/true", tmp_path / tool)
    with pytest.raises(
        ToolError, match="apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi"
    ):
        build(root)


def test_a_directory_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"it has no microgen\.json"):
        build(tmp_path)


def test_disassembly_names_functions(m4: BuildResult) -> None:
    text = disassemble(m4.elf, boards.load("mps2_an386"))
    assert "<tvmgen_default_run>:" in text
    assert "bkpt\t0x00ab" in text


def test_disassembly_of_something_else_is_an_error(tmp_path: Path) -> None:
    other = tmp_path / "x.elf"
    other.write_text("no")
    with pytest.raises(BuildError, match="cannot be disassembled"):
        disassemble(other, boards.load("mps2_an386"))


def test_a_program_is_stopped_at_its_time_limit_with_its_children() -> None:
    finished = toolchain.run(["sh", "-c", "echo before; sleep 60 & sleep 60"], seconds=0.3)
    assert finished.status is None
    assert finished.output == "before\n"


def test_a_program_reports_its_status_and_both_its_streams() -> None:
    finished = toolchain.run(["sh", "-c", "echo out; echo err >&2; exit 3"], seconds=10)
    assert (finished.status, finished.output, finished.ok) == (3, "out\nerr\n", False)


def test_zephyr_in_the_environment_does_not_change_what_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZEPHYR_BASE", str(tmp_path))
    assert build(write(tmp_path / "p", "native")).elf.is_file()


def test_host_firmware_is_an_ordinary_program(tmp_path: Path) -> None:
    elf = built("native").elf
    finished = subprocess.run([elf], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert finished.stdout.splitlines()[-1] == "microgen: status=0 samples=1 stack=0"
