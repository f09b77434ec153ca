"""What an oracle's own layers may differ by, and what they must not hide."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper

from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import Array
from microgen.running.comparing.verdict import Verdict
from tests.frontends.onnx.models import info, model, written
from tests.running.comparing import standins
from tests.running.comparing.oracle_networks import clipped, recurrent, transformed, with_bias
from tests.running.comparing.standins import Standin

pytestmark = pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())


def _standin(proto: ModelProto, folder: Path, *samples: Array) -> Standin:
    return Standin(written(proto, folder), tuple((sample,) for sample in samples))


def _by_oracle(network: Standin, outputs: Mapping[str, Array] | None = None) -> Verdict:
    module = network.module()
    if outputs is not None:
        module = dataclasses.replace(module, outputs=outputs)
    return module.by_oracle()


@pytest.mark.parametrize(("steps", "is_right"), [(0, True), (1, True), (2, False), (12, False)])
def test_exact_steps_before_a_layer_do_not_hide_its_error(
    steps: int, is_right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ONNX Runtime has no tensor of the limited data as int8. One step is its own rounding."""
    monkeypatch.setattr(
        "microgen.frontends.onnx.oracle.ort_products.widened",
        lambda proto: with_bias(proto, steps),
    )
    rng = np.random.default_rng(0)
    samples = [rng.normal(0, 1, (1, 4)).astype(np.float32) for _ in range(20)]
    verdict = _by_oracle(_standin(clipped(), tmp_path, *samples))
    assert verdict.ok == is_right, str(verdict)
    if not is_right:
        assert verdict.difference
        assert (verdict.difference.layer, verdict.difference.allowed) == ("g", 1)
        assert "(1 step)" in str(verdict)


def test_every_sample_whose_outputs_differ_has_to_be_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first sample differs by a step of rounding; a later one differs by more. Only the layers
    of the first are read from the firmware."""
    samples = [np.full((1, 4), value, np.float32) for value in (1, 2, 3)]
    network = _standin(clipped(), tmp_path, *samples)
    for wrong, is_right in ((1, True), (2, False)):
        oracle = _Shifted(network, {0: 1, 2: wrong})
        monkeypatch.setattr("microgen.frontends.oracle", lambda *_, oracle=oracle: oracle)
        verdict = _by_oracle(network)
        assert (verdict.equal_samples, verdict.samples) == (1, 3)
        assert verdict.ok == is_right, str(verdict)
        assert verdict.explained == (2 if is_right else 0)
        if not is_right:
            assert verdict.difference
            assert verdict.difference.sample == 2


class _Shifted:
    """ONNX Runtime with the stored results of some samples moved by some steps."""

    def __init__(self, network: Standin, steps: Mapping[int, int]) -> None:
        self._inner, self._network, self._steps = OnnxRuntime(), network, steps

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """ONNX Runtime's tensors, moved."""
        every = [sample[0] for sample in self._network.samples]
        for (given,), found in zip(samples, self._inner.layers(files, samples), strict=True):
            i = next(i for i, sample in enumerate(every) if sample is given)
            q = found["q"] + np.int8(self._steps.get(i, 0))
            yield {**found, "q": q, "y": q.astype(np.float32) * np.float32(0.02)}


def test_outputs_that_no_layer_explains_are_a_difference(tmp_path: Path) -> None:
    """The layers that were read are right, but the firmware gave other outputs."""
    network = _standin(clipped(), tmp_path, *(np.full((1, 4), v, np.float32) for v in (1, 2)))
    right = np.stack([made["y"] for made in network.computed()])
    assert _by_oracle(network, {"y": right}).ok
    wrong = right.copy()
    wrong[0, 0, 1] += np.float32(0.02)
    verdict = _by_oracle(network, {"y": wrong})
    assert not verdict.ok
    assert verdict.difference
    assert (verdict.difference.tensor, verdict.difference.index) == ("y", (0, 1))


@pytest.mark.parametrize("length", [15, 32, 100])
def test_fourier_transforms_are_compared_relative_to_the_transform(
    length: int, tmp_path: Path
) -> None:
    """ONNX Runtime leaves a remainder where the exact transform is 0."""
    for proto, sample in transformed(length):
        network = _standin(proto, tmp_path, sample)
        verdict = _by_oracle(network)
        assert verdict.ok, str(verdict)
        one = next(network.walked(network.source, network.known, network.slack))
        assert one.bound.max() < 1e-4 * length**0.5 * np.abs(sample).sum()
        assert one.found is not None
        far = dataclasses.replace(one, found=one.values + (1.1 * one.bound).astype(np.float32))
        assert standins.is_beyond(far)


