from __future__ import annotations

import struct

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.base import Operands
from microgen.graph.ops.moves.views import (
    BITCAST,
    COPY,
    REINTERPRET,
    RESHAPE,
    BitcastAttrs,
    CopyAttrs,
    ReinterpretAttrs,
    ReshapeAttrs,
)
from tests.kernels.conformance.every_dtype import dtype_of, random_array, random_type
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_reference,
    int32_constant,
    needs_litert,
)


def test_the_output_has_the_input_s_bytes_and_a_buffer_of_its_own() -> None:
    data = activation_type((2, 3), 1.0, 7)
    array = np.arange(6, dtype=np.int8).reshape(2, 3)
    case = Case(COPY.name, CopyAttrs(), [data], [array], Quant((1.0,), (7,)), "", "")
    found = by_reference(case)
    np.testing.assert_array_equal(found, array)
    assert not np.shares_memory(found, array)


def test_quantization_must_not_change() -> None:
    data, other = activation_type((2,), 1.0, 7), activation_type((2,), 1.0, 8)
    assert "they must be equal" in str(COPY.check(CopyAttrs(), [data], [other]))


def test_bits_of_floats_are_those_that_ieee_754_defines() -> None:
    kinds = (ArrayType((2,), DType.FLOAT32),), (ArrayType((2,), DType.UINT32),)
    data = np.array([1.0, -2.5], np.float32)
    (found,) = BITCAST.reference(BitcastAttrs(), Operands((data,), *kinds))
    assert found.tolist() == [struct.unpack("<I", struct.pack("<f", x))[0] for x in (1.0, -2.5)]


def test_other_sizes_and_bool_outputs_are_refused() -> None:
    data, narrow = ArrayType((2,), DType.FLOAT32), ArrayType((2,), DType.INT8)
    assert "of one size" in str(BITCAST.check(BitcastAttrs(), [data], [narrow]))
    boolean = ArrayType((2,), DType.BOOL)
    assert "must not be bool" in str(BITCAST.check(BitcastAttrs(), [narrow], [boolean]))
    assert BITCAST.check(BitcastAttrs(), [boolean], [narrow]) is None


DATA = ArrayType((2, 3), DType.INT8, Quant((1.0,), (0,)))
OUTPUT = ArrayType((3, 2), DType.INT8, Quant((0.5,), (7,)))


def test_bytes_stay_and_their_meaning_changes() -> None:
    values = np.arange(6, dtype=np.int8).reshape(2, 3)
    attrs = ReinterpretAttrs((3, 2))
    assert REINTERPRET.infer(attrs, [DATA]) == ((3, 2),)
    assert REINTERPRET.check(attrs, [DATA], [OUTPUT]) is None
    (found,) = REINTERPRET.reference(attrs, Operands((values,), (DATA,), (OUTPUT,)))
    assert found.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_dtype_and_size_must_stay() -> None:
    wide = ArrayType((3, 2), DType.INT16, Quant((0.5,), (0,)))
    assert "must be of one dtype" in str(
        REINTERPRET.check(ReinterpretAttrs((3, 2)), [DATA], [wide])
    )
    with pytest.raises(ValueError, match="has 6 elements"):
        REINTERPRET.infer(ReinterpretAttrs((3, 3)), [DATA])


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    dims = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 6)))]
    data = random_type(rng, tuple(dims), dtype_of(seed))
    shape = tuple(int(n) for n in rng.permutation([1, *dims]))
    return Case(
        RESHAPE.name,
        ReshapeAttrs(shape),
        [data],
        [random_array(rng, data.shape, data.dtype)],
        data.quant,
        "RESHAPE",
        "ReshapeOptions",
        {"newShape": shape},
        extra=[int32_constant("shape", np.array(shape))],
        output_dtype=data.dtype,
    )


@needs_litert
def test_equals_litert() -> None:
    for seed in range(60):
        assert_equal(random_case(seed))


@pytest.mark.parametrize("shape", [(7,), (2, -3), (2, 0)])
def test_the_number_of_elements_is_kept(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"int8\[2,3\] has 6 elements"):
        RESHAPE.infer(ReshapeAttrs(shape), [activation_type((2, 3), 1.0, 0)])


def test_it_is_a_view() -> None:
    assert RESHAPE.is_view
