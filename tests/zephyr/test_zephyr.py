"""Generated projects built and run by Zephyr: their outputs and ends equal those on bare metal."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

import microgen
from microgen.base import manifest
from microgen.building import toolchain
from microgen.running.comparing import stimuli
from microgen.running.runner import samples
from microgen.target import board as boards
from tests.support.minimal_project import NBYTES, OPERATORS, model_files, with_statement, write
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA
from tests.tamper.elf32 import Elf32

if "ZEPHYR_BASE" not in os.environ or shutil.which("west") is None:
    pytest.skip(
        "set ZEPHYR_BASE to a west workspace's Zephyr and put west into PATH: "
        "docs/guides/zephyr.md",
        allow_module_level=True,
    )

pytestmark = [NEEDS_NINJA, NEEDS_ARM]

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits_int8.tflite"
KWS = "kws_ref_model.tflite"
BOARDS = ("mps2_an385", "mps3_an547")
WARNINGS_ARE_ERRORS = "-DCONFIG_COMPILER_WARNINGS_AS_ERRORS=y"


def west(project: Path, build: Path, board: str, *arguments: str) -> toolchain.Finished:
    """Runs ``west build``, with Debian's Arm compiler unless the environment chooses another."""
    compiler = str(shutil.which("arm-none-eabi-gcc")).removesuffix("gcc")
    defaults = {"ZEPHYR_TOOLCHAIN_VARIANT": "cross-compile", "CROSS_COMPILE": compiler}
    settings = [f"{name}={value}" for name, value in defaults.items() if name not in os.environ]
    command = ["env", *settings, "west", "build", "-b", board, str(project), "-d", str(build)]
    return toolchain.run([*command, *arguments], seconds=600)


def built(project: Path, build: Path, board: str) -> Path:
    finished = west(project, build, board, "--", WARNINGS_ARE_ERRORS)
    assert finished.ok, finished.output[-4000:]
    return build


def run(project: Path, build: Path, board: str) -> toolchain.Finished:
    return west(project, build, board, "-t", "run")


def lines(console: str) -> list[str]:
    """The lines in which the application printed outputs."""
    return re.findall(r"^microgen: output .*?(?=\r?$)", console, re.M)


@pytest.fixture(scope="module", params=BOARDS)
def digits(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, Path]:
    """A board, the project for it, and its Zephyr build."""
    root = tmp_path_factory.mktemp("digits")
    microgen.generate(DIGITS, request.param, root / "p")
    return request.param, root / "p", built(root / "p", root / "zephyr", request.param)


def check_samples(board: str, project: Path, build: Path) -> None:
    """Checks that structured and random samples give the same bytes as on bare metal."""
    ports = manifest.load(project).inputs
    inputs = stimuli.samples(ports, random=5)
    batch = samples.pack(ports, inputs)
    (build / "microgen_input.bin").write_bytes(batch.data)
    finished = run(project, build, board)
    expected = microgen.run(project, inputs).outputs
    assert finished.ok, finished.output[-4000:]
    assert f"microgen: status=0 samples={batch.count} " in finished.output
    found = np.fromfile(build / "microgen_output.bin", np.uint8).reshape(batch.count, -1)
    rows = [np.ascontiguousarray(a).reshape(batch.count, -1) for a in expected.values()]
    assert np.array_equal(found, np.concatenate([row.view(np.uint8) for row in rows], axis=1))
    assert len(np.unique(found, axis=0)) > 1


def check_reproduced(project: Path, elf: Path) -> str:
    """Checks that an ELF is what the project's model gives; what the check says about it."""
    report = microgen.verify(project, elf=elf, scope="model", reproduce=True)
    found = report.check("reproduce")
    assert (report.ok, found.status) == (True, "ok"), found.found
    return found.found


def test_the_console_shows_what_it_shows_on_bare_metal(digits: tuple[str, Path, Path]) -> None:
    board, project, build = digits
    (build / "microgen_input.bin").unlink(missing_ok=True)
    finished = run(project, build, board)
    assert finished.ok, finished.output[-4000:]
    assert len(lines(finished.output)) == 1
    assert lines(finished.output) == lines(microgen.run(project).console)
    used = re.search(r"^microgen: status=0 samples=1 stack=(\d+)", finished.output, re.M)
    assert used
    assert 100 < int(used[1]) < boards.load(board).stack_bytes


