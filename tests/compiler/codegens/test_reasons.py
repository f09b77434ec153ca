"""What users are told of kernels that do not compute a node."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen import kernels
from microgen.base.manifest.schedule import ChoiceRecord, FunctionChoices, ScheduleRecord
from microgen.compiler import schedule
from microgen.compiler.codegens.builtin import CODEGEN
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ir.refusal import Refusal
from microgen.kernels import base
from microgen.kernels.base import Implementation
from microgen.target.board import load
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution.convolving import Geometry
from tests.support.compiling import parts_of


def _case(rounding: Rounding, geometry: Geometry = Geometry(biased=False)) -> c.Case:  # noqa: B008
    rng = np.random.default_rng(1)
    x = c.int8(rng, geometry.data, c.quant(0.1, 3))
    w = c.weight(rng, geometry.filters, None)
    attrs = geometry.attrs(rounding)
    return c.Case("layer", geometry.op, attrs, (x, w), c.quant(10.0, 0))


def _refusal(case: c.Case, board: str = "mps2_an386") -> Refusal[object]:
    (refusal,) = CODEGEN.claims(case.graph, load(board))
    assert isinstance(refusal, Refusal)
    return refusal


def _refused_before(symbol: str, case: c.Case, board: str) -> list[str]:
    """What is said of better kernels where the kernel of that name computes the case."""
    found, parts = load(board), parts_of(case.graph, board)
    choice = ChoiceRecord(case.graph.outputs, symbol)
    given = ScheduleRecord(functions=(FunctionChoices(CODEGEN.name, (choice,)),))
    made = schedule.file.applied(given, parts, found.cpu)
    (primitive,) = CODEGEN.lower(made.partition.regions, parts.graph, found)
    (step,) = primitive.steps
    assert step.kernel == symbol
    return list(step.refusals)


def test_a_rounding_that_no_kernel_has_is_the_reason() -> None:
    case = _case(Rounding.DOUBLE)
    node = dataclasses.replace(
        case.node,
        attrs=dataclasses.replace(case.node.attrs, rounding=Rounding.REAL),  # type: ignore[type-var]
    )
    refusal = _refusal(_with(case, node=node))
    assert refusal.why == "int8 data with 'real' rounding has no nn.conv2d kernel"
    named = [detail.by for detail in refusal.details]
    loops = {
        k.loop_name
        for k in kernels.registry()["nn.conv2d"]
        if _is_int8(k) and not k.needs & base.MVE
    }
    assert sorted(named) == sorted(loops)
    assert {"mg_conv2d_1x1_s8_dsp", "mg_conv2d_winograd_s8", "mg_conv2d_s8"} <= loops


def _is_int8(kernel: Implementation) -> bool:
    """Whether the kernel is for int8 data with symmetric weights of 8 bits."""
    is_symmetric = "_s8" in kernel.symbol and "_offset" not in kernel.symbol
    return is_symmetric and not kernel.takes_int4


def _with(case: c.Case, **changed: object) -> c.Case:
    """The case with another graph."""
    graph = case.graph
    if "node" in changed:
        graph = graph.replace(nodes=(changed["node"],))
    if "types" in changed:
        graph = graph.replace(types={**graph.types, **changed["types"]})  # type: ignore[dict-item]
    made = dataclasses.replace(case)
    made.__dict__["graph"] = graph
    return made


def test_a_dtype_that_no_kernel_has_is_the_reason() -> None:
    case = _case(Rounding.DOUBLE)
    types = {"input0": ArrayType(case.inputs[0].type.shape, DType.UINT8)}
    refusal = _refusal(_with(case, types=types))
    assert refusal.why == "uint8 data with int8 output has no nn.conv2d kernel"
    assert refusal.details == ()


def test_weights_that_are_computed_are_the_reason() -> None:
    case = _case(Rounding.DOUBLE)
    x, w = case.inputs
    computed = dataclasses.replace(case, inputs=(x, dataclasses.replace(w, is_constant=False)))
    why = _refusal(computed).why
    assert why == "'input1' is computed at run time, the kernel needs a constant"


@pytest.mark.parametrize("rounding", [Rounding.DOUBLE, Rounding.UPWARD])
def test_better_loops_have_one_reason_each(rounding: Rounding) -> None:
    named = "upward_" if rounding is Rounding.UPWARD else ""
    symbol = f"mg_conv2d_s8_{named}portable"
    refusals = _refused_before(symbol, _case(rounding), "mps2_an385")
    loops = [text.partition(":")[0] for text in refusals]
    order = [k.loop_name for k in kernels.registry()["nn.conv2d"] if _is_int8(k)]
    assert loops == list(dict.fromkeys(order[: order.index("mg_conv2d_s8_portable")]))
    dsp = "Arm Cortex-M3 has no dsp"
    assert refusals[-3:] == [
        f"mg_conv2d_1x1_s8_dsp: {dsp}",
        "mg_conv2d_1x1_s8_portable: the kernel must be 1x1",
        f"mg_conv2d_s8_dsp: {dsp}",
    ]
    assert "mg_conv2d_s8_mve: Arm Cortex-M3 has no mve" in refusals
