"""The oracle of the profile tflm: TFLite Micro's interpreter, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.base import manifest
from microgen.base.errors import MicrogenError
from microgen.frontends.model_format import OracleError
from microgen.frontends.tflite.micro import Micro
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ops import registry
from microgen.running.comparing import apart, compare
from tests.differential.generator import generate
from tests.support.places import SMALL
from tests.support.tools import NEEDS_NINJA

NEEDS_MICRO = pytest.mark.skipif(bool(Micro().lacking()), reason="tflite-micro is not installed")
ORACLE = "TFLite Micro (portable kernels)"


def _samples(graph: Graph, count: int = 2) -> list[list[Array]]:
    rng = np.random.default_rng(count)
    types = [graph.types[name] for name in graph.inputs]
    most = [np.iinfo(kind.dtype.numpy).max for kind in types]
    return [
        [
            rng.integers(-n - 1, n + 1, t.shape).astype(t.dtype.numpy)
            for t, n in zip(types, most, strict=True)
        ]
        for _ in range(count)
    ]


def _network(seed: int, folder: Path) -> tuple[Path, Graph] | None:
    """A random network of integers under tflm; None if it is refused under this profile."""
    case = generate(seed, ("int8", "int16"))
    path = folder / f"{seed}.tflite"
    path.write_bytes(case.net.model(case.outputs))
    try:
        graph = frontends.load(path, numerics="tflm")
    except MicrogenError:
        return None
    is_exact = all(kind.dtype.numpy.kind in "ib" for kind in graph.types.values())
    is_exact &= all(graph.types[name].dtype.numpy.kind == "i" for name in graph.inputs)
    return (path, graph) if is_exact and not graph.variables else None


def _differing(path: Path, graph: Graph) -> list[str]:
    """The tensors in which numpy and TFLite Micro differ. OracleError if it refuses the network."""
    samples, found = _samples(graph), []
    oracle = frontends.oracle(path, profile="tflm")
    assert isinstance(oracle, Micro)
    for sample, layers in zip(samples, apart.layers(oracle, path, "", samples), strict=True):
        given = dict(zip(graph.inputs, sample, strict=True))
        values = interpreter.evaluate(graph, given, registry())
        known = layers.keys() & values.keys()
        assert known >= {*graph.outputs}
        found += [name for name in known if not np.array_equal(layers[name], values[name])]
    return found


def _judged(seeds: Iterable[int], folder: Path) -> int:
    """The number of networks that both run."""
    count = 0
    for seed in seeds:
        made = _network(seed, folder)
        if made is None:
            continue
        try:
            assert _differing(*made) == [], seed
        except OracleError:
            continue
        count += 1
    return count


@NEEDS_MICRO
def test_random_networks_are_equal(tmp_path: Path) -> None:
    assert _judged((11, 14, 21, 23), tmp_path) == 4


@pytest.mark.slow
@NEEDS_MICRO
def test_many_random_networks_are_equal(tmp_path: Path) -> None:
    assert _judged(range(1000, 1300), tmp_path) >= 50


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("micro") / "p"
    microgen.generate(SMALL, "native", folder, numerics="tflm")
    return folder


@NEEDS_MICRO
@NEEDS_NINJA
def test_outputs_and_layers_are_judged(project: Path) -> None:
    _, verdict = microgen.run(project, compare=True).verdicts
    assert (verdict.name, verdict.ok, verdict.is_skipped) == (ORACLE, True, False)
    assert verdict.layers is not None
    assert verdict.layers.compared >= 3
    assert verdict.equal_samples == verdict.samples > 0


@NEEDS_MICRO
@NEEDS_NINJA
def test_one_unit_is_too_much(project: Path) -> None:
    (port,) = manifest.load(project).inputs
    inputs = {port.tensor: np.zeros((2, *port.shape), np.int8)}
    ran = microgen.run(project, inputs)
    elf = project / "build" / "firmware.elf"
    changed: Mapping[str, Array] = {name: a ^ np.int8(1) for name, a in ran.outputs.items()}
    _, verdict = compare.compare(project, inputs, changed, elf)
    assert (verdict.name, verdict.ok, verdict.equal_samples) == (ORACLE, False, 0)


FAKE = """
import os, sys
class InterpreterConfig:
    kPreserveAllTensors = 1
class Interpreter:
    @classmethod
    def from_bytes(cls, *_, **__):
        print("kernel.cc:86 a < b was not true.", file=sys.stderr, flush=True)
        {end}
"""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os.abort()", "TFLite Micro ends with status -6: kernel.cc:86 a < b was not true."),
        ("raise RuntimeError('no')", "TFLite Micro refuses: no: kernel.cc:86 a < b was not true."),
    ],
)
def test_what_it_refuses_is_a_reason(
    end: str, said: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernels abort for what they do not expect, which must not end microgen."""
    module = tmp_path / "tflite_micro" / "python" / "tflite_micro" / "runtime.py"
    module.parent.mkdir(parents=True)
    module.write_text(FAKE.format(end=end))
    for folder in (tmp_path / "tflite_micro", module.parent.parent, module.parent):
        (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    verdict = microgen.run(project, compare=True).verdicts[1]
    assert (verdict.name, verdict.is_skipped, verdict.why_no_layers) == (ORACLE, True, said)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert Micro().lacking() == "tflite-micro is not installed (pip install tflite-micro)"