def test_states_that_grow_have_a_slack_that_grows(tmp_path: Path) -> None:
    """The functions of gates are approximations, by which large states are multiplied."""
    for proto, samples in recurrent(range(12)):
        verdict = _by_oracle(_standin(proto, tmp_path, *samples))
        assert verdict.ok, str(verdict)
        assert verdict.other
        assert max(held.ratio for held in verdict.other.held) > 0


def test_errors_do_not_add_up_over_the_steps_of_a_recurrent_layer(tmp_path: Path) -> None:
    """The oracle's states of each step are known. Without them, the bound of the last is unlimited
    in effect."""
    for proto, (sample, _) in recurrent(range(4), steps=60):
        network = _standin(proto, tmp_path, sample)
        every = [*network.walked(network.source, network.known, network.slack)]
        assert {one.node.op for one in every} >= {"nn.recurrent"}
        assert max(one.bound.max() for one in every) < 1e-4
        assert not any(map(standins.is_beyond, every))


def _departing(op: str, data: Array) -> ModelProto:
    x = info("x", data.shape)
    if op == "HardSwish":
        node = helper.make_node(op, ["x"], ["y"])
        return model([node], [x], [info("y", data.shape)], {}, opset=18)
    node = helper.make_node(op, ["x", "axes"], ["y"])
    axes = {"axes": np.array([1], np.int64)}
    return model([node], [x], [info("y", (data.shape[0], 1))], axes, opset=18)


@pytest.mark.parametrize(("op", "value"), [("ReduceMax", np.nan), ("HardSwish", 3.2e38)])
def test_a_difference_between_oracles_is_reported_as_that(
    op: str, value: float, tmp_path: Path
) -> None:
    data = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
    data[1, 1] = value
    network = _standin(_departing(op, data), tmp_path, data)
    verdict = _by_oracle(network)
    assert verdict.ok, str(verdict)
    assert 'oracles differ in 1 of the elements of layer "y": LiteRT' in str(verdict)
    assert verdict.explained == 1
    one = next(network.walked(network.source, network.known, network.slack))
    assert one.found is not None
    others = one.found.copy()
    others[2, 0] += np.float32(1)  # an element to which the exception does not apply
    assert standins.is_beyond(dataclasses.replace(one, found=others))


@pytest.mark.parametrize("op", ["MaxPool", "GlobalMaxPool"])
def test_a_difference_is_reported_for_the_tensor_that_the_oracle_has(
    op: str, tmp_path: Path
) -> None:
    """The graph pools in another layout, in which ONNX Runtime has no tensor."""
    data = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
    data[0, 1, 3, 3] = np.nan
    attrs = {"kernel_shape": [2, 2], "strides": [2, 2]} if op == "MaxPool" else {}
    node = helper.make_node(op, ["x"], ["y"], **attrs)
    proto = model([node], [info("x", data.shape)], [info("y", None)], {}, opset=18)
    verdict = _by_oracle(_standin(proto, tmp_path, data))
    assert verdict.ok, str(verdict)
    assert 'oracles differ in 1 of the elements of layer "y": LiteRT ignores NaN' in str(verdict)


def test_numbers_without_nan_have_no_exception(tmp_path: Path) -> None:
    data = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
    for op in ("ReduceMax", "HardSwish"):
        verdict = _by_oracle(_standin(_departing(op, data), tmp_path, data))
        assert verdict.ok
        assert "oracles differ" not in str(verdict)


def test_constants_that_were_computed_may_have_other_roundings(tmp_path: Path) -> None:
    """ONNX Runtime computes the cosines itself, some of them with another rounding."""
    angles = np.linspace(0, 40, 2000, dtype=np.float32)
    nodes = [
        helper.make_node("Cos", ["c"], ["k"]),
        helper.make_node("Mul", ["x", "k"], ["y"]),
        helper.make_node("Neg", ["y"], ["z"]),
    ]
    shape = [1, angles.size]
    proto = model(
        nodes, inputs=[info("x", shape)], outputs=[info("z", shape)], constants={"c": angles}
    )
    x = np.random.default_rng(0).normal(0, 1, shape).astype(np.float32)
    verdict = _by_oracle(_standin(proto, tmp_path, x))
    assert verdict.other is not None
    assert verdict.ok, str(verdict)
    assert any(held.ratio for held in verdict.other.held), "they do differ"
