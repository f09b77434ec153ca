"""Random networks: C, numpy and LiteRT must agree in every byte.

A failing network is cut down and stays in ``build/differential/<seed>`` as network.tflite.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen import oracle
from tests.differential import harness
from tests.differential.generator import generate
from tests.tools import NEEDS_NINJA

pytestmark = [
    NEEDS_NINJA,
    pytest.mark.skipif(not oracle.is_installed(), reason="ai-edge-litert is not installed"),
]
KEPT = Path(__file__).parents[2] / "build" / "differential"


def _agree(seed: int, folder: Path) -> None:
    net, outputs = generate(seed)
    failure = harness.check(net, outputs, folder, seed)
    if failure:
        small, name = harness.shrunk(net, outputs, folder, seed)
        harness.check(small, [name], KEPT / str(seed), seed)
        layers = " -> ".join(op.code for op in small.operators)
        pytest.fail(f"{failure.what}; cut down to {layers}: {KEPT / str(seed)}/network.tflite")


@pytest.mark.parametrize("seed", range(30))
def test_a_random_network_agrees(seed: int, tmp_path: Path) -> None:
    _agree(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_two_thousand_random_networks_agree(seed: int, tmp_path: Path) -> None:
    _agree(seed, tmp_path)


def test_a_wrong_reference_is_found_and_cut_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The harness itself: let C and LiteRT see another network than numpy does."""
    net, outputs = generate(4)
    real = harness.evaluate

    def wrong(*arguments: object) -> object:
        values = real(*arguments)  # type: ignore[arg-type]
        first = net.computed[0]
        return {k: (v ^ 1 if k == first or k == outputs[-1] else v) for k, v in values.items()}

    monkeypatch.setattr(harness, "evaluate", wrong)
    failure = harness.check(net, outputs, tmp_path, 0)
    assert failure is not None
    assert "numpy differs from LiteRT" in failure.what
    small, name = harness.shrunk(net, outputs, tmp_path, 0)
    assert (name, len(small.operators)) == (net.computed[0], 1)
