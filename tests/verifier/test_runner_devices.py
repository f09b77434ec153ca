"""The check ``runner`` where operators fail and run on devices: every call and every look at a
status is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.options import Options
from microgen.verifier import verify
from tests.devices.networks import BOTH, dividing
from tests.support.compiling import write_project
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV
from tests.verifier.patched import Built

pytestmark = NEEDS_NINJA


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("mps2_an386", marks=NEEDS_ARM),
        pytest.param("qemu_riscv32", marks=NEEDS_RISCV),
    ],
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = tmp_path_factory.mktemp(request.param) / "p"
    write_project(dividing("", "npu0", "npu1", ""), root, Options(targets=BOTH), request.param)
    microgen.build(root)
    return Built(root, request.param)


def test_every_path_is_followed(built: Built) -> None:
    found = verify(built.root).check("runner")
    # Two activations, four operators, two of them between open and close, two deactivations.
    assert (found.status, found.values["calls"]) == ("ok", 2 + 4 + 4 + 2)
    assert found.values["paths"] > 1 + 12


@pytest.mark.sampled(1)
def test_every_instruction_is_needed(built: Built) -> None:
    assert built.needless() == []


def test_every_hook_is_the_planned_one(built: Built, tmp_path: Path) -> None:
    hooks = [s.name for s in built.elf.functions() if s.name.startswith("TVMDevice")]
    assert len(hooks) == 8
    for call in built.calls("TVMDevice"):
        own = call.operands[-1].split("<")[1].rstrip(">")
        other = hooks[(hooks.index(own) + 1) % len(hooks)]
        instead = built.call(call.address, built.address(other))
        said = built.found(built.patched(tmp_path / "e", (call.address, instead)))
        assert f"calls {other}, planned" in said
