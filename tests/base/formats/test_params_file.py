"""The parameter file has TVM's bytes, and files with other bytes are refused."""

from __future__ import annotations

import contextlib
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgen.base.errors import ProjectError
from microgen.graph import params_file
from microgen.graph.ir.graph import DType

ARRAYS = {
    "p0": np.arange(6, dtype=np.int8).reshape(2, 3),
    "größe": np.array([1.5, -0.0], np.float32),
    "scalar": np.array(True),
    "empty": np.zeros((0, 3), np.int32),
}


def test_bytes_are_those_of_tvm() -> None:
    # Written by hand from TVM v0.14's src/runtime/file_utils.cc and ndarray.h.
    data = params_file.dumps({"a": np.array([[1, -2]], np.int16)})
    assert data == b"".join(
        [
            bytes.fromhex("b79c04054f8de5f7"),
            bytes(8),
            bytes.fromhex("0100000000000000"),
            bytes.fromhex("0100000000000000"),
            b"a",
            bytes.fromhex("0100000000000000"),
            bytes.fromhex("3fa1b496f0405edd"),
            bytes(8),
            bytes.fromhex("01000000000000000200000000100100"),
            bytes.fromhex("010000000000000002000000000000000400000000000000"),
            bytes.fromhex("0100feff"),
        ]
    )


def test_arrays_come_back_in_order_and_read_only() -> None:
    loaded = params_file.loads(params_file.dumps(ARRAYS))
    assert list(loaded) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array, strict=True)
        assert not loaded[name].flags.writeable


@pytest.mark.parametrize("dtype", list(DType))
def test_every_dtype_comes_back(dtype: DType) -> None:
    array = np.array([0, 1, 1], dtype.numpy)
    loaded = params_file.loads(params_file.dumps({"a": array}))["a"]
    np.testing.assert_array_equal(loaded, array, strict=True)


def test_big_endian_arrays_are_written_little_endian() -> None:
    array = np.array([1, 2], ">i4")
    assert params_file.dumps({"a": array}) == params_file.dumps({"a": array.astype("<i4")})


def test_other_dtypes_are_refused() -> None:
    with pytest.raises(ProjectError, match=r"parameter 'a': cannot write .* complex64"):
        params_file.dumps({"a": np.zeros(1, np.complex64)})


def test_every_truncation_is_refused() -> None:
    data = params_file.dumps(ARRAYS)
    for cut in range(len(data)):
        with pytest.raises(ProjectError, match="parameter file"):
            params_file.loads(data[:cut])


def test_bytes_after_the_end_are_refused() -> None:
    with pytest.raises(ProjectError, match="1 bytes follow the last array"):
        params_file.loads(params_file.dumps(ARRAYS) + b"\0")


def test_two_arrays_of_one_name_are_refused() -> None:
    data = params_file.dumps({"a": np.zeros(1, np.int8), "b": np.zeros(1, np.int8)})
    with pytest.raises(ProjectError, match="two arrays have one name"):
        params_file.loads(data.replace(b"b", b"a", 1))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2**40, 2**22, 1), "needs 4611686018427387904 bytes"),
        ((2**40, 2**40, 0), "an array has shape"),
        ((2**62, 2**62, 4), "the number of bytes is 0x0, expected 0x40"),
        ((-1, 1, 1), "an array has shape"),
    ],
)
def test_absurd_shapes_are_refused_without_allocating(shape: tuple[int, ...], message: str) -> None:
    data = params_file.dumps({"a": np.zeros((1, 1, 1), np.int8)})
    nbytes = math.prod(shape) % 2**63
    changed = struct.pack("<4q", *shape, nbytes)
    with pytest.raises(ProjectError, match=message):
        params_file.loads(data[:-33] + changed + (b"" if nbytes == 0 else b"\0"))


@given(st.binary(max_size=60), st.integers(0, 200))
def test_damage_is_a_project_error_and_no_other(noise: bytes, at: int) -> None:
    data = params_file.dumps(ARRAYS)
    with contextlib.suppress(ProjectError):
        params_file.loads(data[:at] + noise + data[at + len(noise) :])
