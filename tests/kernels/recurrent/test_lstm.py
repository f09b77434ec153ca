from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.recurrent.lstm import OP, LstmAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.recurrent import lstm_cases
from tests.kernels.recurrent.lstm_cases import Layer

TABLES = (DType.INT8, DType.INT16)


def _stack(layer: Layer, prefix: str, gates: tuple[str, ...]) -> c.Tensor:
    names = [f"{prefix}_{gate}" for gate in gates]
    array = np.stack([layer.constants[name] for name in names])
    scales = tuple(float(np.float32(layer.scale[n])) for n in names if n in layer.scale)
    quant = Quant(scales, (0,) * len(scales), 0) if scales else None
    return c.Tensor(ArrayType(array.shape, DType(array.dtype.name), quant), array, True)


def _single(layer: Layer, name: str) -> list[c.Tensor]:
    if name not in layer.constants:
        return []
    array = layer.constants[name]
    quant = c.quant(layer.scale[name]) if name in layer.scale else None
    return [c.Tensor(ArrayType(array.shape, DType(array.dtype.name), quant), array, True)]


def _fed(rng: np.random.Generator, layer: Layer, name: str, shape: tuple[int, ...]) -> c.Tensor:
    if not layer.scale:
        return c.float32(rng, shape, 0.5)
    scale = layer.scale["y" if name == "output_state" else name]
    zero_point = layer.zero_point.get("y" if name == "output_state" else name, 0)
    dtype = DType.INT16 if layer.is_wide or name == "cell_state" else DType.INT8
    limits = np.iinfo(dtype.numpy)
    array = rng.integers(limits.min, limits.max + 1, shape).astype(dtype.numpy)
    return c.Tensor(ArrayType(shape, dtype, c.quant(scale, zero_point)), array)


def random_case(seed: int, dtype: DType, *, is_plain: bool = False) -> c.Case:
    """A random layer with random states."""
    layer = lstm_cases.random_layer(seed, dtype, is_plain=is_plain)
    return _of_layer(seed, dtype, layer)


def paired_case(seed: int) -> c.Case:
    """A random layer for kernels with paired weights."""
    return _of_layer(seed, DType.INT8, lstm_cases.paired_layer(seed))


def table_case(seed: int, dtype: DType) -> c.Case:
    """A random layer that is computed by tables."""
    return _of_layer(seed, dtype, lstm_cases.table_layer(seed, dtype), by_tables=True)


def _of_layer(seed: int, dtype: DType, layer: Layer, *, by_tables: bool = False) -> c.Case:
    rng = np.random.default_rng(seed + 1)
    peepholes = tuple(name.removeprefix("peephole_") for name in layer.peepholes)
    inputs = (
        _fed(rng, layer, "x", layer.data_shape),
        _stack(layer, "weight", layer.gates),
        _stack(layer, "recurrent", layer.gates),
        _stack(layer, "bias", layer.gates),
        _fed(rng, layer, "output_state", (layer.batch, layer.outputs)),
        _fed(rng, layer, "cell_state", (layer.batch, layer.cells)),
        *([_stack(layer, "peephole", peepholes)] if peepholes else []),
        *_single(layer, "projection"),
        *_single(layer, "projection_bias"),
    )
    quantized = bool(layer.scale)
    hidden = c.quant(layer.scale["hidden"], layer.zero_point["hidden"]) if quantized else None
    attrs = LstmAttrs(
        layer.time_major,
        layer.cell_clip,
        layer.projection_clip,
        has_peephole=bool(peepholes),
        has_projection="projection" in layer.constants,
        hidden=None if by_tables else hidden,
        by_tables=by_tables,
    )
    output = c.quant(layer.scale["y"], layer.zero_point["y"]) if quantized else None
    return c.Case(f"seed {seed}", OP.name, attrs, inputs, output, dtype)


