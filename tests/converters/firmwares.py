"""Converted networks as firmware, many in one program of the host, each compared as `microgen run
--compare` does, but without reading layers of the firmware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import microgen
from microgen.base import manifest
from microgen.base.errors import MicrogenError, ToolError
from microgen.base.manifest import ModuleRecord
from microgen.frontends.model_format import OracleError
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import Array
from microgen.pipeline import Compiled
from microgen.running.comparing import compare, stimuli
from microgen.running.comparing.verdict import Verdict
from microgen.running.runner import TracedLayer
from tests.differential import program

EQUAL = "equal"
BY_NUMPY = "equal to the numpy reference alone: "
RANDOM = 2
STRUCTURED = len(stimuli.STRUCTURED)
SAMPLES = STRUCTURED + RANDOM
# Hybrid layers may round to the next step, so there are networks whose outputs have no bound. Their
# floats are this near, in units of the largest element, unless a layer did so.
NEAR = 1e-5


def results(paths: Sequence[Path], folder: Path) -> dict[str, str]:
    """By the files' names: ``EQUAL`` if the firmware computes what the numpy reference and the
    file's runtime do, ``BY_NUMPY`` and the reason if the runtime has no reference kernel, or the
    sentence that refuses the file, or what differs. Raises ProgramError if the firmware does not
    compile."""
    made, said = dict[str, Compiled](), dict[str, str]()
    for k, path in enumerate(paths):
        try:
            made[path.name] = microgen.compile_model(path, "native", name=f"n{k}")
        except MicrogenError as error:
            said[path.name] = str(error)
    return said | (_verdicts(made, folder) if made else {})


def _verdicts(networks: Mapping[str, Compiled], folder: Path) -> dict[str, str]:
    built = program.build([*networks.values()], folder, SAMPLES)
    return {name: _said(built, k) for k, name in enumerate(networks)}


def _said(built: program.Program, index: int) -> str:
    project = built.folder / built.networks[index].program.module
    (record,) = manifest.load(project).modules
    given = stimuli.samples(record.inputs, random=RANDOM)
    try:
        return _compared(built, index, record, _rows(record, given))
    except program.ProgramError:
        # An average of masked steps divides by zero if all of them are masked.
        other = stimuli.samples(record.inputs, random=SAMPLES)
        rows = _rows(record, {name: array[STRUCTURED:] for name, array in other.items()})
    try:
        return _compared(built, index, record, rows)
    except program.ProgramError as error:
        return f"{error} {_refusal(project / record.model.path, rows)}"


def _rows(record: ModuleRecord, given: Mapping[str, Array]) -> list[list[Array]]:
    return [[given[port.tensor][i] for port in record.inputs] for i in range(SAMPLES)]


def _refusal(model: Path, rows: Sequence[Sequence[Array]]) -> str:
    """Why LiteRT does not compute a model either, or ""."""
    try:
        list(LiteRT().layers({"": model.read_bytes()}, rows))
    except OracleError as error:
        return str(error)
    return ""


def _compared(
    built: program.Program, index: int, record: ModuleRecord, rows: list[list[Array]]
) -> str:
    found = zip(*built.run(index, rows), strict=True)
    made = {port.tensor: np.stack(each) for port, each in zip(record.outputs, found, strict=True)}
    project = built.folder / record.module
    one = compare._Module(project, record, rows, made, _no_layers)
    verdicts = [*one.verdicts(has_others=False)]
    wrong = [str(each) for each in verdicts if not each.is_skipped and not _is_ok(each)]
    alone = [f"{BY_NUMPY}{each.why_no_layers}" for each in verdicts if each.is_skipped]
    return next(iter((*wrong, *alone)), EQUAL)


def _is_ok(verdict: Verdict) -> bool:
    is_near = verdict.unjudged and verdict.off < NEAR and verdict.difference is None
    return verdict.ok or bool(is_near)


def _no_layers(record: ModuleRecord, chosen: tuple[int, ...]) -> list[TracedLayer]:
    raise ToolError("a program of many networks")
