"""``run --on`` against QEMU's debugger's server, which has no firmware until we load it."""

from __future__ import annotations

import io
import json
import re
import signal
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import MicrogenError, RunError, StatusRunError
from microgen.graph.ir.graph import Array
from microgen.interface import api
from microgen.interface.cli import main
from microgen.running import runner
from microgen.running.comparing import blame
from microgen.running.runner import image
from microgen.running.runner.gdb import Stop
from microgen.running.runner.remote import address, target
from microgen.running.runner.remote.protocol import Remote
from microgen.target import board as boards
from microgen.verifier.elf import elf as elves
from tests.running.runner.remote.fake import Board, free_port, listening, qemu
from tests.support.minimal_project import board_params
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV, skip_without

BOARDS = [
    pytest.param("mps2_an386", "mps2-an386", marks=NEEDS_ARM),
    pytest.param("qemu_riscv32", "virt", marks=NEEDS_RISCV),
]
# No interrupt is enabled, so it never goes on. An emulator that waits takes no time of the machine.
ASLEEP = 'for (;;) { __asm__ volatile("wfi"); }'
SAMPLES = {"input": np.random.default_rng(7).integers(-128, 128, (3, 8, 8, 1), np.int8)}

Make = Callable[..., Path]

pytestmark = NEEDS_NINJA


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """A function that returns a project of the small network, built, whose main begins with
    ``first``."""
    folder = tmp_path_factory.mktemp("on")
    made: dict[tuple[str, str], Path] = {}

    def get(board: str, first: str = "") -> Path:
        key = (board, first)
        if key not in made:
            project = made[key] = folder / str(len(made))
            microgen.generate(SMALL, board, project)
            main_c = project / "src" / "main.c"
            text = main_c.read_text()
            at = text.index("{", text.index("int main(")) + 1
            main_c.write_text(text[:at] + first + text[at:])
            microgen.build(project)
        return made[key]

    return get


def _samples(project: Path) -> dict[str, Array]:
    (port,) = manifest.load(project).inputs
    return {port.tensor: SAMPLES["input"].reshape(-1, *port.shape)}


def _run(project: Path, on: str, *, limit: float = 30.0) -> runner.JobResult:
    """A run without the checks of ``microgen run``, which a broken main would not pass."""
    with target.opened(address.parse(on), project / "build" / "firmware.elf", limit) as core:
        return runner.run(project, _samples(project), target=core)


def _mine(folder: Path, cpu: str = "cortex-m4") -> Path:
    """The folder of a board of somebody's own, without an emulator."""
    places = ["--flash", "512K@0x08000000", "--ram", "128K@0x20000000", "-o", str(folder)]
    with redirect_stdout(io.StringIO()):
        assert main(["boards", "--new", "mine", "--cpu", cpu, *places]) == 0
    return folder / "mine"


@NEEDS_ARM
def test_a_board_of_ones_own_is_compared_layer_by_layer(tmp_path: Path) -> None:
    port, project = free_port(), tmp_path / "d"
    microgen.generate(SMALL, _mine(tmp_path / "boards"), project)
    out, err = io.StringIO(), io.StringIO()
    with qemu("netduinoplus2", port=port), redirect_stdout(out), redirect_stderr(err):
        code = main(["run", str(project), "--on", f"gdb:127.0.0.1:{port}", "--compare", "--json"])
        again = api.run(project, on=f"gdb:localhost:{port}")
    found = json.loads(out.getvalue())
    assert (code, found["ok"], found["samples"]) == (0, True, 8), err.getvalue()
    assert next(one["layers"] for one in found["comparisons"] if one["status"] == "ok") == 4
    assert found["cycles"]["counts"] is None
    assert "no DWT" in found["cycles"]["why"]
    assert again.samples == 1


