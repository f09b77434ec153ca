"""Compares random ONNX models: the C for this machine with the numpy reference, and each tensor of
ONNX Runtime with the reference on the runtime's own inputs."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import microgen
from microgen import frontends
from microgen.base.errors import InternalError, MicrogenError
from microgen.frontends.model_format import OracleError
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir import beside
from microgen.graph.ir.beside import Expected
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.pipeline import Compiled
from tests.differential import program
from tests.frontends.onnx.graphs.case import SAMPLES, Case

_MEANS = ("mean", "nn.avg_pool2d")
_TIE = 1e-3  # how close to a half means are that ONNX Runtime may round the other way


@dataclass(frozen=True)
class Checked:
    """What was found about some models. ``compared`` counts tensors that C and ONNX Runtime had to
    agree about, ``vacuous`` those for which any value was allowed. ``wrong`` are sentences.
    ``refused`` are sentences of models that microgen refuses."""

    wrong: tuple[str, ...]
    refused: tuple[str, ...]
    compared: int
    vacuous: int


def check(cases: Sequence[Case], folder: Path) -> Checked:
    """Compile the models into one program, run it, and compare it."""
    folder.mkdir(parents=True, exist_ok=True)
    wrong, refused, made = list[str](), list[str](), list[tuple[Case, Compiled]]()
    for case in cases:
        try:
            made.append((case, _compiled(case, folder)))
        except InternalError as error:
            wrong.append(f"seed {case.seed}: {error}")
        except MicrogenError as error:
            refused.append(f"seed {case.seed}: {error}")
        except Exception as error:
            wrong.append(f"seed {case.seed}: {''.join(traceback.format_exception(error)[-3:])}")
    found = [*_by_runtime(made, folder), *_by_c(made, folder)]
    numbers = [one for one in found if not isinstance(one, str)]
    wrong += [one for one in found if isinstance(one, str)]
    vacuous = sum(bool(np.isinf(one.bound).any()) for one in numbers)
    return Checked(tuple(wrong), tuple(refused), len(numbers), vacuous)


def _compiled(case: Case, folder: Path) -> Compiled:
    path = folder / f"n{case.seed}.onnx"
    path.write_bytes(case.model.SerializeToString())
    return microgen.compile_model(path, "native", name=f"n{case.seed}", **case.options)


def _by_runtime(made: Sequence[tuple[Case, Compiled]], folder: Path) -> Iterator[Expected | str]:
    for case, _ in made:
        path = folder / f"n{case.seed}.onnx"
        graph, oracle = frontends.load(path), OnnxRuntime()
        samples = [[given[name] for name in graph.inputs] for given in case.samples]
        try:
            layers = [*oracle.layers(frontends.files(path), samples)]
            slack = oracle.slack(frontends.files(path), graph)
        except OracleError as error:
            yield f"seed {case.seed}: {error}"
            continue
        for given, found in zip(case.samples, layers, strict=True):
            for one in beside.walk(graph, given, registry(), found, slack=slack):
                yield from _judged(_within_1(one), graph, f"seed {case.seed}, ONNX Runtime")
                yield from _off_ties(one, graph, {**given, **found}, case.seed)


def _by_c(made: Sequence[tuple[Case, Compiled]], folder: Path) -> Iterator[Expected | str]:
    if not made:
        return
    try:
        built = program.build([compiled for _, compiled in made], folder, SAMPLES)
    except program.ProgramError as error:
        if len(made) == 1:
            yield f"seed {made[0][0].seed}: {error}"
            return
        for one in made:
            yield from _by_c([one], folder)
        return
    for k, (case, compiled) in enumerate(made):
        yield from _ran(case, compiled, built, k)


def _ran(
    case: Case, compiled: Compiled, built: program.Program, index: int
) -> Iterator[Expected | str]:
    ports, graph = compiled.program.inputs, compiled.graph
    given = [
        [sample[port.tensor].astype(port.type.dtype.numpy, copy=False) for port in ports]
        for sample in case.samples
    ]
    try:
        results = built.run(index, given)
    except program.ProgramError as error:
        yield f"seed {case.seed}: {error}"
        return
    for sample, arrays in zip(case.samples, results, strict=True):
        names = [port.tensor for port in compiled.program.outputs]
        found = dict(zip(names, arrays, strict=True))
        for one in beside.walk(graph, sample, registry(), found):
            yield from _judged(one, graph, f"seed {case.seed}, C")


def _judged(one: Expected, graph: Graph, what: str) -> Iterator[Expected | str]:
    """The tensor if it is known, and a sentence if it is beyond its bound."""
    if one.found is None:
        return
    if one.found.shape != one.values.shape:
        yield f"{what}: {one.tensor} has the shape {one.found.shape}, not {one.values.shape}"
        return
    yield one
    if beside.exceeds(one.found, one.values, one.bound).any():
        apart = beside.distance(one.found, one.values)
        kinds = [str(graph.types[name]) for name in one.node.inputs]
        yield (
            f"{what}: {one.node.op} {one.tensor} of {kinds} differs by {apart.max():g} in "
            f"{(apart > 0).sum()} of {apart.size}, {one.rules}, {one.node.attrs}"
        )


def _within_1(one: Expected) -> Expected:
    """The tensor, whose integers may differ by 1, also after steps that ONNX Runtime lacks."""
    is_float = one.values.dtype.kind == "f"
    return one if is_float else dataclasses.replace(one, bound=np.minimum(one.bound, 1))


def _off_ties(one: Expected, graph: Graph, values: Mapping[str, Array], seed: int) -> Iterator[str]:
    """A sentence if a mean of integers differs that is not near a half."""
    kind = graph.types[one.tensor]
    if one.node.op not in _MEANS or one.found is None or kind.quant is None:
        return
    data = one.node.inputs[0]
    if data not in values:
        return
    exact = _exact(one, graph, values[data])
    apart = np.abs(exact - np.floor(exact) - 0.5)
    if (apart[one.found != one.values] > _TIE).any():
        yield f"seed {seed}, ONNX Runtime: {one.node.op} {one.tensor} differs off ties"


def _exact(one: Expected, graph: Graph, data: Array) -> Array:
    """The mean before it is rounded, in units of the result's scale, float64."""
    kinds = graph.types[one.node.inputs[0]], graph.types[one.tensor]
    floats = [ArrayType(kind.shape, DType.FLOAT32) for kind in kinds]
    numbers = (data.astype(np.float64) - kinds[0].zero_point).reshape(kinds[0].shape)
    attrs = dataclasses.replace(one.node.attrs, in_float32=False)  # type: ignore[type-var]
    operands = Operands((numbers.astype(np.float32),), (floats[0],), (floats[1],))
    (found,) = registry()[one.node.op].reference(attrs, operands)
    units: Array = found.astype(np.float64) * kinds[0].scale / kinds[1].scale
    return units
