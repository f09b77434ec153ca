"""A network of int4 weights on a core of each kind: two weights to a byte in flash."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import microgen
from microgen.base.manifest import Manifest
from microgen.frontends.tflite.litert import LiteRT
from microgen.running.comparing import stimuli
from tests.support import forced, int4_networks
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV

BOARDS = [
    pytest.param("microbit", "portable", marks=NEEDS_ARM),
    pytest.param("mps2_an386", "dsp", marks=NEEDS_ARM),
    pytest.param("mps3_an547", "mve", marks=NEEDS_ARM),
    pytest.param("qemu_riscv32", "portable", marks=NEEDS_RISCV),
    pytest.param("native", "portable"),
]

BOARD = "mps2_an386"
PLAIN = ("mg_conv2d_s8", "mg_depthwise_conv2d_s8", "mg_dense_s8")  # with weights as in the model


def _rows(shape: tuple[int, ...]) -> int:
    return shape[0] * math.ceil(math.prod(shape[1:]) / 2)


def _weights(manifest: Manifest, transform: str) -> int:
    """The bytes of all weights, each of which has that transform."""
    found = [c for c in manifest.constants if c.ctype in ("int8_t", "uint8_t")]
    return sum(c.nbytes for c in found if c.transform == transform)


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize(("board", "variant"), BOARDS)
def test_the_weights_are_packed_and_the_results_are_those_of_litert(
    board: str, variant: str, tmp_path: Path
) -> None:
    file, project = tmp_path / "m.tflite", tmp_path / "p"
    file.write_bytes(int4_networks.tflite("int4"))
    packed = forced.first(file, board, tmp_path / "s.json", lambda kernel: kernel.takes_int4)
    done = microgen.generate(file, board, project, schedule=packed)
    microgen.build(project)
    result = microgen.run(project, stimuli.samples(done.manifest.inputs, random=3), compare=True)
    for verdict in result.verdicts:
        assert verdict.ok
        assert verdict.layers or (verdict.is_skipped and LiteRT().lacking()), str(verdict)
    kernels = [step.kernel for call in done.manifest.calls for step in call.steps]
    assert all("_s4" in kernel for kernel in kernels)
    assert f"mg_conv2d_s4_{variant}" in kernels
    wanted = sum(_rows(shape) for shape, _ in int4_networks.WEIGHTS.values())
    assert _weights(done.manifest, "pack_int4") == wanted
    assert _weights(done.manifest, "identity") == 0
    assert microgen.verify(project).check("constants_bytes").status == "ok"


@NEEDS_NINJA
@NEEDS_LLVM
@pytest.mark.parametrize("board", ["mps3_an547"])
def test_llvm_compiles_the_kernels(board: str, tmp_path: Path) -> None:
    file, project = tmp_path / "m.tflite", tmp_path / "p"
    file.write_bytes(int4_networks.tflite("int4"))
    done = microgen.generate(file, board, project, toolchain="llvm")
    result = microgen.run(project, stimuli.samples(done.manifest.inputs, random=1), compare=True)
    assert all(verdict.is_skipped or verdict.ok for verdict in result.verdicts)


def test_the_same_weights_in_int8_are_not_packed(tmp_path: Path) -> None:
    file = tmp_path / "m.tflite"
    file.write_bytes(int4_networks.tflite("int8"))
    manifest = microgen.generate(file, BOARD, tmp_path / "p").manifest
    steps = [step for call in manifest.calls for step in call.steps]
    assert not any("s4" in text for step in steps for text in (step.kernel, *step.refusals))
    assert _weights(manifest, "pack_int4") == 0


def test_plain_kernels_have_a_byte_for_each_int8_weight(tmp_path: Path) -> None:
    file = tmp_path / "m.tflite"
    file.write_bytes(int4_networks.tflite("int8"))
    plain = forced.first(file, BOARD, tmp_path / "s.json", lambda kernel: kernel.symbol in PLAIN)
    manifest = microgen.generate(file, BOARD, tmp_path / "p", schedule=plain).manifest
    wanted = sum(math.prod(shape) for shape, _ in int4_networks.WEIGHTS.values())
    assert _weights(manifest, "identity") == wanted
