"""``run --compare`` of float networks raises no false alarm, and finds and names errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microgen
from microgen.building import builder
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import Array
from microgen.interface.api import RunResult
from microgen.running.comparing import compare
from microgen.running.comparing.verdict import Verdict
from tests.support import float_networks
from tests.support.tools import NEEDS_GDBSERVER, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_GDBSERVER]


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Array]]:
    """One program with every network, and a sample for each."""
    folder = tmp_path_factory.mktemp("floats")
    pairs, inputs = [], {}
    for name, make in float_networks.EVERY.items():
        model, sample = make()
        (folder / f"{name}.tflite").write_bytes(model)
        pairs.append((str(folder / f"{name}.tflite"), name))
        inputs[f"{name}.x"] = sample[None]
    microgen.generate_models(pairs, "native", folder / "p")
    microgen.build(folder / "p")
    return folder / "p", inputs


@pytest.fixture(scope="module")
def compared(floats: tuple[Path, dict[str, Array]]) -> RunResult:
    return microgen.run(*floats, compare=True)


@pytest.mark.parametrize("name", float_networks.EVERY)
def test_a_network_that_equals_the_references_is_no_alarm(name: str, compared: RunResult) -> None:
    verdicts = [verdict for verdict in compared.verdicts if verdict.name.startswith(name)]
    assert len(verdicts) == 2
    for verdict in verdicts[: 1 if LiteRT().lacking() else 2]:
        assert not verdict.is_skipped
        assert verdict.ok, str(verdict)
        assert verdict.layers is not None
        assert "within their bounds" in str(verdict)
        assert 0 < max(held.ratio for held in verdict.layers.held) <= 1
        data = verdict.to_json()
        rules = [bound["rule"] for bound in data["bounds"]]
        assert "gamma(n + 2) * sum|x w| of n products" in rules


def test_the_networks_are_those_that_a_part_of_the_range_fails(compared: RunResult) -> None:
    """Correct outputs differ from numpy's by more than 1e-5 of the range."""
    off = {v.name.split(":")[0]: v.off for v in compared.verdicts if "numpy" in v.name}
    assert off["sine"] > 1e-5
    assert off["dead"] > 1e-5


def _broken(project: Path, statement: str, inputs: dict[str, Array]) -> Verdict:
    """The first verdict after ``statement`` was added to the last operator of ``sine``."""
    source = project / "model/codegen/host/src/sine_lib1.c"
    text = source.read_text()
    last = text.rindex("    return 0;")
    source.write_text(f"{text[:last]}    {statement}\n{text[last:]}")
    try:
        elf = builder.build(project).elf
        outputs = microgen.running.runner.run(project, inputs, elf=elf).outputs
        (found, *_) = compare.compare(project, inputs, outputs, elf)
    finally:
        source.write_text(text)
    return found


def test_an_error_beyond_the_bound_is_found_and_named(
    floats: tuple[Path, dict[str, Array]], compared: RunResult
) -> None:
    """The error is found even if it is far less than 1e-5 of the summed values."""
    project, inputs = floats
    (good, *_) = compared.verdicts
    assert good.layers is not None
    bound = next(held.bound for held in good.layers.held if held.tensor == "layer2")
    assert bound < 1e-5
    within, beyond = (f"out0[0] += {bound * k:.9g}F;" for k in (0.5, 2.5))
    assert _broken(project, within, inputs).ok
    found = _broken(project, beyond, inputs)
    assert not found.ok
    assert found.difference is not None
    assert (found.difference.layer, found.difference.index) == ("layer2", (0, 0))
    assert re.search(r"expected \S+ within \S+ \(gamma\(n \+ 2\)", str(found))
