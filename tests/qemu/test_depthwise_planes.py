"""The kernels that copy channels to planes or columns, whose loops are assembly on cores with the
DSP extension, equal the numpy references on an emulated Cortex-M4."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from tests.kernels.conformance import conformance as c
from tests.kernels.depthwise import plane_cases
from tests.qemu import test_mve_kernels as harness
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]

BOARD = "mps2_an386"
COLUMNS = "mg_depthwise_conv2d_s8_linear_columns"
FAMILIES = ("depthwise_conv2d_s8_planes", "depthwise_conv2d_s8_columns")


@functools.cache
def _calls() -> list[harness.Call]:
    return [
        _call(case, kernel)
        for case in plane_cases.cases()
        for kernel in kernels.registry()[case.op]
        if kernel.family in FAMILIES and kernel.refusal(case.node, case.graph) is None
    ]


def _call(case: c.Case, kernel: kernels.Implementation) -> harness.Call:
    constants = [c._constant(k, case.graph) for k in kernel.constants(case.node, case.graph)]
    output = np.full(case.output_type.shape, harness.FILLER, np.int8)
    scratch = np.full(kernel.scratch(case.node, case.graph), 0x77, np.int8)
    arguments = (case.inputs[0].array, *constants, output, scratch)
    return harness.Call(case, kernel, arguments, 1 + len(constants))


def test_they_equal_the_reference(tmp_path: Path) -> None:
    calls = _calls()
    bodies = [harness.shared(call.kernel, len(call.arguments)) for call in calls]
    unique = list(dict.fromkeys(bodies))
    numbers = [unique.index(body) for body in bodies]
    harness.run(calls, unique, numbers, tmp_path, BOARD)


@pytest.mark.parametrize("suffix", ["3x3", "3x3_stride_2", "planes"])
def test_cases_reach_every_requantization(suffix: str) -> None:
    reached = {call.kernel.symbol for call in _calls()}
    for name in ("", "linear_", "mixed_", "upward_", "fpu_", "float_"):
        assert f"mg_depthwise_conv2d_s8_{name}{suffix}" in reached


def test_cases_reach_the_columns() -> None:
    cases = [call.case for call in _calls() if call.kernel.symbol == COLUMNS]
    assert {case.node.attrs.strides[1] for case in cases} == {1, 2}
