"""Bounds of float layers. Random networks of floats never exceed them, in C and in LiteRT.

An error of one unit in the last place too many is found, and the layer is named.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import microgen
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir import beside
from microgen.graph.ir.beside import Expected, Kept, Slack, no_slack
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ops import registry
from tests.differential import evaluation, litert, program
from tests.differential.generator import Case, generate
from tests.differential.stock import SAMPLES
from tests.kernels.conformance import within

FLOATS = ("float32", "hybrid")
AT_ONCE = 25  # networks that are compiled together
Found = list[dict[str, Array]]  # the found tensors of each sample


def _case(seed: int) -> Case:
    """The seed's network.

    All tensors of every other network are outputs. The others keep theirs, so layers between
    outputs have to pass their bounds on.
    """
    case = generate(seed, FLOATS, is_shaken=False)
    return dataclasses.replace(case, outputs=case.net.computed) if seed % 2 else case


def _walked(
    graph: Graph, case: Case, found: Found, slack: Slack = no_slack
) -> Iterator[tuple[int, Expected]]:
    kept = Kept.at_first(graph)
    for i, known in enumerate(found):
        given = {name: case.net.values[name][i] for name in graph.inputs}
        for one in beside.walk(graph, given, registry(), known, kept, slack=slack):
            if one.found is not None:
                yield i, one


def _beyond(what: str, case: Case, layers: Iterator[tuple[int, Expected]]) -> list[str]:
    return [
        f"seed {case.seed}, {what}: {one.node.op} {one.tensor} of sample {i}, {one.rules}"
        for i, one in layers
        if within.wrong(one).any()
    ]


def _by_c(cases: Sequence[Case], folder: Path) -> list[str]:
    """Where the firmware, compiled for the host, exceeds a bound."""
    folder.mkdir(parents=True, exist_ok=True)
    compiled = []
    for case in cases:
        model = folder / f"{case.seed}.tflite"
        model.write_bytes(case.net.model(case.outputs))
        compiled.append(microgen.compile_model(model, "native", name=f"n{case.seed}"))
    built, wrong = program.build(compiled, folder, SAMPLES), list[str]()
    for k, (case, of) in enumerate(zip(cases, compiled, strict=True)):
        inputs = [[case.net.values[name][i] for name in case.net.inputs] for i in range(SAMPLES)]
        made = built.run(k, inputs)
        found = [dict(zip(of.graph.outputs, arrays, strict=True)) for arrays in made]
        wrong += _beyond("C", case, _walked(of.graph, case, found))
    return wrong


def _by_litert(case: Case) -> list[str]:
    """Where LiteRT exceeds a bound. Some choices are LiteRT's own."""
    part = case.net.without(litert.is_lacking)
    if not part.operators:
        return []
    model, graph = part.model(part.computed), evaluation.graph_of(part, part.computed)
    samples = [[part.values[name][i] for name in part.inputs] for i in range(SAMPLES)]
    layers = [dict(every) for every in LiteRT().layers({".tflite": model}, samples)]
    found = [{name: every[name] for name in part.computed} for every in layers]
    own = dataclasses.replace(case, net=part)
    return _beyond("LiteRT", case, _walked(graph, own, found, LiteRT().slack({}, graph)))


def _check(seeds: Sequence[int], folder: Path) -> None:
    cases = [_case(seed) for seed in seeds]
    wrong = _by_c(cases, folder)
    if not LiteRT().lacking():
        wrong += [what for case in cases for what in _by_litert(case)]
    assert not wrong, "\n".join(wrong)
    shutil.rmtree(folder)


def test_random_networks_of_floats_stay_within_their_bounds(tmp_path: Path) -> None:
    _check(range(10), tmp_path / "some")


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1500, AT_ONCE))
def test_five_hundred_networks_of_floats_stay_within_their_bounds(
    first: int, tmp_path: Path
) -> None:
    _check(range(first, first + AT_ONCE), tmp_path / "some")
