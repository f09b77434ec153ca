"""The error when no code generator takes a node."""

from __future__ import annotations

import itertools

import pytest

from microgen import kernels
from microgen.base.errors import UnsupportedError
from microgen.compiler import passes
from microgen.compiler.codegens.builtin import CODEGEN
from microgen.compiler.partition import assign
from microgen.kernels import base
from microgen.kernels.base import Implementation
from microgen.target.board import load
from tests.frontends.tweaked import LONGEST_REFUSAL, Network, activation, int8_constant, integers
from tests.support.tflite_builder import OperatorSpec

PREFIX = "model/block_1/expand/BatchNorm/FusedBatchNormV3;model/block_1/expand/Conv2D;"


def overflowing(layers: int) -> Network:
    """Dense layers whose biases leave no room in int32, so every kernel refuses them."""
    names = ["x", *(f"{PREFIX}{i}" for i in range(layers))]
    tensors = [activation(name, 1, 4) for name in names]
    constants = (int8_constant("w", 4, 4, scale=(0.25,)), integers("b", [2**31 - 1] * 4))
    operators = tuple(
        OperatorSpec("FULLY_CONNECTED", (before, "w", "b"), (name,), "FullyConnectedOptions")
        for before, name in itertools.pairwise(names)
    )
    return Network((*tensors, *constants), operators, ("x",), (names[-1],))


def refused(layers: int) -> UnsupportedError:
    board = load("mps2_an386")
    with pytest.raises(UnsupportedError) as caught:
        assign(passes.run(overflowing(layers).load()), [CODEGEN], board)
    return caught.value


def test_one_reason_for_all_kernels() -> None:
    error = refused(1)
    assert str(error).startswith('m.tflite: layer "model/block_1/expand')
    assert "no kernel computes it (sums with its weights and bias may reach 2147" in error.what
    assert error.what.count("kernel") == 2
    assert len(str(error)) <= LONGEST_REFUSAL
    named = [d.partition("builtin: ")[2].partition(": ") for d in error.details]
    loops = [kernel.loop_name for kernel in kernels.registry()["nn.dense"] if _is_for(kernel)]
    assert [by for by, _, _ in named] == list(dict.fromkeys(loops))
    plain = [by for by, _, why in named if why.startswith("sums with its weights")]
    assert {"mg_dense_s8_dsp", "mg_dense_s8_portable", "mg_dense_s8"} <= set(plain)


def _is_for(kernel: Implementation) -> bool:
    """Whether the kernel is for int8 data with symmetric weights of 8 bits, without MVE."""
    is_symmetric = "_s8" in kernel.symbol and "offset" not in kernel.symbol
    return is_symmetric and not kernel.needs & base.MVE


def test_all_layers_without_a_kernel_are_said_at_once() -> None:
    error = refused(7)
    assert error.what.endswith("); nor 6 other layers (-v lists all)")
    assert len(str(error)) <= LONGEST_REFUSAL
    assert len({detail.partition(":")[0] for detail in error.details}) == 7
