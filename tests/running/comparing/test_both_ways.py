"""``run --compare`` fails if and only if something is wrong: random networks of floats, quantized
ones (between DequantizeLinear and QuantizeLinear, and operators of stored integers) and .tflite
files, which a stand-in computes, raise no alarm, and an error of one unit beyond the bound in a
layer is found and named, whether the firmware has it, or the oracle's layers show it.

    pytest tests/running/comparing/test_both_ways.py -m slow    # 525 networks, every layer of 225
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from microgen import frontends
from microgen.frontends.model_format import Oracle, OracleError
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.beside import no_slack
from microgen.graph.ir.graph import Array
from microgen.graph.ops.base import StatusError
from microgen.running.comparing.verdict import Verdict
from tests.running.comparing import nearness, standins
from tests.running.comparing.standins import KINDS, Planted, Standin

pytestmark = pytest.mark.skipif(
    bool(OnnxRuntime().lacking() or LiteRT().lacking()), reason="an oracle is not installed"
)
_BATCH = 25
_MANY, _ALL_LAYERS = 175, 75  # networks of each kind


def _batches(count: int) -> Iterator[object]:
    """Seeds of each kind: the first few are part of every run."""
    for kind in KINDS:
        yield pytest.param(kind, range(nearness.FEW), id=f"{kind}-some")
        for first in range(0, count, _BATCH):
            seeds = range(first, first + _BATCH)
            yield pytest.param(kind, seeds, id=f"{kind}-{first}", marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Standin]:
    """The networks that are part of every run, each read once."""
    folder = tmp_path_factory.mktemp("networks")
    return functools.cache(lambda kind, seed: standins.made(kind, seed, folder))


def _networks(
    kind: str, seeds: Sequence[int], few: Callable[[str, int], Standin], folder: Path
) -> Iterator[tuple[int, Standin]]:
    for seed in seeds:
        is_kept = len(seeds) == nearness.FEW
        yield seed, few(kind, seed) if is_kept else standins.made(kind, seed, folder)


@pytest.mark.parametrize(("kind", "seeds"), [*_batches(_MANY)])
def test_right_values_are_no_alarm(
    kind: str, seeds: range, tmp_path: Path, few: Callable[[str, int], Standin]
) -> None:
    skipped = 0
    for seed, network in _networks(kind, seeds, few, tmp_path):
        reference, oracle = standins.verdicts(network.module())
        assert reference.ok, f"seed {seed}: {reference}"
        assert oracle.ok or oracle.is_skipped, f"seed {seed}: {oracle}"
        skipped += oracle.is_skipped
    assert skipped <= len(seeds) // 3  # LiteRT lacks kernels of a few operators


@pytest.mark.parametrize(("kind", "seeds"), [*_batches(_ALL_LAYERS)])
def test_one_unit_beyond_the_bound_is_found_and_named(
    kind: str, seeds: range, tmp_path: Path, few: Callable[[str, int], Standin]
) -> None:
    """In the firmware's tensors next to the network after the passes and next to the one in the
    file, and in the oracle's tensors. A part of every run is one tensor of each of these."""
    is_slow = len(seeds) != nearness.FEW
    planted = dict.fromkeys((_in_the_firmware, _against_the_file, _in_the_oracle), 0)
    for seed, network in _networks(kind, seeds, few, tmp_path):
        for check in planted:
            found = [*check(network)]
            for error, verdict in found if is_slow else found[seed % max(1, len(found)) :][:1]:
                planted[check] += _is_found(seed, error, verdict)
    assert all(planted.values()), planted


def _is_found(seed: int, error: Planted, judged: Callable[[], Verdict]) -> bool:
    """Whether the error was judged, which must find and name it. An index that is out of range is
    not: the firmware returns a status."""
    try:
        verdict = judged()
    except StatusError:
        return False
    assert not verdict.ok, f"seed {seed}, {error}: {verdict}"
    assert verdict.difference, f"seed {seed}, {error}: {verdict}"
    assert verdict.difference.layer == error.layer, f"seed {seed}, {error}: {verdict}"
    return True


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("few", nearness.FEW),
        pytest.param("many", nearness.MANY, marks=pytest.mark.slow),
    ],
)
def test_bounds_for_oracles_do_not_grow(
    name: str, count: int, tmp_path: Path, few: Callable[[str, int], Standin]
) -> None:
    """By oracle and op, bounds have the size that nearness.json has, and the oracle comes as close
    to them. Other processors' approximations may come half as close."""
    pairs = [(kind, seed) for kind in KINDS for seed in range(count)]
    is_few = count == nearness.FEW
    networks = [("", few(*pair) if is_few else standins.made(*pair, tmp_path)) for pair in pairs]
    found = nearness.rows(nearness.measured([*networks, *nearness.special(tmp_path)]))
    table = json.loads(nearness.TABLE.read_text())[name]
    assert {oracle: of.keys() for oracle, of in found.items()} == {
        oracle: of.keys() for oracle, of in table.items()
    }
    for oracle, of in found.items():
        for op, (size, times) in of.items():
            most, closest = table[oracle][op]
            assert size <= most * 1.01, f"{oracle}, {op}: the bounds are {size / most:.3g} as large"
            assert times is None or times >= 1, f"{oracle}, {op}"
            if closest is not None:
                assert times is not None, f"{oracle}, {op}"
                assert times <= 2 * closest, f"{oracle}, {op}"


Checked = Iterator[tuple[Planted, Callable[[], Verdict]]]


def _in_the_firmware(network: Standin) -> Checked:
    for one in network.walked(network.reduced, network.computed()[0], no_slack):
        error = standins.beyond(one)
        if error is not None:
            yield error, lambda error=error: network.module(error).by_reference()  # type: ignore[misc]


def _against_the_file(network: Standin) -> Checked:
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