def test_samples_of_a_file_give_the_same_bytes(digits: tuple[str, Path, Path]) -> None:
    check_samples(*digits)


def test_a_file_that_ends_inside_a_sample_fails(digits: tuple[str, Path, Path]) -> None:
    board, project, build = digits
    (build / "microgen_input.bin").write_bytes(b"\x01")
    finished = run(project, build, board)
    assert not finished.ok
    assert "microgen: microgen_input.bin ends inside a sample" in finished.output


def test_the_arena_is_in_ram_and_constants_are_not(digits: tuple[str, Path, Path]) -> None:
    _, _, build = digits
    with (build / "zephyr" / "zephyr.elf").open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = {symbol.name: symbol for symbol in table.iter_symbols()}
        arena = symbols["tvmgen_default_global_workspace"]
        constant = symbols["tvmgen_default_conv1_Relu_weight"]
        holders = [elf.get_section(symbol["st_shndx"]) for symbol in (arena, constant)]
        assert "sid_5" in symbols
    assert arena["st_value"] % 16 == 0
    assert constant["st_value"] % 4 == 0
    assert holders[0]["sh_type"] == "SHT_NOBITS"
    assert holders[0]["sh_flags"] & SH_FLAGS.SHF_WRITE
    assert not holders[1]["sh_flags"] & SH_FLAGS.SHF_WRITE


def test_verify_proves_the_model_in_zephyrs_elf(digits: tuple[str, Path, Path]) -> None:
    _, project, build = digits
    report = microgen.verify(project, elf=build / "zephyr" / "zephyr.elf", scope="model")
    assert report.failed == ()
    assert report.scope == "model"
    for name in ("sids", "arena", "constants_bytes", "heap", "libc", "kernels", "stack"):
        assert report.check(name).status == "ok"
    bare_metal = microgen.verify(project).check("stack").values["bound"]
    assert 0 < report.check("stack").values["bound"] < bare_metal


def test_zephyrs_elf_is_what_the_model_gives(
    digits: tuple[str, Path, Path], tmp_path: Path
) -> None:
    """Also without debug information: the flags are recorded a second time."""
    board, project, build = digits
    sound = build / "zephyr" / "zephyr.elf"
    stripped = tmp_path / "stripped.elf"
    objcopy = f"{boards.load(board).toolchain}objcopy"
    assert toolchain.run([objcopy, "--strip-debug", sound, stripped], seconds=60).ok
    for elf in (sound, stripped):
        said = check_reproduced(project, elf)
        # Where no function depends on them, GCC's own types, which are tried first, are as good.
        types = ("Zephyr's", "GCC's") if board == "mps3_an547" else ("Zephyr's",)
        assert any(f"{whose} types of integers" in said for whose in types)
        assert "-ffreestanding" in said


