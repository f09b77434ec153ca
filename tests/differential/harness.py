"""Runs networks in C with sanitizers, in numpy and in LiteRT, and compares the three."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import microgen
from microgen.base.errors import MicrogenError
from microgen.pipeline import Compiled
from tests.differential import evaluation, litert, program
from tests.differential.generator import Case
from tests.differential.stock import SAMPLES


@dataclass(frozen=True)
class Failure:
    """The error of a network, in one line."""

    case: Case
    what: str


def check(cases: Sequence[Case], folder: Path) -> list[Failure]:
    """Compiles, runs and compares the networks. Returns the first failure of each that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    found = [(case, _compiled(case, folder)) for case in cases]
    failures = [Failure(case, what) for case in cases if (what := _by_numpy(case))]
    failures += [Failure(case, what) for case, what in found if isinstance(what, str)]
    failed = {failure.case.seed for failure in failures}
    sound = [(case, of) for case, of in found if not isinstance(of, str)]
    failures += _by_c([(case, of) for case, of in sound if case.seed not in failed], folder)
    return list({failure.case.seed: failure for failure in reversed(failures)}.values())


def _compiled(case: Case, folder: Path) -> Compiled | str:
    model = folder / f"network{case.seed}.tflite"
    model.write_bytes(case.net.model(case.outputs))
    try:
        return microgen.compile_model(model, "native", name=f"n{case.seed}", **case.options)
    except Exception as error:
        return f"microgen fails: {_said(error)}"


def _said(error: Exception) -> str:
    """The text of a refusal, or the end of a crash's traceback."""
    if isinstance(error, MicrogenError):
        return str(error)
    return "crash\n" + "".join(traceback.format_exception(error)[-3:])


def _by_numpy(case: Case) -> str:
    """Where LiteRT or the whole graph differs from the result of each layer by itself, or ""."""
    net = case.net
    try:
        wrong = litert.difference(net)
        graph = evaluation.graph_of(net, case.outputs)
    except Exception as error:
        return _said(error)
    return wrong or _difference(case, evaluation.computed(graph, net.values))


def _difference(case: Case, found: evaluation.Samples) -> str:
    net = case.net
    for name in case.outputs:
        for i, expected in enumerate(net.values[name]):
            others = [arrays[i] for arrays in net.shaken.get(name, [])]
            wrong = evaluation.differing(found[name][i], expected, others)
            if wrong:
                return f"differs in {name} of sample {i}: {wrong}"
    return ""


def _by_c(cases: list[tuple[Case, Compiled]], folder: Path) -> list[Failure]:
    if not cases:
        return []
    try:
        built = program.build([compiled for _, compiled in cases], folder, SAMPLES)
    except program.ProgramError as error:
        if len(cases) == 1:
            return [Failure(cases[0][0], str(error))]
        return [failure for one in cases for failure in _by_c([one], folder)]
    results = [(case, _of_program(case, built, k)) for k, (case, _) in enumerate(cases)]
    return [Failure(case, what) for case, what in results if what]


def _of_program(case: Case, built: program.Program, index: int) -> str:
    inputs = [[case.net.values[name][i] for name in case.net.inputs] for i in range(SAMPLES)]
    try:
        found = built.run(index, inputs)
    except program.ProgramError as error:
        return f"C: {error}"
    by_name = {name: [sample[k] for sample in found] for k, name in enumerate(case.outputs)}
    wrong = _difference(case, by_name)
    return f"C {wrong}" if wrong else ""


# Failing networks, made small and kept


def shrunk(case: Case, folder: Path) -> Case:
    """The first layer that fails by itself.

    If there is none, it is the network cut down to the first layer that fails together with
    everything that it depends on.
    """
    for op in case.net.operators:
        alone = Case(case.seed, case.net.alone(op), [str(name) for name in op.outputs])
        if check([alone], folder):
            return alone
    for name in case.net.computed:
        small = dataclasses.replace(case, net=case.net.pruned(name), outputs=[name])
        if check([small], folder):
            return small
    return case


def keep(failure: Failure, folder: Path) -> str:
    """Saves the cut-down network and its inputs, and says what fails and where the files are."""
    small = shrunk(failure.case, folder / "work")
    found = check([small], folder / "work")
    what = found[0].what if found else failure.what
    (folder / "network.tflite").write_bytes(small.net.model(small.outputs))
    inputs: dict[str, Any] = {n: np.stack(small.net.values[n]) for n in small.net.inputs}
    np.savez(folder / "inputs.npz", **inputs)
    layers = " -> ".join(op.code for op in small.net.operators)
    return f"seed {failure.case.seed}: {what}\n  cut down to {layers}: {folder}/network.tflite"
