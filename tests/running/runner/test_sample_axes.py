"""The one rule for the shapes of samples."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import InputError
from microgen.base.manifest import PortRecord
from microgen.running.runner import sample_axes, samples
from microgen.running.runner.sample_axes import Form


def port(*shape: int, name: str = "x") -> PortRecord:
    return PortRecord(name, name, shape, "int8", int(np.prod(shape)), 0.0, 0)


@pytest.mark.parametrize(
    ("shape", "given", "form", "count"),
    [
        ((1, 1, 8, 8), (360, 1, 8, 8), Form.REPLACED, 360),
        ((1, 1, 8, 8), (360, 1, 1, 8, 8), Form.ADDED, 360),
        ((1, 1, 8, 8), (1, 1, 8, 8), Form.ONE, 1),
        ((1, 1, 8, 8), (1, 1, 1, 8, 8), Form.ADDED, 1),
        # Without a first dimension of 1 there is no axis to replace.
        ((4, 3), (4, 3), Form.ONE, 1),
        ((4, 3), (4, 4, 3), Form.ADDED, 4),
        ((1,), (5,), Form.REPLACED, 5),
        ((1,), (5, 1), Form.ADDED, 5),
        ((1, 1), (1, 1), Form.ONE, 1),
        ((), (), Form.ONE, 1),
        ((), (7,), Form.ADDED, 7),
    ],
)
def test_the_rule(shape: tuple[int, ...], given: tuple[int, ...], form: Form, count: int) -> None:
    assert sample_axes.form(port(*shape), np.zeros(given, np.int8)) == (form, count)


@pytest.mark.parametrize(
    ("shape", "given", "message"),
    [
        ((1, 2), (2,), "expected [1, 2], or [N, 2] or [N, 1, 2] for N samples"),
        ((4, 3), (5, 3), "expected [4, 3], or [N, 4, 3] for N samples"),
        ((1, 2), (3, 3), "has shape [3, 3]"),
        ((1, 2), (2, 2, 1, 2), "has shape [2, 2, 1, 2]"),
        ((1, 2), (0, 2), "'x' has no samples (N is 0)"),
        ((), (3, 1), "expected [], or [N] for N samples"),
    ],
)
def test_other_shapes_are_refused(
    shape: tuple[int, ...], given: tuple[int, ...], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        sample_axes.form(port(*shape), np.zeros(given, np.int8))
    assert message in str(caught.value)


def test_inputs_agree_on_the_number_of_samples() -> None:
    ports = [port(1, 2, name="a"), port(3, 2, name="b")]
    given = {"a": np.arange(6, dtype=np.int8).reshape(3, 2), "b": np.zeros((3, 3, 2), np.int8)}
    found = samples.pack(ports, given)
    assert (found.count, found.form) == (3, Form.REPLACED)
    assert found.data == bytes([0, 1, *[0] * 6, 2, 3, *[0] * 6, 4, 5, *[0] * 6])
    # One sample in one form and N = 1 in another are the same.
    one = {"a": given["a"][:1], "b": given["b"][:1]}
    assert (samples.pack(ports, one).count, samples.pack(ports, one).form) == (1, Form.ADDED)


def test_an_array_of_the_inputs_shape_is_one_sample_whatever_others_have() -> None:
    ports = [port(1, 2, name="a"), port(3, 2, name="b")]
    given = {"a": np.zeros((3, 2), np.int8), "b": np.zeros((3, 2), np.int8)}
    with pytest.raises(InputError) as caught:
        samples.pack(ports, given)
    assert str(caught.value) == (
        "inputs have different numbers of samples: 'a' has 3 samples, 'b' has one sample; "
        "an array of the shape of 'b', [3, 2], is one sample; N samples are [N, 3, 2]"
    )


@pytest.mark.parametrize(
    ("form", "shape", "expected"),
    [
        (Form.ADDED, (1, 10), (6, 1, 10)),
        (Form.REPLACED, (1, 10), (6, 10)),
        (Form.REPLACED, (5, 2), (6, 5, 2)),
        (Form.REPLACED, (), (6,)),
        (Form.ONE, (1, 10), (1, 10)),
        (Form.ONE, (), ()),
    ],
)
def test_outputs_have_the_form_of_inputs(
    form: Form, shape: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    array = np.zeros((6, *shape), np.int8)
    found = sample_axes.shaped(port(*shape), array, form)
    assert (found.shape, type(found)) == (expected, np.ndarray)
