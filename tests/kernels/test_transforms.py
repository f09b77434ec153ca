"""The firmware's constants, computed from the model's parameters."""

from __future__ import annotations

import re

import numpy as np
import pytest

from microgen.base.errors import ProjectError
from microgen.compiler import passes
from microgen.kernels.fitting import fitting
from microgen.kernels.requantization import transforms
from microgen.target.cpu import CPUS
from tests.support.graphs import Builder

SCALES = np.array([0.25, 0.003, 0.9], np.float32)
CONV = {"input_scale": 0.5, "output_scale": 0.1, "rule": "conv", "channels": 3}


def table(scales: np.ndarray, arguments: dict[str, float | str]) -> tuple[list[int], list[int]]:
    multipliers = transforms.apply("requantize_multiplier", [scales], arguments)
    shifts = transforms.apply("requantize_shift", [scales], arguments)
    assert (multipliers.dtype, shifts.dtype) == (np.int32, np.int8)
    return multipliers.tolist(), shifts.tolist()


def test_identity_is_the_array_itself() -> None:
    array = np.arange(4, dtype=np.int8)
    assert transforms.apply("identity", [array], {}) is array


def test_widen_makes_int64() -> None:
    found = transforms.apply("widen", [np.array([-(2**31), 5], np.int32)], {})
    assert found.dtype == np.int64
    assert found.tolist() == [-(2**31), 5]
    wide = np.array([2**40], np.int64)
    np.testing.assert_array_equal(transforms.apply("widen", [wide], {}), wide)


def test_pack_int4_puts_the_first_value_into_the_lower_half() -> None:
    array = np.array([[[1, -2], [7, -8]], [[0, -1], [3, 4]]], np.int8)
    found = transforms.apply("pack_int4", [array], {})
    assert found.dtype == np.uint8
    assert found.tolist() == [[0xE1, 0x87], [0xF0, 0x43]]


def test_pack_int4_begins_each_row_with_a_byte() -> None:
    array = np.array([[1, -2, 3], [-4, 5, -6]], np.int8)
    assert transforms.apply("pack_int4", [array], {}).tolist() == [[0xE1, 0x03], [0x5C, 0x0A]]
    assert transforms.apply("pack_int4", [array.T], {}).tolist() == [[0xC1], [0x5E], [0xA3]]
    assert transforms.apply("pack_int4", [array.reshape(1, 6)], {}).tolist() == [[0xE1, 0xC3, 0xA5]]


def test_vectors_of_filters_end_with_the_last_two() -> None:
    filters = np.arange(30, dtype=np.int8).reshape(3, 1, 2, 5)
    found = transforms.apply("vectors_of_filters", [filters], {})
    first, second, third = np.pad(filters.reshape(3, 10), ((0, 0), (0, 6))).reshape(3, 2, 8)
    pairs = [(first, second), (second, third)]
    expected = [row for a, b in pairs for rows in zip(a, b, strict=True) for row in rows]
    assert found.dtype == np.int8
    assert found.tolist() == np.concatenate(expected).tolist()
    with pytest.raises(ProjectError, match="two or more filters"):
        transforms.apply("vectors_of_filters", [filters[:1]], {})


