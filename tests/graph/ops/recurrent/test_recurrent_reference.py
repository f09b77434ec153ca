"""nn.recurrent against onnxruntime's RNN, GRU and LSTM."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.recurrent.recurrent import OP, RecurrentAttrs, RecurrentLayer, run
from microgen.graph.ops.recurrent.recurrent_steps import (
    FORMULAS,
    GATES,
    ActivationFormula,
    RecurrentInputs,
)
from tests.frontends.onnx.one_node import OneNode, by_runtime, model
from tests.kernels.conformance import conformance as c
from tests.kernels.recurrent.recurrent_cases import function, random_case, sized

_WITH_ALPHA = ("affine", "leaky_relu", "thresholded_relu", "scaled_tanh", "hard_sigmoid", "elu")
_WITH_BETA = ("affine", "scaled_tanh", "hard_sigmoid")


def _attributes(attrs: RecurrentAttrs, cells: int) -> dict[str, Any]:
    """The attributes of ONNX's node."""
    functions = attrs.functions
    found: dict[str, Any] = {
        "hidden_size": cells,
        "activations": [each.name.title().replace("_", "") for each in functions],
        "direction": "reverse" if attrs.reverse else "forward",
    }
    alphas = [each.alpha for each in functions if each.name in _WITH_ALPHA]
    betas = [each.beta for each in functions if each.name in _WITH_BETA]
    numbers = {"activation_alpha": alphas, "activation_beta": betas}
    found |= {name: given for name, given in numbers.items() if given}
    if attrs.clip < math.inf:
        found["clip"] = attrs.clip
    flags = {
        "gru": ("linear_before_reset", attrs.resets_after),
        "lstm": ("input_forget", attrs.couples),
    }
    if attrs.kind in flags:
        name, value = flags[attrs.kind]
        found[name] = int(value)
    return found


def _by_runtime(case: c.Case) -> Array:
    """The states as nn.recurrent returns them."""
    attrs = case.attrs
    assert isinstance(attrs, RecurrentAttrs)
    data, weight, recurrent, bias, lengths, *states = (tensor.array for tensor in case.inputs)
    gates, cells = GATES[attrs.kind], data.shape and recurrent.shape[2]
    own = np.zeros((gates, cells), np.float32)
    own[2:3] = bias[gates:] if attrs.resets_after else 0
    operands: list[Array | None] = [
        data,
        weight.reshape(1, gates * cells, -1),
        recurrent.reshape(1, gates * cells, cells),
        np.concatenate([bias[:gates], own]).reshape(1, -1),
        lengths,
        *(each.reshape(1, *each.shape) for each in states[:2]),
    ]
    if len(states) == 3:
        operands.append(states[2].reshape(1, -1))
    count = 3 if attrs.kind == "lstm" else 2
    node = OneNode(
        attrs.kind.upper(), tuple(operands), _attributes(attrs, cells), len(operands), count, 14
    )
    proto, given, _ = model([node])
    sequence, *last = by_runtime(proto, given)
    rows = [each.reshape(1, *each.shape[1:]) for each in last]
    return np.concatenate([*([sequence[:, 0]] if attrs.keeps else []), *rows])


def _within_steps(case: c.Case) -> c.Case:
    """The case with lengths that onnxruntime accepts."""
    lengths = case.inputs[4]
    array = lengths.array.clip(0, case.inputs[0].type.shape[0])
    inputs = (*case.inputs[:4], replace(lengths, array=array), *case.inputs[5:])
    return replace(case, inputs=inputs)


