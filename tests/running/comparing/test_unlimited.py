"""Bounds that allow any value: infinite numbers need none, and where one cannot be avoided, the
comparison says that nothing was judged instead of that all is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper

from microgen.base.errors import ToolError
from microgen.base.manifest import ModuleRecord
from microgen.graph.ir import beside
from microgen.graph.ir.beside import no_slack
from microgen.graph.ops import registry
from microgen.running.comparing import ends
from microgen.running.runner import TracedLayer
from tests.frontends.onnx.models import info, model, written
from tests.running.comparing import standins
from tests.running.comparing.standins import Planted, Standin

LEAST = float(np.finfo(np.float32).min)
_N = 4


def _attention(masked: float, function: str) -> ModelProto:
    """Scores, of which those on the diagonal are masked."""
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.normal(size=(_N, _N)).astype(np.float32),
        "mask": np.where(np.eye(_N), masked, 0).astype(np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["scores"]),
        helper.make_node("Add", ["scores", "mask"], ["masked"]),
        helper.make_node(function, ["masked"], ["y"], axis=-1),
    ]
    return model(nodes, [info("x", (_N, _N))], [info("y", (_N, _N))], constants)


def _network(folder: Path, masked: float, function: str = "Softmax", count: int = 2) -> Standin:
    rng = np.random.default_rng(1)
    samples = [(rng.normal(size=(_N, _N)).astype(np.float32),) for _ in range(count)]
    return Standin(written(_attention(masked, function), folder), tuple(samples))


@pytest.mark.parametrize(
    ("masked", "function"), [(-np.inf, "Softmax"), (-np.inf, "LogSoftmax"), (LEAST, "Softmax")]
)
def test_a_masked_score_does_not_hide_errors_of_others(
    masked: float, function: str, tmp_path: Path
) -> None:
    """Whether the values before the layer are known or not, if the mask is infinite."""
    network = _network(tmp_path, masked, function)
    given = network.given(network.reduced, 0)
    known = [network.computed()[0]] + [{}] * bool(np.isinf(masked))
    for found in known:
        for one in beside.walk(network.reduced, given, registry(), found):
            assert one.bound.max() < 1e-4, one
    (*_, last) = network.walked(network.reduced, network.computed()[0], no_slack)
    for index in ((0, 1), (1, 0), (_N - 1, 0)):
        wrong = float(last.values[index]) + 1e-3
        verdict = network.module(Planted("y", last.tensor, index, wrong)).by_reference()
        assert verdict.difference, str(verdict)
        assert (verdict.difference.layer, verdict.difference.index) == ("y", index)


class _Unread:
    """Layers that cannot be read."""

    def of(self, _module: ModuleRecord, _chosen: Sequence[int]) -> list[TracedLayer]:
        """No layers."""
        raise ToolError("there is no debugger")


def test_outputs_with_unlimited_bounds_are_not_right_without_layers(tmp_path: Path) -> None:
    """From end to end, a score of the least number may be infinite, so any value is allowed."""
    network = _network(tmp_path, LEAST)
    module = network.module()
    (name,) = module.outputs
    right = module.outputs[name]
    assert module.by_reference().ok  # every bit is equal
    wrong = replace(module, outputs={name: 1 - right}, traces=_Unread().of)
    for verdict in standins.verdicts(wrong):
        assert verdict.is_skipped or not verdict.ok, str(verdict)
        assert verdict.is_skipped or "not judged on 2" in str(verdict)
        assert verdict.is_skipped or verdict.to_json()["unjudged_samples"] == 2
    near = replace(module, outputs={name: np.nextafter(right, np.float32(2))})
    verdict = near.by_reference()
    assert verdict.ok, str(verdict)
    assert (verdict.explained, verdict.unjudged) == (2, 0)


def test_samples_without_layers_are_not_called_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "MOST", 2)
    monkeypatch.setattr(ends, "MOST_VAGUE", 3, raising=False)
    network = _network(tmp_path, LEAST, count=5)
    module = network.module()
    (name,) = module.outputs
    near = replace(module, outputs={name: np.nextafter(module.outputs[name], np.float32(2))})
    verdict = near.by_reference()
    assert verdict.ok, str(verdict)
    assert (verdict.explained, verdict.unjudged) == (3, 2)
    assert "within the bounds of layers on 3 more; not judged on 2" in str(verdict)
