"""The check ``runner`` with the packed interface: tensors, type codes, wrappers."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import microgen
from microgen.options import Options
from microgen.verifier import CHECKS
from tests.devices.networks import dividing
from tests.support.compiling import write_project
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV
from tests.tamper.encodings import word
from tests.verifier.patched import Built

pytestmark = NEEDS_NINJA
TENSOR_BYTES, BYTE_OFFSET = 40, 32
WRAPPER = "tvmgen_default_fused_divide"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("mps2_an386", marks=NEEDS_ARM),
        pytest.param("qemu_riscv32", marks=NEEDS_RISCV),
    ],
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = tmp_path_factory.mktemp(request.param) / "p"
    write_project(dividing("", "", "", ""), root, Options(interface="packed"), request.param)
    microgen.build(root)
    return Built(root, request.param)


def _tensors(built: Built) -> list[int]:
    """The addresses of the constant tensors of the runner: of the buffers between two calls."""
    found = [s for s in built.elf.symbols if s.name.startswith("tensor_") and s.size]
    assert {s.size for s in found} == {TENSOR_BYTES}
    return sorted(s.address for s in found)


def test_sound_firmware_passes(built: Built) -> None:
    finding = CHECKS["runner"](built.subject(built.path))
    # The tensors are unpacked, then each operator is called; each call may fail, or none.
    assert (finding.status, finding.values) == ("ok", {"calls": 5, "paths": 5})


@pytest.mark.sampled(1)
def test_every_call_and_branch_is_needed(built: Built) -> None:
    """What describes shapes and types is not: the packed functions check it."""
    found = built.needless()
    assert not [text for text in found if " ra," in text]
    needless = {text.split()[1] for text in found}
    assert not needless & {"bl", "cbz", "cbnz", "beq", "bne", "jal", "j", "beqz", "bnez", "ret"}


def test_data_of_another_tensor(built: Built, tmp_path: Path) -> None:
    for address in _tensors(built):
        data = built.elf.word(address)
        assert data is not None
        said = built.found(built.patched(tmp_path / "e", (address, word(data + 16))))
        assert f"is {data + 16:#x}, planned sid_" in said


def test_byte_offset(built: Built, tmp_path: Path) -> None:
    place = _tensors(built)[0] + BYTE_OFFSET
    assert "has a byte offset" in built.found(built.patched(tmp_path / "e", (place, word(4))))


def test_type_code(built: Built, tmp_path: Path) -> None:
    codes = built.address("type_codes")
    said = built.found(built.patched(tmp_path / "e", (codes, struct.pack("<i", 13))))
    assert "another type code" in said


def test_wrapper_that_calls_something_else(built: Built, tmp_path: Path) -> None:
    names = f"{WRAPPER}_unpacked", "TVMPlatformInitialize"
    said = built.found(built.renamed(tmp_path / "e", *names))
    assert f"calls {names[1]}, planned {names[0]}" in said


@NEEDS_ARM
def test_the_graph_executors_packed_functions(tmp_path: Path) -> None:
    root = tmp_path / "p"
    microgen.generate(DIGITS, "mps2_an386", root, executor="graph")
    microgen.build(root)
    built = Built(root, "mps2_an386")
    finding = CHECKS["runner"](built.subject(built.path))
    assert (finding.status, finding.values) == ("ok", {"functions": 7})
    softmax, pool = (f"tvmgen_default_fused_nn_{n}_unpacked" for n in ("softmax", "avg_pool2d"))
    said = built.found(built.renamed(tmp_path / "e", softmax, pool))
    assert f"calls {pool}, planned {softmax}" in said
