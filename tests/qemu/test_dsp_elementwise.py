"""Kernels with DSP instructions and without weights, on an emulated Cortex-M4, equal the numpy
references byte for byte. Alignment faults are on there, except of single words and halfwords."""

from __future__ import annotations

import functools
from pathlib import Path

from microgen.kernels import base
from microgen.target.cpu import Feature
from tests.kernels.conformance import inlined_calls
from tests.qemu import mve_elementwise
from tests.qemu.test_mve_kernels import Call, calls_of, inlined, run, shared
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]

BOARD = "mps2_an386"
INLINED = 30  # every such case is compiled with constant parameters, too
NEW = (
    *("mg_affine_sum_s8", "mg_pool_mean_s8", "mg_max_pool2d_s8_", "mg_multiply_s8_rows"),
    *("mg_scaled_product_s8", "mg_softmax_s8_table", "mg_avg_pool2d_s8_"),
    *("mg_add_rows_s8", "mg_subtract_rows_s8", "mg_squared_difference_rows_s8"),
)
NEEDS: tuple[frozenset[Feature], ...] = (base.DSP, base.REFERENCE)


@functools.cache
def calls() -> list[Call]:
    return [
        call
        for case in mve_elementwise.cases()
        for call in calls_of(case, NEEDS)
        if call.kernel.symbol.startswith(NEW)
    ]


def test_shared_forms_equal_the_reference(tmp_path: Path) -> None:
    bodies = [shared(call.kernel, len(call.arguments)) for call in calls()]
    unique = list(dict.fromkeys(bodies))
    run(calls(), unique, [unique.index(body) for body in bodies], tmp_path, BOARD)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    kept = calls()[::INLINED]
    bodies = list(map(inlined, kept))
    run(kept, bodies, list(range(len(kept))), tmp_path, BOARD, inlined_calls.level())


def test_every_kernel_is_reached() -> None:
    reached = {call.kernel.symbol for call in calls()}
    assert all(any(symbol.startswith(name) for symbol in reached) for name in NEW)
    assert {f"mg_{kind}_s8_dsp" for kind in ("pool_mean", "max_pool2d", "avg_pool2d")} <= reached