@pytest.mark.parametrize(("board", "machine"), BOARDS)
def test_outputs_layers_and_console_are_those_of_a_plain_run(
    make: Make, board: str, machine: str
) -> None:
    project, port = make(board), free_port()
    here = runner.run(project, _samples(project), trace=True)
    with qemu(machine, port=port):
        there = _run(project, f"gdb:127.0.0.1:{port}")
        elf = project / "build" / "firmware.elf"
        with target.opened(address.parse(f"gdb:127.0.0.1:{port}"), elf, 30.0) as core:
            traced = runner.run(project, _samples(project), trace=True, target=core)
    for ran in (there, traced):
        assert ran.console == here.console
        assert ran.stack == here.stack
        assert all(np.array_equal(ran.outputs[name], here.outputs[name]) for name in here.outputs)
    assert here.layers
    assert traced.layers
    assert len(here.layers) == len(traced.layers) == 3 * 4
    assert all(
        np.array_equal(a.array, b.array) for a, b in zip(here.layers, traced.layers, strict=True)
    )
    assert there.cycles
    assert there.cycles.counts is None
    assert there.cycles.why


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "machine"), BOARDS)
def test_a_core_is_as_good_as_new_after_faults_and_hangs(
    make: Make, board: str, machine: str
) -> None:
    port = free_port()
    on = f"gdb:127.0.0.1:{port}"
    fault = "*(volatile int *)0xF0000000 = 1;"
    loop = "for (volatile int on = 1; on;) { }"
    chatter = 'for (;;) { mg_io_print("x"); }'
    with qemu(machine, port=port):
        with pytest.raises(RunError, match=r"ended in a (Bus|StoreAccess)Fault: .*; pc .* in main"):
            _run(make(board, fault), on)
        assert _run(make(board), on).samples == 3
        for endless in (loop, chatter):
            with pytest.raises(RunError, match=r"no progress for 0.5 s, after 0 of 3 samples, at"):
                _run(make(board, endless), on, limit=0.5)
            assert _run(make(board), on).samples == 3


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "machine"), BOARDS)
def test_a_server_that_is_killed_midway(make: Make, board: str, machine: str) -> None:
    port = free_port()
    endless = make(board, ASLEEP)
    with qemu(machine, port=port) as (process, _):
        killing = threading.Timer(1.0, process.kill)
        killing.start()
        start = time.monotonic()
        with pytest.raises(RunError, match=r"connection (is closed|broke).*look at what"):
            _run(endless, f"gdb:127.0.0.1:{port}")
        assert time.monotonic() - start < 20
        killing.join()
    with pytest.raises(MicrogenError, match="no debugger's server answers: Connection refused"):
        _run(endless, f"gdb:127.0.0.1:{port}")


@NEEDS_ARM
def test_a_server_killed_between_samples_says_how_far_it_came(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with qemu("mps2-an386", port=port) as (process, _):
        monkeypatch.setattr(target.RemoteTarget, "progress", lambda _: process.kill())
        with pytest.raises(RunError, match=r"connection (is closed|broke), after [12] of 3 samp"):
            _run(make("mps2_an386"), f"gdb:127.0.0.1:{port}")


@NEEDS_ARM
@NEEDS_RISCV
def test_a_server_for_another_core(make: Make) -> None:
    for machine, board, found in (
        ("virt", "mps2_an386", r"is riscv:rv32, and the firmware is for arm \(Cortex-M\)"),
        ("mps2-an386", "qemu_riscv32", "is arm, and the firmware is for riscv:rv32"),
        ("versatilepb", "mps2_an386", "is arm without the M profile"),
    ):
        port = free_port()
        with qemu(machine, port=port), pytest.raises(RunError, match=found):
            _run(make(board), f"gdb:127.0.0.1:{port}")


@NEEDS_ARM
def test_a_board_with_other_memories(make: Make, tmp_path: Path) -> None:
    port, project = free_port(), tmp_path / "d"
    microgen.generate(SMALL, _mine(tmp_path / "boards"), project)
    with (
        qemu("lm3s6965evb", port=port),
        pytest.raises(RunError, match="cannot be loaded: no memory at 0x8000000; is it the board"),
    ):
        api.run(project, on=f"gdb:127.0.0.1:{port}")


def _call(project: Path) -> int:
    elf = image.load(project / "build" / "firmware.elf")
    start, end = elf.extent("mg_semihosting")
    code = elves.load(elf.path).read(start, end - start)
    assert code is not None
    return start + code.index(b"\xab\xbe")


@pytest.mark.sampled(1)
@NEEDS_ARM
@pytest.mark.parametrize("sums", [True, False], ids=["qCRC", "read back"])
def test_a_board_with_flash_and_a_counter_and_no_semihosting(
    make: Make, tmp_path: Path, sums: bool
) -> None:
    """What real servers have and QEMU's has not."""
    project = tmp_path / "d"
    microgen.generate(SMALL, _mine(tmp_path / "boards"), project)
    microgen.build(project)
    flash = (0x08000000, 0x80000, 0x800)
    with qemu("netduinoplus2") as (_, core):
        board = Board(core, flash, _call(project), sums=sums)
        with listening(board.play) as port:
            ran = api.run(project, _samples(project), on=f"gdb:127.0.0.1:{port}", compare=True)
            command = ["run", str(project), "--on", f"gdb:127.0.0.1:{port}", "--profile"]
            out = io.StringIO()
            with redirect_stdout(out):
                assert main(command) == 0
            again = api.run(project, _samples(project), on=f"gdb:127.0.0.1:{port}", profile=True)
    assert all(verdict.ok for verdict in ran.verdicts)
    assert all(np.array_equal(ran.outputs[name], again.outputs[name]) for name in ran.outputs)
    for one in (ran, again):
        assert one.cycles
        assert one.cycles.counter == "DWT CYCCNT"
        assert one.cycles.counts == (Board.CYCLES,) * 3
    # A call runs once from its entry to its return; an inference once between two of them, too.
    assert again.cycles
    assert again.cycles.per_call == (((9 * Board.CYCLES, *[Board.CYCLES] * 4),),) * 3
    assert re.search(r"^4  .* 1,234 +11\.1$", out.getvalue(), re.M)
    assert "cycles per inference: 1,234 (by DWT CYCCNT)\n" in out.getvalue()
    assert b"QStartNoAckMode" in board.log
    erased = [body for body in board.log if body.startswith(b"vFlashErase")]
    assert len(erased) == len(set(erased)) == 1  # flash is written once, for all runs


@NEEDS_ARM
def test_flash_that_keeps_its_old_bytes_is_noticed(tmp_path: Path) -> None:
    project = tmp_path / "d"
    microgen.generate(SMALL, _mine(tmp_path / "boards"), project)
    microgen.build(project)
    with qemu("netduinoplus2") as (_, core):
        board = Board(core, (0x08000000, 0x80000, 0x800), _call(project), sums=False)
        board.forgets = True
        with (
            listening(board.play) as port,
            pytest.raises(RunError, match=r"was not loaded: at 0x8\w{6} there is 0x00 instead of"),
        ):
            api.run(project, on=f"gdb:127.0.0.1:{port}")


@NEEDS_ARM
def test_a_status_is_explained(tmp_path: Path) -> None:
    """The reference does not know this status, so the firmware is run again, call by call."""
    project, port = tmp_path / "d", free_port()
    microgen.generate(SMALL, "mps2_an386", project)
    source = project / "src" / "main.c"
    source.write_text(source.read_text().replace("*status = infer();", "*status = infer() + 77;"))
    microgen.build(project)

    elf = project / "build" / "firmware.elf"
    with (
        qemu("mps2-an386", port=port),
        target.opened(address.parse(f"gdb:127.0.0.1:{port}"), elf, 30.0) as core,
    ):
        with pytest.raises(StatusRunError) as failed:
            runner.run(project, _samples(project), target=core)
        found = blame.explained(failed.value, project, _samples(project), elf, core)
    assert "returned error code 77 at sample 0 after layer" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "board", board_params(*(name for name in boards.available() if boards.load(name).qemu))
)
def test_every_emulated_board(tmp_path: Path, board: str) -> None:
    machine = boards.load(board).qemu
    assert machine
    skip_without(machine.system)
    port, project = free_port(), tmp_path / "d"
    microgen.generate(SMALL, board, project)
    here = api.run(project, _samples(project))
    with qemu(machine.machine, *machine.args, port=port):
        on = f"gdb:127.0.0.1:{port}"
        there = api.run(project, _samples(project), on=on, compare=True)
        again = api.run(project, _samples(project), on=on)
    assert here.console == there.console == again.console
    assert all(verdict.ok or verdict.is_skipped for verdict in there.verdicts)
    assert all(np.array_equal(here.outputs[k], there.outputs[k]) for k in here.outputs)


