"""Two models in one firmware on a board, in one workspace: each computes the same as alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import verifier
from microgen.base import manifest
from microgen.graph.ir.graph import Array
from tests.several import models
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]
BOARD = "mps2_an386"
NAMES = ("small", "kws")


# tests/several/test_firmware.py runs the other conventions on the host.
@pytest.mark.parametrize(
    "options",
    [{}, {"interface": "packed"}, {"executor": "graph"}],
    ids=["c", "packed", "graph"],
)
@pytest.mark.slow
def test_two_models_are_in_one_firmware_what_they_are_alone(
    options: dict[str, object], tmp_path: Path
) -> None:
    files = models.written(tmp_path)
    is_shared = options.get("executor") != "graph"
    project = tmp_path / "both"
    microgen.generate_models(
        [(files[name], name) for name in NAMES],
        BOARD,
        project,
        shared_workspace=is_shared,
        **options,
    )
    record = manifest.load(project)
    inputs = {
        f"{module.module}.{port.tensor}": models.int8(port.shape, seed)
        for seed, module in enumerate(record.modules)
        for port in module.inputs
    }
    found = microgen.run(project, inputs, profile=True, compare=True)
    assert found.checks.ok
    assert all(v.ok or v.is_skipped for v in found.verdicts)
    assert len([v for v in found.verdicts if not v.is_skipped]) >= len(NAMES)
    assert found.per_module is not None
    assert found.per_call is not None
    counts = list(found.per_call[0])
    for number, name in enumerate(NAMES):
        alone, arena = _alone(files[name], name, tmp_path, inputs, options)
        for tensor, expected in alone.outputs.items():
            np.testing.assert_array_equal(found.outputs[f"{name}.{tensor}"], expected)
        assert alone.per_call is not None
        own = counts[: len(alone.per_call[0])]
        del counts[: len(own)]
        assert own == list(alone.per_call[0])
        assert found.per_module[0][number] == (alone.instructions or ())[0]
        if name == "small" and is_shared:
            assert _arena(project) == arena
    assert not counts


def _alone(
    file: Path,
    name: str,
    directory: Path,
    inputs: dict[str, Array],
    options: dict[str, object],
) -> tuple[microgen.RunResult, int]:
    """A run of firmware with only that model, and the bytes of its workspace."""
    project = directory / name
    microgen.generate(file, BOARD, project, name=name, **options)
    own = {k.split(".", 1)[1]: v for k, v in inputs.items() if k.startswith(f"{name}.")}
    return microgen.run(project, own, profile=True), _arena(project)


def _arena(project: Path) -> int:
    elf = project / "build" / "firmware.elf"
    return verifier.measure(elf, manifest.load(project)).arena
