"""Estimated costs against measured ones, where several kernels can compute a layer: for layers
whose shapes are not those that the coefficients were fitted to."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.kernels import cost
from microgen.target.cpu import CPUS
from scripts.measuring import layer_costs, layers, tables
from scripts.measuring.layer_costs import Case, Measured
from scripts.measuring.layers import Layer
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV

RUN, CODE = 0.15, 0.30  # how far estimates may be off: instructions and cycles; bytes of code
_OWN, _SHARED = cost.SPECIALISED, cost.SHARED
# Some kernels are further off, by kernel, core and form, in instructions and in cycles. Cortex-M7
# issues two instructions a cycle or one, as the compiler happens to order them. On Cortex-M4 and
# M33 a short loop takes longer if it happens to begin in the middle of a word. On Cortex-M0
# compilers move more or fewer values to the stack. Sums of six pixels are one function, which is
# faster in a firmware whose layers all split words after the same number of products. Depthwise
# rows that are copied cost less than estimated if there is no padding; then others need no copies.
BEYOND: Mapping[tuple[str, str, str], tuple[float, float]] = {
    ("mg_conv2d_s4_portable", "cortex-m7f", _OWN): (RUN, 0.24),
    ("mg_conv2d_s8", "cortex-m7f", _OWN): (RUN, 0.19),
    ("mg_conv2d_s8", "cortex-m7f", _SHARED): (RUN, 0.20),
    ("mg_conv2d_transpose_s8_portable", "cortex-m7f", _OWN): (RUN, 0.18),
    ("mg_depthwise_conv2d_s4", "cortex-m7f", _OWN): (RUN, 0.37),
    ("mg_depthwise_conv2d_s8", "cortex-m7f", _OWN): (RUN, 0.33),
    ("mg_depthwise_conv2d_s8_portable", "cortex-m7f", _OWN): (RUN, 0.18),
    ("mg_depthwise_conv2d_f32_fma", "cortex-m7f", _OWN): (RUN, 0.30),
    ("mg_dense_s8", "cortex-m3", _OWN): (RUN, 0.23),
    ("mg_dense_s8", "cortex-m4f", _OWN): (RUN, 0.22),
    ("mg_dense_s8", "cortex-m33", _OWN): (RUN, 0.23),
    ("mg_dense_s8", "cortex-m55", _OWN): (RUN, 0.38),
    ("mg_dense_s8_portable", "cortex-m7f", _OWN): (RUN, 0.27),
    ("mg_dense_s8_portable", "cortex-m33", _OWN): (RUN, 0.16),
    ("mg_dense_s8_dsp", "cortex-m4f", _SHARED): (RUN, 0.17),
    ("mg_conv2d_transpose_s8_dsp", "cortex-m33", _OWN): (RUN, 0.17),
    ("mg_conv2d_transpose_s8_dsp", "cortex-m55", _OWN): (RUN, 0.16),
    ("mg_depthwise_conv2d_s4", "cortex-m0", _OWN): (0.18, 0.16),
    ("mg_depthwise_conv2d_s8", "cortex-m0", _OWN): (0.18, 0.16),
    ("mg_depthwise_conv2d_f32_mla", "cortex-m33", _OWN): (RUN, 0.21),
    ("mg_conv2d_f32_mla", "cortex-m55", _OWN): (0.16, RUN),
    ("mg_dense_s8_rows_linear_mve", "cortex-m55", _OWN): (0.16, RUN),
    ("mg_dense_s8_rows_twice_mve", "cortex-m55", _OWN): (0.23, 0.20),
    ("mg_conv2d_s8_swar_6x1", "cortex-m3", _OWN): (0.18, RUN),
    ("mg_conv2d_s8_swar_6x1", "cortex-m33", _OWN): (0.18, RUN),
    ("mg_conv2d_s8_swar_6x1", "cortex-m7f", _OWN): (RUN, 0.32),
    ("mg_depthwise_conv2d_s8_padded_rows", "cortex-m0", _OWN): (RUN, 0.17),
    ("mg_depthwise_conv2d_s8_padded_rows", "cortex-m0", _SHARED): (RUN, 0.20),
    ("mg_depthwise_conv2d_s8_padded_rows", "cortex-m3", _OWN): (RUN, 0.16),
    ("mg_depthwise_conv2d_s8_padded_rows", "cortex-m3", _SHARED): (0.23, 0.26),
    ("mg_depthwise_conv2d_s8_padded_rows", "cortex-m4f", _SHARED): (0.24, 0.32),
    ("mg_depthwise_conv2d_s8_padded_rows", "cortex-m7f", _SHARED): (0.24, 0.26),
    ("mg_depthwise_conv2d_s8_padded_rows", "cortex-m33", _SHARED): (0.23, 0.36),
    ("mg_depthwise_conv2d_s8_padded_rows", "cortex-m55", _SHARED): (0.25, 0.30),
    ("mg_depthwise_conv2d_s8_padded_rows", "rv32imac", _OWN): (0.23, 0.18),
    ("mg_depthwise_conv2d_s8_padded_rows", "rv32imac", _SHARED): (0.22, 0.18),
}

# The same for bytes of code. Only layers whose pixels are no multiple of four have a part of it.
BEYOND_CODE: Mapping[tuple[str, str, str], float] = {
    # Nothing that is counted says how large the code for pixels left over from blocks is.
    ("mg_conv2d_s8_paired", "cortex-m7f", _OWN): 0.42,
    ("mg_conv2d_s8_paired_stack", "cortex-m7f", _OWN): 0.55,
    # The compiler keeps a window's extents in registers or computes them again, by layer.
    ("mg_conv2d_s16_tiles_mve", "cortex-m55", _OWN): 0.40,
    **{
        (f"mg_conv2d_s8_clamped_{name}", core, _OWN): limit
        for name, limit in (("paired", 0.36), ("paired_stack", 0.56))
        for core in ("cortex-m4f", "cortex-m7f", "cortex-m33", "cortex-m55")
    },
}
SMALL = 64  # bytes of code that estimates may be off by, whatever they are

_RELU = Activation.RELU


def _all(layer: Any, *shapes: dict[str, Any]) -> tuple[Layer, ...]:
    return tuple(functools.partial(layer, **shape) for shape in shapes)


# The first one of each is in `make test`.
SHAPES: Mapping[str, tuple[Layer, ...]] = {
    "nn.conv2d": _all(
        layers.conv2d,
        {"data": (7, 8, 12), "filters": 20},
        {"data": (6, 7, 48), "filters": 24, "kernel": (1, 1)},
        {"data": (16, 16, 3), "filters": 8, "strides": (2, 2), "activation": _RELU},
        {"data": (20, 8, 1), "filters": 32, "kernel": (10, 4), "strides": (2, 2)},
        {"data": (5, 7, 24), "filters": 18, "padding": "VALID"},
        {"data": (9, 9, 8), "filters": 24, "strides": (2, 2), "activation": _RELU},
        {"data": (7, 7, 24), "filters": 40, "kernel": (1, 1), "activation": _RELU},
        {"data": (4, 4, 96), "filters": 16, "kernel": (1, 1)},
        {"data": (9, 3, 11), "filters": 9, "kernel": (1, 1)},
    ),
    "nn.depthwise_conv2d": _all(
        layers.depthwise,
        {"data": (8, 7, 24)},
        {"data": (11, 11, 16), "strides": (2, 2), "activation": _RELU},
        {"data": (5, 5, 96)},
        {"data": (7, 8, 10), "padding": "VALID"},
        {"data": (4, 4, 128), "strides": (2, 2), "activation": _RELU},
    ),
    "nn.conv2d_transpose": _all(
        layers.transposed,
        {"data": (5, 6, 12), "filters": 12},
        {"data": (7, 7, 8), "filters": 6, "kernel": (2, 2)},
        {"data": (4, 3, 24), "filters": 10, "kernel": (4, 4)},
    ),
    "nn.dense": _all(
        layers.dense,
        {"depth": 160, "filters": 24},
        {"depth": 64, "filters": 35},
        {"depth": 400, "filters": 12, "activation": _RELU},
        {"depth": 90, "filters": 16, "rounding": Rounding.DOUBLE},
        {"depth": 36, "filters": 6, "rows": 5},
    ),
    "nn.lstm": (
        *_all(layers.lstm, {"steps": 3, "features": 20, "cells": 14}),
        *_all(
            layers.lstm,
            {"steps": 3, "features": 20, "cells": 14, "by_tables": True},
            {"steps": 5, "features": 9, "cells": 18},
            {"steps": 5, "features": 9, "cells": 18, "by_tables": True},
        ),
    ),
    "nn.svdf": _all(
        layers.svdf,
        {"features": 48, "filters": 24, "memory": 9, "rank": 1},
        {"features": 20, "filters": 36, "memory": 7, "rank": 2},
    ),
}
# Of nn.depthwise_conv2d there are two, because a part of the kernel for MVE is a function that
# operators share, unless there is only one of them.
_FAST = {"nn.conv2d": 2, "nn.depthwise_conv2d": 2, "nn.lstm": 2}
USUAL: Mapping[str, tuple[Layer, ...]] = {
    op: found[: _FAST.get(op, 1)] for op, found in SHAPES.items()
}

CORES = [
    pytest.param(core, marks=NEEDS_RISCV if core == "rv32imac" else NEEDS_ARM)
    for core in cost.cores()
]
# Measured in every run of the tests: a core with many kernels to choose from.
USUAL_CORES = [core for core in CORES if core.values[0] == "cortex-m4f"]


def _compared(shapes: Mapping[str, Sequence[Layer]], core: str) -> list[list[Case]]:
    """The cases of each layer that more than one kernel can compute on a core."""
    found: dict[tuple[str, str, int], list[Case]] = {}
    for case in layer_costs.cases(shapes, CPUS[core]):
        if not tables.has_little_ram(core) or layer_costs.small(case):
            layer = case.layer.func.__name__  # type: ignore[attr-defined]
            found.setdefault((layer, case.kind, case.number), []).append(case)
    return [cases for cases in found.values() if len(cases) > 1]


def _check(shapes: Mapping[str, Sequence[Layer]], core: str, form: str, folder: Path) -> None:
    compared = _compared(shapes, core)
    assert compared
    cases = [case for each in compared for case in each]
    found = layer_costs.measure(cases, core, folder / "p", shared=form == cost.SHARED)
    by_name = {each.case.name: each for each in found}
    wrong = [line for each in found for line in _too_far(each, core, form)]
    for each in compared:
        wrong += _in_another_order([by_name[case.name] for case in each], core, form)
    assert not wrong, "\n" + "\n".join(wrong)


def _estimate(found: Measured, core: str, form: str) -> cost.Cost:
    kernel, is_shared = found.case.kernel, form == cost.SHARED
    estimate = cost.estimate(kernel, found.node, found.graph, CPUS[core], shared=is_shared)
    assert estimate is not None, f"{found.case.name} was not measured on {core} ({form})"
    return estimate


def _too_far(found: Measured, core: str, form: str) -> list[str]:
    """A line for each estimate that is too far off."""
    estimate = _estimate(found, core, form)
    run = BEYOND.get((found.case.kernel.symbol, core, form), (RUN, RUN))
    code = BEYOND_CODE.get((found.case.kernel.symbol, core, form), CODE)
    limits = {"code_bytes": code, "shared_bytes": CODE, "instructions": run[0], "cycles": run[1]}
    return [
        f"{found.case.name} {core} {form} {name}: estimated {estimated}, measured {measured}, "
        f"{100 * estimated / measured - 100:+.1f} %"
        for name, limit in limits.items()
        if (measured := getattr(found, name)) != (estimated := getattr(estimate, name))
        and not abs(estimated / measured - 1) <= limit
        and not (name == "code_bytes" and abs(estimated - measured) <= SMALL)
    ]


def _in_another_order(found: Sequence[Measured], core: str, form: str) -> list[str]:
    """A line for each two kernels whose estimates are in another order than measured, and whose
    measured costs are further apart than an estimate may be off."""
    return [
        f"{less.case.name} costs less than {more.case.name}, {core} {form}, but not by its {name}"
        for name in ("instructions", "cycles")
        for less, more in permutations(found, 2)
        if getattr(more, name) > (1 + RUN) * getattr(less, name)
        and getattr(_estimate(less, core, form), name) >= getattr(_estimate(more, core, form), name)
    ]


@NEEDS_NINJA
@pytest.mark.parametrize("core", USUAL_CORES)
def test_estimates_agree_with_one_measured_layer_of_each_op(core: str, tmp_path: Path) -> None:
    """test_samples.py has a layer of every kernel, without measuring it again."""
    _check({op: found[:1] for op, found in SHAPES.items()}, core, cost.SPECIALISED, tmp_path)


@pytest.mark.slow
@NEEDS_NINJA
@pytest.mark.parametrize("core", CORES)
def test_estimates_agree_with_two_measured_layers_of_some_ops(core: str, tmp_path: Path) -> None:
    _check(USUAL, core, cost.SPECIALISED, tmp_path)


@pytest.mark.slow
@NEEDS_NINJA
@pytest.mark.parametrize("form", [cost.SPECIALISED, cost.SHARED])
@pytest.mark.parametrize("core", CORES)
def test_estimates_agree_with_several_measured_layers(core: str, form: str, tmp_path: Path) -> None:
    _check(SHAPES, core, form, tmp_path)
