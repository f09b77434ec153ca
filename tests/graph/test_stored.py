"""Float constants that are stored as integers: their floats are computed when they are needed."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import Array, Quant, Stored
from microgen.graph.stored import Constants, floats

_SHAPE = (70, 3, 5, 900)  # more than one part


def _stored(dtype: str, axis: int | None) -> tuple[Stored, Array]:
    """Integers, and their floats by the definition of DequantizeLinear."""
    rng = np.random.default_rng(0)
    limits = np.iinfo(dtype)
    values = rng.integers(limits.min, limits.max, _SHAPE, dtype, endpoint=True)
    count = 1 if axis is None else _SHAPE[axis]
    scale = rng.uniform(0.001, 3, count).astype(np.float32)
    zero = rng.integers(-100, 100, count)
    along = [1, 1, 1, 1]
    along[axis or 0] = count
    centred = values.astype(np.int64) - zero.reshape(along)
    numbers = centred.astype(np.float32) * scale.reshape(along)
    quant = Quant(tuple(map(float, scale)), tuple(map(int, zero)), axis)
    return Stored(values, quant), numbers


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
@pytest.mark.parametrize("axis", [None, 0, 1, 3])
def test_floats_are_those_of_the_definition(dtype: str, axis: int | None) -> None:
    stored, numbers = _stored(dtype, axis)
    found = floats(stored)
    assert found.dtype == np.float32
    assert np.array_equal(found, numbers)
    assert not found.flags.writeable


def test_a_number_without_axes_and_an_empty_array() -> None:
    one = Stored(np.array(7, np.int8), Quant((0.5,), (3,)))
    assert floats(one).shape == ()
    assert floats(one) == 2.0
    assert floats(Stored(np.zeros((0, 3), np.int8), Quant((0.5,), (3,)))).shape == (0, 3)


def test_constants_are_not_computed_before_they_are_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored, numbers = _stored("int8", 0)
    constants = Constants({"x": np.zeros(2)})
    constants.keep("w", stored)
    constants.rename("w", "v")
    with monkeypatch.context() as patched:
        patched.setattr("microgen.graph.stored.floats", lambda _: pytest.fail("is computed"))
        copied = Constants(constants).only(["v", "absent"])
        assert list(copied) == ["v"]
        assert "v" in constants
        assert "w" not in constants
        assert len(constants) == 2
    assert np.array_equal(copied["v"], numbers)
    del constants["v"]
    assert list(constants) == ["x"]
