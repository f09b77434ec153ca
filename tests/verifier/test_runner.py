"""The check ``runner`` on the demo model's firmware, sound and with changed instructions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microgen
from microgen.verifier import CHECKS, verify
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV
from tests.tamper.encodings import halves, riscv_call, thumb_call, word
from tests.verifier.patched import Built, with_immediate

pytestmark = NEEDS_NINJA
RETURNS_ZERO = halves(0x2000, 0x4770)  # movs r0, #0; bx lr
MOVS_R0_0 = 0x2000
NOP = 0x46C0  # mov r8, r8, which every core has
OTHER = "fused_nn_softmax"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("mps2_an386", marks=NEEDS_ARM),
        pytest.param("microbit", marks=NEEDS_ARM),
    ],
)
def arm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return _built(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def riscv(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return _built("qemu_riscv32", tmp_path_factory)


def _built(board: str, folders: pytest.TempPathFactory) -> Built:
    root = folders.mktemp(board) / "p"
    microgen.generate(DIGITS, board, root, optimize="speed")
    microgen.build(root)
    return Built(root, board)


def _operator(built: Built, part: str) -> str:
    (name,) = {s.name for s in built.elf.functions() if s.name.endswith(part)}
    return name


@pytest.mark.sampled(1)
def test_sound_arm_firmware_passes(arm: Built) -> None:
    report = verify(arm.root)
    assert report.failed == ()
    found = report.check("runner")
    assert (found.status, found.values) == ("ok", {"calls": 7, "paths": 5})


def test_call_of_another_operator(arm: Built, tmp_path: Path) -> None:
    call, other = arm.calls("fused_add")[0], arm.address(_operator(arm, OTHER))
    changed = arm.patched(tmp_path / "e", (call.address, thumb_call(call.address, other)))
    said = arm.found(changed)
    assert f"at {call.address:#x}: calls {_operator(arm, OTHER)}, planned tvmgen_" in said


def test_main_that_returns_at_once(arm: Built, tmp_path: Path) -> None:
    said = arm.found(arm.patched(tmp_path / "e", (arm.address("main"), RETURNS_ZERO)))
    assert said == "the program never calls tvmgen_default_run"


def test_call_replaced_by_success(arm: Built, tmp_path: Path) -> None:
    for call in arm.calls()[::3]:
        said = arm.found(arm.patched(tmp_path / "e", (call.address, halves(MOVS_R0_0, NOP))))
        assert "planned" in said or "returns before it calls" in said


def test_runner_that_returns_at_once(arm: Built, tmp_path: Path) -> None:
    for name in ("_run", "___tvm_main__"):
        start = arm.address(f"tvmgen_default{name}")
        said = arm.found(arm.patched(tmp_path / "e", (start, RETURNS_ZERO)))
        assert "returns before it calls" in said


def test_weights_exchanged_in_the_literals(arm: Built, tmp_path: Path) -> None:
    names = [s.name for s in arm.elf.symbols if s.name.endswith("_weight")]
    first, second = (arm.literals(arm.address(name))[0] for name in names[:2])
    there, here = arm.elf.word(second), arm.elf.word(first)
    assert there is not None
    assert here is not None
    said = arm.found(arm.patched(tmp_path / "e", (first, word(there)), (second, word(here))))
    assert f"argument 2 is {there:#x}, planned {names[0]}" in said or names[1] in said


@pytest.mark.parametrize("change", [16, -16, -0x800], ids=hex)
def test_arena_elsewhere(arm: Built, tmp_path: Path, change: int) -> None:
    """The compiler loads the address of a buffer and adds to it for the others."""
    places = {s.address for s in arm.elf.symbols if s.name.startswith(("sid_", "scratch_"))}
    (literal, place), *_ = [(at, place) for place in places for at in arm.literals(place)]
    said = arm.found(arm.patched(tmp_path / "e", (literal, word(place + change))))
    wrong = re.search(r"is (0x[0-9a-f]+), planned (sid|scratch)_", said)
    assert wrong, said
    assert int(wrong[1], 16) - change in places


def test_operators_whose_names_are_exchanged(arm: Built, tmp_path: Path) -> None:
    names = _operator(arm, OTHER), _operator(arm, "fused_add_clip")
    said = arm.found(arm.renamed(tmp_path / "e", *names))
    assert f"calls {names[0]}, planned {names[1]}" in said


def test_input_of_another_member(arm: Built, tmp_path: Path) -> None:
    load = next(i for i in arm.body("tvmgen_default_run") if i.mnemonic == "ldr")
    code = int.from_bytes(arm.elf.read(load.address, 2) or b"", "little")
    changed = arm.patched(tmp_path / "e", (load.address, halves(code | 1 << 6)))
    assert "depends on the word at parameter 0 + 4" in arm.found(changed)


@pytest.mark.sampled(1)
def test_every_instruction_is_needed(arm: Built) -> None:
    assert arm.needless() == []


CHECKS_OF_NULL = {"cbz": 1 << 11, "beq": 1 << 8}  # with the bit that makes them cbnz and bne


def test_argument_checks_turned_round(arm: Built, tmp_path: Path) -> None:
    checks = [i for i in arm.body("tvmgen_default_run") if i.mnemonic in CHECKS_OF_NULL]
    assert len(checks) == 4
    for check in checks:
        code = int.from_bytes(arm.elf.read(check.address, 2) or b"", "little")
        opposite = halves(code ^ CHECKS_OF_NULL[check.mnemonic])
        said = arm.found(arm.patched(tmp_path / "e", (check.address, opposite)))
        assert "returns" in said


def test_success_of_another_number(arm: Built, tmp_path: Path) -> None:
    zero = [i for i in arm.main if i.mnemonic == "movs" and i.operands == ("r0", "#0")][-1]
    said = arm.found(arm.patched(tmp_path / "e", (zero.address, halves(0x2001))))
    assert "returns 0x1 after success" in said


def test_instruction_that_is_not_followed(arm: Built, tmp_path: Path) -> None:
    at = arm.main[3].address
    said = arm.found(arm.patched(tmp_path / "e", (at, halves(0xB672))))  # cpsid i
    assert f"at {at:#x}: cannot follow `cpsid" in said


def test_loop_without_end(arm: Built, tmp_path: Path) -> None:
    at = arm.main[2].address
    said = arm.found(arm.patched(tmp_path / "e", (at, halves(0xE7FE))))  # b .
    assert "has no end" in said


def test_store_into_the_arena(arm: Built, tmp_path: Path) -> None:
    """``str r4, [r4, #0]`` after r4 has the arena's address."""
    at = arm.calls()[0].next
    said = arm.found(arm.patched(tmp_path / "e", (at, halves(0x6024))))
    assert "writes memory that is not its stack" in said


def test_input_inside_the_arena(arm: Built, tmp_path: Path) -> None:
    arena, buffer = (arm.address(n) for n in ("tvmgen_default_global_workspace", "image_buffer"))
    end = arm.body("infer")[-1].next
    (literal,) = [a for a in range(end & ~3, end + 16, 4) if arm.elf.word(a) == buffer]
    for at in (arena, arena - 63, arena + 1024):
        said = arm.found(arm.patched(tmp_path / "e", (literal, word(at))))
        assert f"image is passed at {at:#x}, inside tvmgen_default_global_workspace" in said
    sound = arm.patched(tmp_path / "e", (literal, word(arena - 64)))
    assert CHECKS["runner"](arm.subject(sound)).status == "ok"


@NEEDS_RISCV
def test_sound_riscv_firmware_passes(riscv: Built) -> None:
    assert verify(riscv.root).check("runner").status == "ok"


@NEEDS_RISCV
def test_every_riscv_instruction_is_needed(riscv: Built) -> None:
    assert riscv.needless() == []


@NEEDS_RISCV
def test_riscv_calls(riscv: Built, tmp_path: Path) -> None:
    other = _operator(riscv, OTHER)
    for call in riscv.calls("fused_add", "pool", "dense"):
        instead = riscv_call(call.address, riscv.address(other))
        said = riscv.found(riscv.patched(tmp_path / "e", (call.address, instead)))
        assert f"at {call.address:#x}: calls {other}, planned tvmgen_" in said
        nothing = halves(0x4501, 0x0001)  # li a0, 0; nop
        said = riscv.found(riscv.patched(tmp_path / "e", (call.address, nothing)))
        assert "planned" in said


@NEEDS_RISCV
def test_riscv_runner_that_returns_at_once(riscv: Built, tmp_path: Path) -> None:
    for name in ("_run", "___tvm_main__"):
        start = riscv.address(f"tvmgen_default{name}")
        zero = halves(0x4501, 0x8082)  # li a0, 0; ret
        assert "returns before" in riscv.found(riscv.patched(tmp_path / "e", (start, zero)))


@NEEDS_RISCV
def test_riscv_addresses(riscv: Built, tmp_path: Path) -> None:
    """Each low half of an address in the runner, moved by 16: arena, constants."""
    halves_of_addresses = [
        i
        for i in riscv.main
        if i.mnemonic in ("add", "addi") and i.size == 4 and "sp" not in i.operands
    ]
    assert len(halves_of_addresses) > 12
    for instruction in halves_of_addresses[::3]:
        code = riscv.elf.word(instruction.address)
        assert code is not None
        changed = with_immediate(code, 16)
        said = riscv.found(riscv.patched(tmp_path / "e", (instruction.address, changed)))
        assert "argument" in said
        assert "planned" in said


@NEEDS_RISCV
def test_riscv_operators_whose_names_are_exchanged(riscv: Built, tmp_path: Path) -> None:
    names = _operator(riscv, OTHER), _operator(riscv, "fused_add_clip")
    said = riscv.found(riscv.renamed(tmp_path / "e", *names))
    assert f"calls {names[0]}, planned {names[1]}" in said
