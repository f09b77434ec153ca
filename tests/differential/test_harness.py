"""The harness itself: errors are found, cut down and kept."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.base.files import FileTree
from microgen.frontends import load
from microgen.frontends.tflite.litert import LiteRT
from microgen.pipeline import Compiled
from tests.differential import evaluation, harness
from tests.differential.generator import Case, generate

pytestmark = pytest.mark.skipif(bool(LiteRT().lacking()), reason="ai-edge-litert is not installed")
RUNNER = "model/codegen/host/src/n{seed}_lib0.c"
OPERATORS = "model/codegen/host/src/n{seed}_lib1.c"


def _break_c(monkeypatch: pytest.MonkeyPatch, statement: str, source: str = OPERATORS) -> None:
    """Makes the first function of that source in every module run the statement before it
    returns."""
    real = harness._compiled

    def broken(case: Case, folder: Path) -> Compiled | str:
        compiled = real(case, folder)
        assert not isinstance(compiled, str)
        name = source.format(seed=case.seed)
        text = compiled.files.files[name].decode()
        changed = text.replace("    return 0;", f"    {statement} return 0;", 1).encode()
        assert changed != text.encode()
        return dataclasses.replace(
            compiled, files=FileTree({**compiled.files.files, name: changed})
        )

    monkeypatch.setattr(harness, "_compiled", broken)


def test_sound_c_is_no_failure(tmp_path: Path) -> None:
    assert harness.check([_one_layer()], tmp_path) == []


@pytest.mark.parametrize(
    ("source", "statement", "found"),
    [
        (OPERATORS, "*(char *)out0 ^= 16;", "C differs in"),
        (OPERATORS, "((char *)out0)[-1] = 0;", "AddressSanitizer: heap-buffer-overflow"),
        (
            OPERATORS,
            "{ int shift = 40; *(char *)out0 = (char)(1 << shift); }",
            "runtime error: shift",
        ),
        (RUNNER, "return 1;", "the program ended with 1"),
        (OPERATORS, "nonsense", "does not compile"),
    ],
)
def test_wrong_c_is_found(
    source: str, statement: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break_c(monkeypatch, statement, source)
    (failure,) = harness.check([_one_layer()], tmp_path)
    assert found in failure.what


@functools.cache
def _one_layer() -> Case:
    """A network of one ADD in int8."""
    for seed in range(500):
        net = generate(seed).net
        for op in net.operators:
            if op.code == "ADD" and net.dtype(str(op.outputs[0])) == "int8":
                return Case(seed, net.alone(op), [str(op.outputs[0])])
    raise AssertionError("no such network")


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_wrong_reference_is_found_and_cut_down(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every layer of the dtype is slightly wrong. The first of them is kept."""
    case = _several_layers(dtype)
    real = evaluation.computed

    def wrong(*arguments: Any) -> evaluation.Samples:
        return {
            name: [a + a.dtype.type(1) * (np.abs(a).max() / 64 + 1).astype(a.dtype) for a in arrays]
            if arrays[0].dtype.name == dtype
            else arrays
            for name, arrays in real(*arguments).items()
        }

    monkeypatch.setattr(evaluation, "computed", wrong)
    (failure, *_) = harness.check([case], tmp_path)
    assert "numpy differs from LiteRT" in failure.what
    said = harness.keep(failure, tmp_path / "kept")
    assert f"seed {case.seed}" in said
    graph = load(tmp_path / "kept" / "network.tflite")
    kept = np.load(tmp_path / "kept" / "inputs.npz")
    assert set(kept.files) == set(graph.inputs)
    assert len({node.origin.layer for node in graph.nodes}) == 1


def _several_layers(dtype: str) -> Case:
    for seed in range(500):
        case = generate(seed)
        made = [case.net.dtype(name) for name in case.net.computed]
        if len(case.net.operators) > 3 and made.count(dtype) > 2:
            return case
    raise AssertionError("no such network")
