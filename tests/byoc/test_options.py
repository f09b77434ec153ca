"""Firmware of several codegens under options that move its code, constants and buffers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import microgen
from tests.byoc import mixed
from tests.support.external_networks import convolution
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA

pytestmark = NEEDS_NINJA
CALLERS = ("fast:512", "dram:*:external", "weights:*:external:const")


def _runs(project: Path, *, sanitize: bool = False) -> str:
    """Runs and compares the firmware. Returns what was expected of its blobs."""
    found = microgen.run(project, compare=True, sanitize=sanitize)
    assert found.checks.ok, found.checks.to_text()
    assert found.checks.check("module_blob").status == "ok"
    assert [str(v) for v in found.verdicts if not (v.ok or v.is_skipped)] == []
    assert not all(v.is_skipped for v in found.verdicts)
    return found.checks.check("module_blob").expected


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"optimize": "flash", "planner": "greedy"}, id="flash"),
        pytest.param({"pool": CALLERS}, id="pools"),
        pytest.param({"pool": ("w:*:const",), "constant_alignment": 16}, id="constant pool"),
        pytest.param({"workspace_io": True, "pool": CALLERS[1:]}, id="workspace-io"),
    ],
)
def test_options(options: dict[str, Any], tmp_path: Path) -> None:
    made = microgen.generate(
        mixed.network(), "native", tmp_path / "p", codegen=mixed.CODEGENS, composite=True, **options
    )
    assert mixed.takers(made).keys() == {"", *mixed.CODEGENS}
    _runs(tmp_path / "p", sanitize=True)


@pytest.mark.parametrize(
    ("board", "options"),
    [
        # As in test_mixed.py, so that the same objects are linked.
        pytest.param("mps2_an386", {"executor": "graph"}, marks=NEEDS_ARM, id="graph"),
        pytest.param("native", {"executor": "graph"}, marks=pytest.mark.slow, id="graph on host"),
        pytest.param(
            "mps2_an386",
            {"toolchain": "llvm", "optimize": "flash", "workspace_io": True},
            marks=[NEEDS_ARM, NEEDS_LLVM, pytest.mark.slow],
            id="llvm",
        ),
    ],
)
def test_two_models_with_a_blob_each(board: str, options: dict[str, Any], tmp_path: Path) -> None:
    models = [(mixed.network(), "a"), (convolution(), "b")]
    project = tmp_path / "p"
    firmware = microgen.generate_models(
        models, board, project, codegen=mixed.CODEGENS, merge_regions=True, **options
    )
    assert [len(mixed.takers(model)) for model in firmware.models] == [4, 2]
    said = _runs(project, sanitize=board == "native")
    assert all(f"{name}: tvmgen_{name}___tvm_dev_mblob" in said for name in "ab")
