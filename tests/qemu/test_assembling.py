"""Concatenations whose parts are computed in their results, on emulated cores of each kind: they
equal the references, and a part that is elsewhere is found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.base import manifest
from tests.graph.rows.forced import roll
from tests.support import concat_networks
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV

pytestmark = [NEEDS_NINJA]

PARTS = 6  # of three concatenations; three of them are copied
RUNNER = "model/codegen/host/src/default_lib0.c"
IN_A_BUFFER = re.compile(r"workspace\[(\d+)\] /\* (sid_\d+) \+ \d+ \*/")


def project(folder: Path, board: str, dtype: str = "int8", **options: Any) -> Path:
    """A project of the network that joins rows, three times."""
    made, output = concat_networks.rows(dtype)
    model = folder / "rows.tflite"
    model.write_bytes(made.model(output))
    microgen.generate(model, board, folder / "p", **options)
    return folder / "p"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("board", "dtype", "options"),
    [
        pytest.param("mps2_an386", "int8", {"optimize": "speed"}, marks=NEEDS_ARM),
        pytest.param("mps3_an547", "int8", {"numerics": "tflm"}, marks=NEEDS_ARM),
        pytest.param("mps2_an386", "int8", {"interface": "packed"}, marks=NEEDS_ARM),
        pytest.param("mps2_an386", "float32", {"workspace_io": True}, marks=NEEDS_ARM),
        pytest.param("microbit", "int8", {"output_workspace": True}, marks=NEEDS_ARM),
        pytest.param("qemu_riscv32", "int8", {"optimize": "ram"}, marks=NEEDS_RISCV),
        ("native", "float32", {}),
        ("native", "int8", {"interface": "packed"}),
    ],
)
def test_firmware_equals_the_references(
    board: str, dtype: str, options: dict[str, Any], tmp_path: Path
) -> None:
    made = project(tmp_path, board, dtype, **options)
    calls = manifest.load(made).calls
    assert any(argument.offset for call in calls for argument in call.args)
    ran = microgen.run(made, compare=True, sanitize=board == "native")
    assert ran.checks.ok, ran.checks.to_text()
    for verdict in ran.verdicts:
        assert verdict.ok or verdict.is_skipped, str(verdict)
        assert verdict.layers is None or not verdict.layers.unseen
    assert ran.verdicts[0].layers is not None


@NEEDS_ARM
def test_a_part_that_is_computed_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = concat_networks.Network(5)
    x = made.input(1, 8, 6, 3)
    first, second = made.conv(x, 4), made.conv(made.conv(made.conv(x, 8), 8), 2)
    output = made.conv(made.concat([first, made.conv(second, 4)], 1), 2, 1)
    (tmp_path / "m.tflite").write_bytes(made.model(output))
    sizes = roll(monkeypatch, 1)
    microgen.generate(tmp_path / "m.tflite", "mps2_an386", tmp_path / "p", optimize="speed")
    assert max(sizes) > 1, "nothing is computed row by row"
    calls = manifest.load(tmp_path / "p").calls
    (joined,) = (step for call in calls for step in call.steps if step.op == "concatenate")
    assert joined.unseen == "its last part is computed row by row, and compared there"
    ran = microgen.run(tmp_path / "p", compare=True)
    assert ran.checks.ok, ran.checks.to_text()
    assert all(verdict.ok for verdict in ran.verdicts)


def test_the_graph_executor_copies(tmp_path: Path) -> None:
    made = project(tmp_path, "native", executor="graph")
    calls = manifest.load(made).calls
    assert not any(argument.offset for call in calls for argument in call.args)
    assert microgen.run(made, compare=True).verdicts[0].ok


@NEEDS_ARM
def test_a_part_in_another_place_is_found(tmp_path: Path) -> None:
    made = project(tmp_path, "mps2_an386")
    text = (made / RUNNER).read_text()
    place = next(IN_A_BUFFER.finditer(text))
    moved = f"workspace[{int(place[1]) + 4}] /* "
    (made / RUNNER).write_text(
        text.replace(place[0], place[0].replace(f"workspace[{place[1]}] /* ", moved), 1)
    )
    microgen.build(made)
    found = microgen.verify(made)
    assert found.check("runner").status == "failed", found.to_text()
    assert place[2] in found.check("runner").found