def _cases(count: int) -> list[c.Case]:
    usual = [
        random_case(seed, dtype, is_plain=seed % 4 == 0)
        for dtype in (DType.INT8, DType.FLOAT32)
        for seed in range(count)
    ]
    paired = map(paired_case, range(count // 2))
    return [
        *usual,
        *paired,
        *(table_case(seed, dtype) for dtype in TABLES for seed in range(count)),
    ]


@pytest.mark.parametrize("count", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_kernels_equal_the_reference(count: int, tmp_path: Path) -> None:
    c.check(_cases(count), tmp_path)


@pytest.mark.parametrize("count", [6, pytest.param(12, marks=pytest.mark.slow)])
def test_inlined_bodies_equal_the_reference(count: int, tmp_path: Path) -> None:
    c.check_inlined(_cases(count), tmp_path)


def test_random_layers_have_every_variant_together_with_every_other() -> None:
    layers = [lstm_cases.random_layer(seed, DType.INT8) for seed in range(200)]
    found = {
        (bool(x.time_major), x.has_input_gate, bool(x.peepholes), "projection" in x.constants)
        for x in layers
    }
    assert len(found) == 16
    assert {bool(x.cell_clip) for x in layers} == {True, False}
    assert {bool(x.projection_clip) for x in layers if "projection" in x.constants} == {True, False}


def _refusals(case: c.Case) -> dict[str, str | None]:
    entries = kernels.registry()[OP.name]
    return {kernel.symbol: kernel.refusal(case.node, case.graph) for kernel in entries}


def _with_input(case: c.Case, position: int, tensor: c.Tensor) -> c.Case:
    inputs = (*case.inputs[:position], tensor, *case.inputs[position + 1 :])
    return dataclasses.replace(case, inputs=inputs)


def test_sums_that_may_leave_int32_are_refused() -> None:
    case = random_case(0, DType.INT8, is_plain=True)
    largest = np.full(case.input_types[3].shape, 2**31 - 1, np.int32)
    refused = _refusals(_with_input(case, 3, c.bias(largest)))
    for symbol in ("mg_lstm_s8", "mg_lstm_s8_dsp", "mg_lstm_s8_mve"):
        assert "accumulator 2147483647" in str(refused[symbol])
        assert _refusals(case)[symbol] is None


def test_int16_sums_that_may_reach_2_to_the_47_are_refused() -> None:
    case = table_case(0, DType.INT16)
    for most, expected in ((2**46, None), (2**47, f"accumulator {2**47 - 1}"), (-(2**63), "")):
        largest = np.full(case.input_types[3].shape, most, np.int64)
        found = _refusals(_with_input(case, 3, c.bias(largest, DType.INT64)))["mg_lstm_s16"]
        assert found is None if expected is None else expected in str(found)
        assert (found is None) is (expected is None)


def test_a_kernel_with_tables_takes_no_layer_without_and_the_reverse() -> None:
    usual, by_tables = paired_case(0), table_case(0, DType.INT8)
    for case, symbols in (
        (usual, {"mg_lstm_s8", "mg_lstm_s8_dsp", "mg_lstm_s8_mve", "mg_lstm_s8_paired"}),
        (by_tables, {"mg_lstm_s8_table", "mg_lstm_s8_table_dsp"}),
        (table_case(0, DType.INT16), {"mg_lstm_s16"}),
    ):
        refused = _refusals(case)
        assert {symbol for symbol in refused if refused[symbol] is None} == symbols


def test_weights_that_are_computed_are_refused() -> None:
    case = random_case(0, DType.FLOAT32, is_plain=True)
    computed = dataclasses.replace(case.inputs[1], is_constant=False)
    found = str(_refusals(_with_input(case, 1, computed))["mg_lstm_f32"])
    assert "needs a constant" in found


def test_the_dsp_variant_takes_four_gates() -> None:
    seed = next(s for s in range(50) if not lstm_cases.random_layer(s, DType.INT8).has_input_gate)
    refused = _refusals(random_case(seed, DType.INT8))
    assert "input gate" in str(refused["mg_lstm_s8_dsp"])
    assert refused["mg_lstm_s8"] is None