@NEEDS_ARM
def test_ctrl_c_stops_the_core(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    port, stopped = free_port(), []
    endless = make("mps2_an386", ASLEEP)
    interrupt = Remote.interrupt

    def noted(remote: Remote) -> Stop:
        stopped.append(interrupt(remote))
        return stopped[-1]

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Remote, "interrupt", noted)
    before = signal.signal(signal.SIGALRM, press)
    try:
        with qemu("mps2-an386", port=port):
            signal.setitimer(signal.ITIMER_REAL, 1.5)
            with pytest.raises(KeyboardInterrupt):
                _run(endless, f"gdb:127.0.0.1:{port}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stopped == [Stop(None)]


@NEEDS_ARM
@pytest.mark.slow
def test_several_models(tmp_path: Path) -> None:
    project = tmp_path / "d"
    microgen.generate_models([(SMALL, "a"), (SMALL, "b")], _mine(tmp_path / "boards"), project)
    microgen.build(project)
    with qemu("netduinoplus2") as (_, core):
        board = Board(core, (0x08000000, 0x80000, 0x800), _call(project), sums=True)
        with listening(board.play) as port:
            ran = api.run(project, on=f"gdb:127.0.0.1:{port}", compare=True)
            counted = api.run(project, on=f"gdb:127.0.0.1:{port}", profile=True)
    assert len(ran.verdicts) == 4
    assert all(verdict.ok or verdict.is_skipped for verdict in ran.verdicts)
    assert ran.cycles
    assert ran.cycles.counts == (2 * Board.CYCLES,) * ran.samples
    assert counted.cycles
    assert counted.cycles.per_call == ((((9 * Board.CYCLES, *[Board.CYCLES] * 4),) * 2),)


@NEEDS_ARM
def test_a_server_that_stops_at_faults(make: Make) -> None:
    """PyOCD does. The firmware's own handler then says what happened."""
    project = make("netduinoplus2", "*(volatile int *)0xF0000000 = 1;")
    with qemu("netduinoplus2") as (_, core):
        board = Board(core, (0x08000000, 0x80000, 0x800), _call(project), sums=True)
        elf = image.load(project / "build" / "firmware.elf")
        board.catches = elf.address("Fault_Handler")
        with listening(board.play) as port, pytest.raises(RunError, match=r"BusFault.* in main"):
            _run(project, f"gdb:127.0.0.1:{port}")