@pytest.mark.parametrize("seed", range(60))
def test_equals_onnxruntime(seed: int) -> None:
    case = _within_steps(random_case(seed))
    np.testing.assert_allclose(case.expected, _by_runtime(case), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", FORMULAS)
def test_functions_equal_onnxruntime(name: str) -> None:
    attrs = RecurrentAttrs("gru", (function("sigmoid"), function(name)))
    case = sized(np.random.default_rng(1), attrs, (4, 1, 3, 5), 1)
    np.testing.assert_allclose(
        case.expected, _by_runtime(_within_steps(case)), rtol=2e-4, atol=2e-5
    )


def test_lengths_beyond_the_steps_are_clamped() -> None:
    case = sized(
        np.random.default_rng(1),
        RecurrentAttrs("rnn", (ActivationFormula("tanh"),)),
        (3, 2, 2, 2),
        1,
    )
    case.inputs[4].array[:] = [-5, 9]
    assert not case.expected[:, 0].any()
    clamped = _within_steps(case)
    np.testing.assert_array_equal(case.expected, clamped.expected)


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_small_if_all_states_are_known(seed: int) -> None:
    """Errors do not add up over steps, because each step reads what was found."""
    case = random_case(seed)
    attrs = case.attrs
    assert isinstance(attrs, RecurrentAttrs)
    if not attrs.keeps:
        return
    arrays = tuple(tensor.array for tensor in case.inputs)
    operands = Operands(arrays, case.input_types, (case.output_type,))
    off = tuple(np.zeros(array.shape) for array in arrays)
    (bound,) = OP.bound.of(attrs, Inexact(operands, off, (case.expected,), (case.expected,)))
    assert (bound <= 1e-4 * (1 + np.abs(case.expected))).all()


@pytest.mark.parametrize("seed", range(12))
def test_known_states_are_read_at_once_as_one_by_one(seed: int) -> None:
    """With known states, a step does not wait for the step before it."""
    case = random_case(seed)
    attrs = replace(case.attrs, keeps=True)
    steps, batches, _ = case.inputs[0].array.shape
    case.inputs[4].array[:] = steps
    inputs = RecurrentInputs.of([Ball.of(t.array) for t in case.inputs[:7]], attrs.kind)
    layer, cells = RecurrentLayer(attrs, inputs), case.inputs[2].array.shape[2]
    actual = np.random.default_rng(seed).uniform(-1, 1, (steps, batches, cells))
    rows, last, cell = run(layer, actual)
    zeros = Ball.of(np.zeros((batches, cells)))
    state, own = inputs.hidden or zeros, inputs.cell or zeros
    for step in range(steps)[:: -1 if attrs.reverse else 1]:
        after, own = layer.step(inputs.data[step], state, own)
        _assert_equal(rows[step], after)
        state = Ball.of(actual[step])
    _assert_equal(last, after)
    _assert_equal(cell, own)


def _assert_equal(one: Ball, other: Ball) -> None:
    """Sums in another order differ in the last bits of float64."""
    np.testing.assert_allclose(one.value, other.value, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(one.error, other.error, rtol=1e-2, atol=1e-12)


_F = DType.FLOAT32
_RIGHT = (
    ArrayType((2, 1, 3), _F),
    ArrayType((1, 4, 3), _F),
    ArrayType((1, 4, 4), _F),
    ArrayType((1, 4), _F),
    ArrayType((1,), DType.INT32),
)
_RNN = RecurrentAttrs("rnn", (ActivationFormula("tanh"),))


@pytest.mark.parametrize(
    ("attrs", "inputs", "sentence"),
    [
        (replace(_RNN, kind="mlp"), _RIGHT, "the kind is 'mlp'"),
        (_RNN, _RIGHT[:4], "has 4 inputs; 5 to 6"),
        (_RNN, (*_RIGHT, *_RIGHT), "has 10 inputs"),
        (_RNN, (ArrayType((2, 3), _F), *_RIGHT[1:]), "need 3 dimensions"),
        (replace(_RNN, kind="gru"), _RIGHT, "the weight of the input"),
        (_RNN, (*_RIGHT[:3], ArrayType((4,), _F), _RIGHT[4]), "the bias is"),
        (_RNN, (*_RIGHT, ArrayType((2, 4), _F)), "the hidden state is"),
    ],
)
def test_impossible_shapes_are_refused(
    attrs: RecurrentAttrs, inputs: tuple[ArrayType, ...], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, inputs)


@pytest.mark.parametrize(
    ("attrs", "inputs", "sentence"),
    [
        (_RNN, (*_RIGHT[:4], ArrayType((1,), _F)), "int32 is expected"),
        (_RNN, (ArrayType((2, 1, 3), DType.INT8), *_RIGHT[1:]), "float32 is expected"),
        (replace(_RNN, clip=-1.0), _RIGHT, "the clip is -1"),
        (replace(_RNN, couples=True), _RIGHT, "no such gates"),
        (replace(_RNN, functions=()), _RIGHT, "there are 0 functions"),
        (replace(_RNN, functions=(ActivationFormula("cube"),)), _RIGHT, "there is no function"),
        (
            replace(_RNN, functions=(ActivationFormula("elu", math.inf),)),
            _RIGHT,
            "there is no function",
        ),
    ],
)
def test_what_is_not_computed_is_refused(
    attrs: RecurrentAttrs, inputs: tuple[ArrayType, ...], sentence: str
) -> None:
    output = ArrayType((3, 1, 4), _F)
    assert sentence in str(OP.check(attrs, inputs, [output]))
