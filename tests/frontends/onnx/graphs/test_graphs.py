"""Random ONNX networks, quantized and in floats: C equals the numpy contract, and ONNX Runtime's
layers are within the operators' bounds of it; integers differ by at most 1.

    pytest tests/frontends/onnx/graphs -m slow    # 1,000 of each

Models of a batch are one program. A batch's C is compiled without optimization, because kernels
have tests of their own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from tests.frontends.onnx.graphs import checks, float_networks, quantized_networks
from tests.frontends.onnx.graphs.case import Case
from tests.support.tools import NEEDS_CC

pytestmark = [
    NEEDS_CC,
    pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking()),
]
_BATCH = 25
_KINDS = {"quantized": quantized_networks.generate, "float": float_networks.generate}
_MOST_VACUOUS = 0.05  # of tensors: those about which a comparison says nothing


def _batches() -> Iterator[object]:
    """The seeds of each batch: the first few of a kind are part of every run."""
    for kind in _KINDS:
        yield pytest.param(kind, range(4), id=f"{kind}-some")
        for first in range(0, 1000, _BATCH):
            seeds = range(first, first + _BATCH)
            yield pytest.param(kind, seeds, id=f"{kind}-{first}", marks=pytest.mark.slow)


@pytest.mark.parametrize(("kind", "seeds"), [*_batches()])
def test_random_networks_are_right(
    kind: str, seeds: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTS_BUILD_QUICKLY", "1")
    generate: Callable[[int], Case] = _KINDS[kind]
    found = checks.check([generate(seed) for seed in seeds], tmp_path / "some")
    assert not found.wrong, "\n".join(found.wrong)
    assert not found.refused, "\n".join(found.refused)
    assert found.compared > len(seeds)
    assert found.vacuous <= _MOST_VACUOUS * found.compared
    shutil.rmtree(tmp_path / "some")  # hundreds of projects would fill a disk
