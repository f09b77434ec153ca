"""``run --compare`` fails if and only if something is wrong: random networks of floats, quantized
ones (between DequantizeLinear and QuantizeLinear, and operators of stored integers) and .tflite
files, which a stand-in computes, raise no alarm, and an error of one unit beyond the bound in a
layer is found and named, whether the firmware has it, or the oracle's layers show it.

    pytest tests/comparing/test_both_ways.py -m slow    # 500 networks, every layer of 200
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from microgen import frontends
from microgen.comparing.verdict import Verdict
from microgen.frontends.model_format import Oracle, OracleError
from microgen.frontends.onnx.ort import OnnxRuntime
from microgen.frontends.tflite.litert import LiteRT
from microgen.ir.beside import no_slack
from microgen.ir.graph import Array
from tests.comparing import standins
from tests.comparing.standins import KINDS, Planted, Standin

pytestmark = pytest.mark.skipif(
    bool(OnnxRuntime().lacking() or LiteRT().lacking()), reason="an oracle is not installed"
)
_BATCH = 25
_FEW = {"float": 13, "quantized": 14, "tflite": 13}
_MANY = {"float": 150, "quantized": 200, "tflite": 150}
_ALL_LAYERS = 200  # networks, of the three kinds together


def _batches(count: int) -> Iterator[object]:
    """Seeds of each kind: the first few are part of every run."""
    for kind in KINDS:
        yield pytest.param(kind, range(_FEW[kind]), id=f"{kind}-some")
        for first in range(0, count or _MANY[kind], _BATCH):
            seeds = range(first, min(first + _BATCH, count or _MANY[kind]))
            yield pytest.param(kind, seeds, id=f"{kind}-{first}", marks=pytest.mark.slow)


@pytest.mark.parametrize(("kind", "seeds"), [*_batches(0)])
def test_right_values_are_no_alarm(kind: str, seeds: range, tmp_path: Path) -> None:
    skipped = 0
    for seed in seeds:
        reference, oracle = standins.verdicts(standins.made(kind, seed, tmp_path).module())
        assert reference.ok, f"seed {seed}: {reference}"
        assert oracle.ok or oracle.is_skipped, f"seed {seed}: {oracle}"
        skipped += oracle.is_skipped
    assert skipped <= len(seeds) // 3  # LiteRT lacks kernels of a few operators


@pytest.mark.parametrize(("kind", "seeds"), [*_batches(_ALL_LAYERS // len(KINDS) + 1)])
def test_one_unit_beyond_the_bound_is_found_and_named(
    kind: str, seeds: range, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """In the firmware's tensors beside the network after the passes and beside the one in the file,
    and in the oracle's tensors. One of each of a network's tensors is part of every run."""
    is_slow = "some" not in request.node.callspec.id
    planted = dict.fromkeys((_in_the_firmware, _beside_the_file, _in_the_oracle), 0)
    for seed in seeds:
        network = standins.made(kind, seed, tmp_path)
        for check in planted:
            found = [*check(network)]
            for error, verdict in found if is_slow else found[seed % max(1, len(found)) :][:1]:
                planted[check] += 1
                said = verdict()
                assert not said.ok, f"seed {seed}, {error}: {said}"
                assert said.difference, f"seed {seed}, {error}: {said}"
                assert said.difference.tensor == error.tensor, f"seed {seed}, {error}: {said}"
    assert all(planted.values()), planted


Checked = Iterator[tuple[Planted, Callable[[], Verdict]]]


def _in_the_firmware(network: Standin) -> Checked:
    for one in network.walked(network.reduced, network.computed()[0], no_slack):
        error = standins.beyond(one)
        if error is not None:
            yield error, lambda error=error: network.module(error).by_reference()  # type: ignore[misc]


def _beside_the_file(network: Standin) -> Checked:
    if standins.verdicts(network.module())[1].is_skipped:
        return
    types, lacking = network.source.types, network.reduced.channels
    found = {
        name: array
        for name, array in network.computed()[0].items()
        if name in types and name not in lacking
    }
    for one in network.walked(network.source, found, no_slack):
        error = standins.beyond(one)
        if error is not None:
            yield error, lambda error=error: network.module(error).by_oracle()  # type: ignore[misc]


def _in_the_oracle(network: Standin) -> Checked:
    try:
        layers = network.known
    except OracleError:
        return
    for one in network.walked(network.source, layers, network.slack):
        error = standins.beyond(one)
        if error is not None:
            yield error, lambda error=error: _by_planted(network, error)  # type: ignore[misc]


def _by_planted(network: Standin, error: Planted) -> Verdict:
    """The verdict if the oracle's tensor had the error: then the reference is what is wrong."""
    oracle = PlantedOracle(network.oracle, error)
    with mock.patch.object(frontends, "oracle", return_value=oracle):
        return network.module().by_oracle()


@dataclass(frozen=True)
class PlantedOracle:
    """An oracle one of whose tensors has an error in the first sample."""

    inner: Oracle
    error: Planted

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """The oracle's tensors, with the error."""
        for i, layers in enumerate(self.inner.layers(files, samples)):
            wrong = {} if i else {self.error.tensor: self.error.put(layers[self.error.tensor])}
            yield {**layers, **wrong}
