"""``run --compare`` of a network without its dead channels: no layer is skipped, and errors are
found and named as in the model, also those that the passes made."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import verifier
from microgen.base import manifest
from microgen.building import builder
from microgen.compiler.passes.channel_sums import ChannelSums
from microgen.compiler.passes.dead_channels import _Removal
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import Array
from microgen.interface.api import RunResult
from microgen.running.comparing import compare
from microgen.running.comparing.verdict import Verdict
from tests.support import dead_networks
from tests.support.tools import NEEDS_GDBSERVER, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_GDBSERVER]
needs_litert = pytest.mark.skipif(bool(LiteRT().lacking()), reason=LiteRT().lacking())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dead") / "dead.tflite"
    path.write_bytes(dead_networks.tflite())
    return path


@pytest.fixture(scope="module")
def project(model: Path) -> Path:
    microgen.generate(model, "native", model.parent / "p")
    microgen.build(model.parent / "p")
    return model.parent / "p"


def _samples() -> dict[str, Array]:
    rng = np.random.default_rng(0)
    return {"x": rng.integers(-128, 128, (4, 1, 6, 5, 3)).astype(np.int8)}


def _compared(project: Path) -> RunResult:
    return microgen.run(project, _samples(), compare=True)


def test_the_manifest_names_the_channels_that_are_left(project: Path) -> None:
    record = manifest.load(project)
    assert {dead.tensor: dead.kept for dead in record.dead_channels} == {
        **dead_networks.KEPT,
        "y": (0, 1, 2, 3),
    }
    first, second, third, last = record.dead_channels
    assert (first.weights, first.products) == (4 * 27, 4 * 27 * 30)
    assert (second.weights, second.products) == (12 * 8 - 8 * 4, (12 * 8 - 8 * 4) * 30)
    assert (third.weights, third.products) == (4 * 9, 4 * 9 * 30)
    assert (last.weights, last.products) == (4 * 4 * 30, 4 * 4 * 30)
    assert verifier.verify(project).ok


def test_every_layer_is_compared(project: Path) -> None:
    for verdict in _compared(project).verdicts:
        if not verdict.is_skipped:
            assert verdict.ok, str(verdict)
            assert verdict.layers is not None
            assert verdict.layers.compared == 4
            assert not verdict.layers.absent


def _broken(project: Path, copy: Path, statement: str) -> tuple[Verdict, ...]:
    """The verdicts after ``statement`` was added to the first operator."""
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("build"))
    source = copy / "model/codegen/host/src/default_lib1.c"
    first, rest = source.read_text().split("    return 0;", 1)
    source.write_text(f"{first}    {statement}\n    return 0;{rest}")
    elf = builder.build(copy).elf
    outputs = microgen.running.runner.run(copy, _samples(), elf=elf).outputs
    return compare.compare(copy, _samples(), outputs, elf)


def test_an_error_has_the_channel_of_the_model(project: Path, tmp_path: Path) -> None:
    """Element 2 of the first pixel is the model's channel 4."""
    for verdict in _broken(project, tmp_path / "p", "out0[2] ^= 1;"):
        if not verdict.is_skipped:
            assert verdict.difference is not None
            assert verdict.difference.layer == "first"
            assert verdict.difference.index == (0, 0, 0, 4)


@needs_litert
def test_an_error_of_the_pass_is_found_in_the_layer_that_it_made_wrong(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numpy computes the network after the passes, so it agrees. LiteRT computes the file."""

    def folded(_self: object, layer: ChannelSums, _features: Array | None) -> Array:
        return np.zeros(len(layer.bias), np.int64)

    monkeypatch.setattr(_Removal, "_folded", folded)
    microgen.generate(model, "native", tmp_path / "p")
    numpy, litert = _compared(tmp_path / "p").verdicts
    assert numpy.ok
    assert litert.difference is not None
    assert litert.difference.layer == "second"