@pytest.mark.parametrize(
    ("name", "filters", "multiple"),
    [("wide_pairs_of_filters", 2, 4), ("wide_fours_of_filters", 4, 2)],
)
def test_wide_filters_are_pairs_of_int16(name: str, filters: int, multiple: int) -> None:
    weight = np.arange(-20, 25, dtype=np.int8).reshape(3, 1, 3, 5)
    found = transforms.apply(name, [weight], {})
    assert found.dtype == np.int32
    rows = np.pad(weight.reshape(3, 15), ((0, 1), (0, 1)))
    halves = found.view("<i2").reshape(4 // filters, 16 // 2, filters, 2)
    assert rows.shape[1] % multiple == 0
    assert halves.transpose(0, 2, 1, 3).reshape(4, 16).tolist() == rows.tolist()
    with pytest.raises(ProjectError, match="without arguments"):
        transforms.apply(name, [weight.astype(np.int16)], {})


def test_multiplier_and_shift_mean_the_effective_scale() -> None:
    multipliers, shifts = table(SCALES, CONV)
    effective = float(np.float32(0.5)) * SCALES.astype(np.float64) / float(np.float32(0.1))
    for multiplier, shift, scale in zip(multipliers, shifts, effective, strict=True):
        assert 2**30 <= multiplier < 2**31
        assert multiplier * 2.0 ** (shift - 31) == pytest.approx(scale, rel=2**-31)


def test_dense_multiplies_in_float32_first() -> None:
    # The float32 product of these scales is rounded, so TFLite's two rules differ.
    scale = np.array([0.003], np.float32)
    dense = {**CONV, "input_scale": 0.0235, "rule": "dense", "channels": 1}
    product = float(np.float32(0.0235) * scale[0])
    multipliers, shifts = table(scale, dense)
    exact = product / float(np.float32(0.1))
    assert multipliers[0] == round(exact * 2.0 ** (31 - shifts[0]))
    assert table(scale, {**dense, "rule": "conv"}) != (multipliers, shifts)


def test_one_scale_for_all_channels_is_repeated() -> None:
    one = table(SCALES[:1], {**CONV, "channels": 1})
    assert table(SCALES[:1], {**CONV, "channels": 3}) == (one[0] * 3, one[1] * 3)


@pytest.mark.parametrize(
    ("kind", "sources", "arguments", "message"),
    [
        ("shuffle", [SCALES], {}, "there is no transform 'shuffle'; transforms: identity, "),
        ("identity", [], {}, "to 0 arrays"),
        ("identity", [SCALES], {"rule": "conv"}, "identity takes no arguments"),
        ("widen", [SCALES], {}, "cannot widen float32"),
        ("pack_int4", [SCALES], {}, "the values are not those of int4"),
        ("pack_int4", [np.array([8], np.int8)], {}, "the values are not those of int4"),
        ("pack_int4", [np.array([-9], np.int8)], {}, "the values are not those of int4"),
        ("pack_int4", [np.array(1, np.int8)], {}, "TypeError"),
        ("pack_int4", [np.zeros((0, 2), np.int8)], {}, "ValueError"),
        ("pack_int4", [np.zeros(2, np.int8)], {"rows": 2}, "takes no arguments"),
        ("requantize_shift", [SCALES], {}, "KeyError('rule')"),
        ("requantize_shift", [SCALES], {**CONV, "rule": "other"}, "KeyError('other')"),
        ("requantize_shift", [SCALES], {**CONV, "output_scale": "wide"}, "ValueError"),
        ("requantize_shift", [SCALES], {**CONV, "output_scale": 0.0}, "requantize_shift"),
        ("requantize_shift", [SCALES], {**CONV, "channels": 5}, "ValueError"),
        ("requantize_shift", [SCALES.astype(np.int8)], CONV, "the weight scales are int8[3]"),
    ],
)
def test_what_does_not_suit_is_one_clear_error(
    kind: str, sources: list[np.ndarray], arguments: dict[str, float | str], message: str
) -> None:
    with pytest.raises(ProjectError, match=re.escape(message)):
        transforms.apply(kind, sources, arguments)


def test_significand_and_shift_are_the_effective_scale_in_double() -> None:
    significands = transforms.apply("real_significand", [SCALES], CONV)
    shifts = transforms.apply("real_shift", [SCALES], CONV)
    assert (significands.dtype, shifts.dtype) == (np.int64, np.int8)
    effective = float(np.float32(0.5)) * SCALES.astype(np.float64) / float(np.float32(0.1))
    found = [m * 2.0 ** -int(n) for m, n in zip(significands.tolist(), shifts, strict=True)]
    assert found == effective.tolist()


@pytest.mark.parametrize("core", ["cortex-m0", "cortex-m4f", "cortex-m55"])
def test_sizes_that_are_known_by_shapes_are_those_of_the_arrays(core: str) -> None:
    counted = set[str]()
    for channels in (8, 8, 5):
        for groups in (1, channels):
            b = Builder()
            data = b.conv(b.input(1, 6, 6, channels), channels)
            last = b.depthwise(data) if groups > 1 else b.conv(data, 8, 1)
            graph = passes.run(b.graph(last))
            for node in graph.nodes:
                for kernel in fitting(node, graph, CPUS[core]).kernels:
                    for one in kernel.constants(node, graph):
                        if not one.is_absent:
                            arguments = dict(one.arguments)
                            made = transforms.apply(one.transform, one.arrays(graph), arguments)
                            assert transforms.nbytes(one, graph) == made.nbytes, one
                            counted.add(one.transform)
    assert len(counted & transforms.SIZED_BY_SHAPE) > 2, counted
