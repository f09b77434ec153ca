"""Winograd's kernels on an emulated Cortex-M55, whose DSP extension is that of Cortex-M4, equal the
numpy references byte for byte, with the inner loop in assembly."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from microgen import kernels
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import inlined_calls
from tests.kernels.convolution.test_conv2d_winograd import CASES, random_case
from tests.qemu import test_mve_kernels as on_board
from tests.support.sampling import seeds
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]

INLINED = 6  # calls of each kernel with constant parameters
ROOM = 64 * 1024  # bytes of scratch that the driver's memory has room for


def _calls(case: c.Case) -> Iterator[on_board.Call]:
    node, graph = case.node, case.graph
    for kernel in kernels.registry()[case.op]:
        nbytes = kernel.scratch(node, graph)
        if "_winograd_" in kernel.symbol and nbytes <= ROOM and not kernel.refusal(node, graph):
            constants = [c._constant(k, graph) for k in kernel.constants(node, graph)]
            output = np.full(case.output_type.shape, on_board.FILLER, np.int8)
            scratch = np.full(nbytes, 0x77, np.int8)
            arguments = (case.inputs[0].array, *constants, output, scratch)
            yield on_board.Call(case, kernel, arguments, 1 + len(constants))


@functools.cache
def _all() -> list[on_board.Call]:
    return [call for case in (*CASES, *map(random_case, seeds(60))) for call in _calls(case)]


def test_cases_reach_every_kernel() -> None:
    entries = {k.symbol for k in kernels.registry()["nn.conv2d"] if "_winograd_" in k.symbol}
    assert {call.kernel.symbol for call in _all()} == entries


def test_shared_forms_equal_the_reference(tmp_path: Path) -> None:
    calls = _all()
    bodies = [on_board.shared(call.kernel, len(call.arguments)) for call in calls]
    unique = list(dict.fromkeys(bodies))
    on_board.run(calls, unique, [unique.index(body) for body in bodies], tmp_path)
    (elf,) = tmp_path.glob("project/build/*.elf")
    command = ["arm-none-eabi-objdump", "--disassemble=mg_winograd_products", str(elf)]
    code = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert code.count("\tsmuad\t") == 8
    assert code.count("\tsmlad\t") == 7 * 8


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    kept = inlined_calls.some(_all(), INLINED)
    bodies, level = [on_board.inlined(call) for call in kept], inlined_calls.level()
    on_board.run(kept, bodies, list(range(len(kept))), tmp_path, level=level)