def test_a_patched_instruction_in_zephyrs_elf_is_found(
    digits: tuple[str, Path, Path], tmp_path: Path
) -> None:
    _, project, build = digits
    name = manifest.load(project).calls[0].function
    elf = Elf32((build / "zephyr" / "zephyr.elf").read_bytes())
    kernel = elf.symbol(name)
    start = kernel["st_value"] & ~1
    elf.data[elf.offset(start + kernel["st_size"] // 4 * 2)] ^= 1
    (tmp_path / "patched.elf").write_bytes(elf.data)
    patched = tmp_path / "patched.elf"
    report = microgen.verify(project, elf=patched, scope="model", reproduce=True)
    found = report.check("reproduce")
    assert found.status == "failed"
    assert found.found.startswith(f"{name} at {start:#x}")


def test_it_needs_no_more_than_the_minimal_libc(digits: tuple[str, Path, Path]) -> None:
    _, _, build = digits
    config = (build / "zephyr" / ".config").read_text()
    assert "CONFIG_MINIMAL_LIBC=y" in config
    assert "# CONFIG_REQUIRES_FULL_LIBC is not set" in config


@pytest.mark.parametrize("board", BOARDS)
def test_a_keyword_spotter_gives_the_same_bytes(
    board: str, mlperf_models: Path, tmp_path: Path
) -> None:
    project = tmp_path / "p"
    microgen.generate(mlperf_models / KWS, board, project)
    build = built(project, tmp_path / "zephyr", board)
    check_samples(board, project, build)
    check_reproduced(project, build / "zephyr" / "zephyr.elf")


@pytest.mark.parametrize("options", [{"executor": "graph"}, {"interface": "packed"}], ids=str)
def test_other_executors_give_the_same_bytes(options: dict[str, str], tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(DIGITS, BOARDS[0], project, **options)
    build = built(project, tmp_path / "zephyr", BOARDS[0])
    check_samples(BOARDS[0], project, build)
    check_reproduced(project, build / "zephyr" / "zephyr.elf")


def exit_code(build: Path, board: str) -> int | None:
    """The program's own exit code. ``west build -t run`` returns only Ninja's."""
    qemu = boards.load(board).qemu
    assert qemu is not None
    options = ["-display", "none", "-semihosting-config", "enable=on,target=native", "-kernel"]
    elf = build / "zephyr" / "zephyr.elf"
    return toolchain.run(
        [qemu.system, "-M", qemu.machine, *qemu.args, *options, elf], seconds=60, cwd=build
    ).status


FAILURES = {
    "return -7;": (1, "microgen: status=-1 samples=1 "),
    '__asm__ volatile(".inst.n 0xde00");': (3, "microgen: fault="),
    "volatile int8_t big[7000]; for (int i = 6999; i > 0; i--) { big[i] = 1; } "
    "for (int i = 0; i < 99999999; i++) { out0[0] = big[5]; }": (3, "microgen: fault="),
}


@pytest.mark.parametrize("board", BOARDS)
def test_a_run_that_fails_ends_with_its_status(board: str, tmp_path: Path) -> None:
    project = write(tmp_path / "p", board)
    build = built(project, tmp_path / "zephyr", board)
    assert exit_code(build, board) == 0
    for statement, (status, said) in FAILURES.items():
        (project / OPERATORS).write_text(with_statement(statement)[OPERATORS])
        finished = run(project, build, board)
        assert not finished.ok
        assert said in finished.output
        assert exit_code(build, board) == status
    (project / OPERATORS).write_bytes(model_files().files[OPERATORS])
    finished = run(project, build, board)
    assert finished.ok
    ones = " ".join(map(str, range(1, NBYTES + 1)))
    assert lines(finished.output) == [f"microgen: output y = {ones}"]


TIMER = """
#include "platform/io.h"
#include "tvm/runtime/crt/platform.h"
#include <zephyr/kernel.h>

static void report(k_timeout_t time)
{
    double seconds = -1.0;
    const int32_t early = (int32_t)TVMPlatformTimerStop(&seconds);
    const int32_t start = (int32_t)TVMPlatformTimerStart();
    const int32_t again = (int32_t)TVMPlatformTimerStart();
    (void)k_sleep(time);
    printk("timer: %d %d %d %d ", early, start, again, TVMPlatformTimerStop(&seconds));
    printk("%d us\\n", (int)(seconds * 1e6));
}

int main(void)
{
    report(K_MSEC(50));
    report(K_SECONDS(400)); /* the cycle counter wraps twice: 2^32 cycles of 25 MHz are 172 s */
    mg_io_exit(0);
}
"""
BAD_STATE = 0x0504  # kTvmErrorPlatformTimerBadState


def test_the_timer_tells_the_time_beyond_what_the_cycle_counter_holds(tmp_path: Path) -> None:
    board = "mps2_an385"
    project = write(tmp_path / "p", board)
    (project / "src" / "main.c").write_text(TIMER)
    finished = run(project, built(project, tmp_path / "zephyr", board), board)
    assert finished.ok
    found = re.findall(r"^timer: (\d+) (\d+) (\d+) (\d+) (\d+) us", finished.output, re.M)
    assert [row[:4] for row in found] == [(str(BAD_STATE), "0", str(BAD_STATE), "0")] * 2
    short, long = (int(row[4]) * 1e-6 for row in found)
    assert 0.05 <= short < 0.08  # a tick is 10 ms
    assert 400 <= long < 400.1
