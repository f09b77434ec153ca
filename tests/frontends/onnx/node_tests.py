"""ONNX's node tests: each is a model of one operator (or of the function that defines it), with
inputs and the expected outputs.

None of them has initialisers: shapes, axes, weights and scales are inputs of the model. So each is
tried in two ways: as it is, and with every input bound whose value the importer asks for.

``python -m tests.frontends.onnx.node_tests`` prints how many pass, and why others do not. With
``--record`` it writes the counts of each operator; then ``microgen ops --markdown`` has them.
"""

from __future__ import annotations

import functools
import json
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import onnx
from onnx import numpy_helper

import microgen
from microgen import frontends
from microgen.base.errors import InternalError, MicrogenError
from microgen.frontends.onnx import node_tests
from microgen.frontends.onnx.node_tests import NodeTestCounts
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.pipeline import Compiled

_RECORD = Path(node_tests.__file__).with_name(node_tests.FILE)
KINDS = ("ok", "refused", "wrong", "broken")
_TRANSFORMS = ("DFT", "STFT")
# ONNX's reference computes the expected outputs of these in four fifths of all its time.
_POOLS = ("AveragePool", "LpPool", "MaxPool")
_UNITS = 2.0**-20  # of the largest result, for transforms
_HALVES = {"float16": 2.0**-11, "bfloat16": 2.0**-8}  # the largest error of a rounding
_ROUNDINGS = 4  # in a test of numbers of 16 bits
_HINT = re.compile(r"--bind (\S+)=FILE\.npy")


@dataclass(frozen=True)
class Case:
    """A node test. ``op`` is the operator that it is for."""

    name: str
    op: str
    model: onnx.ModelProto
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    rtol: float
    atol: float

    @property
    def named_inputs(self) -> dict[str, Any]:
        """The inputs by name."""
        names = [info.name for info in self.model.graph.input]
        return dict(zip(names, self.inputs, strict=False))


@dataclass(frozen=True)
class Result:
    """What became of a test: one of KINDS, and why. ``model`` is what was read, with ``bound``
    inputs as constants; ``graph`` is None if it was refused."""

    case: Case
    kind: str
    why: str
    model: onnx.ModelProto
    graph: Graph | None = None
    bound: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.case.name} ({', '.join(self.bound)}): {self.kind}: {self.why}"


@functools.cache
def cases_without_pools() -> tuple[Case, ...]:
    """The node tests in their order, but for those of pools, which take ONNX long to prepare."""
    names = [f"onnx.backend.test.case.node.{op.lower()}" for op in _POOLS]
    left_out = [name for name in names if name not in sys.modules]
    sys.modules.update({name: ModuleType(name) for name in left_out})
    try:
        return tuple(case for case in _collected() if case.op not in _POOLS)
    finally:
        for name in left_out:
            del sys.modules[name]


@functools.cache
def cases() -> tuple[Case, ...]:
    """All node tests, in their order."""
    return _collected()


def _collected() -> tuple[Case, ...]:
    from onnx.backend.test.case import base
    from onnx.backend.test.case.node import collect_testcases

    # ONNX parses every test's source for its documentation, which takes half of the time.
    without_source = mock.patch.object(base, "process_snippet", lambda _op, name, _test: (name, ""))
    with warnings.catch_warnings(), without_source:
        warnings.simplefilter("ignore")
        found = [test for test in collect_testcases(None) if test.model is not None]
    own = {test.name: _operator(test.model) for test in found if "_expanded" not in test.name}
    return tuple(
        Case(
            test.name,
            own.get(test.name.split("_expanded")[0], _operator(test.model)),
            test.model,
            *map(tuple, test.data_sets[0]),
            test.rtol,
            test.atol,
        )
        for test in found
    )


def _operator(model: onnx.ModelProto) -> str:
    node = model.graph.node[0]
    return f"{node.domain}.{node.op_type}" if node.domain else str(node.op_type)


def tried(case: Case, path: Path, *, binds: bool) -> Result:
    """What becomes of a test. ``path`` is a file for its model. ``binds``: inputs that the importer
    asks for are bound, and if it asks for none, all but the first."""
    names = list(case.named_inputs)
    bound: tuple[str, ...] = ()
    while True:
        found = _read(case, bound, path)
        if found.kind != "refused" or not binds:
            return found
        wanted = set(_HINT.findall(found.why)) & {*names} - {*bound}
        if not wanted and bound != tuple(names[1:]) and len(names) > 1:
            last = _read(case, tuple(names[1:]), path)
            return found if last.kind == "refused" else last
        if not wanted:
            return found
        bound = tuple(name for name in names if name in {*bound, *wanted})


def _read(case: Case, bound: Sequence[str], path: Path) -> Result:
    model = _bound(case, bound)
    path.write_bytes(model.SerializeToString())
    graph = None
    try:
        graph = frontends.load(path)
        why = differs(case, _by_numpy(case, graph))
        kind = "wrong" if why else "ok"
    except InternalError as error:
        kind, why = "broken", str(error)
    except MicrogenError as error:
        kind, why = "refused", str(error)
    except Exception as error:  # which is what the tests look for
        kind, why = "broken", f"{type(error).__name__}: {error}"
    return Result(case, kind, why, model, graph, tuple(bound))


def _bound(case: Case, bound: Sequence[str]) -> onnx.ModelProto:
    """The model with some inputs as initialisers."""
    found = onnx.ModelProto()
    found.CopyFrom(case.model)
    values = case.named_inputs
    kept = [info for info in found.graph.input if info.name not in bound]
    del found.graph.input[:]
    found.graph.input.extend(kept)
    for name in bound:
        if isinstance(values[name], np.ndarray | np.generic):
            found.graph.initializer.append(numpy_helper.from_array(np.asarray(values[name]), name))
    return found


def _by_numpy(case: Case, graph: Graph) -> list[Array]:
    values = case.named_inputs
    given = {name: _widened(array_of(values[name])) for name in graph.inputs}
    found = evaluate(graph, given, registry())
    return [found[name] for name in graph.outputs]


def compiled(result: Result, path: Path, name: str) -> Compiled | Result:
    """The C of a test that is ok, for this machine, or what else became of it. ``path`` is a file
    for its model, ``name`` the C module's."""
    path.write_bytes(result.model.SerializeToString())
    try:
        return microgen.compile_model(path, "native", name=name)
    except InternalError as error:
        return replace(result, kind="broken", why=str(error))
    except MicrogenError as error:
        return replace(result, kind="refused", why=str(error))


def differs(case: Case, found: Sequence[Array]) -> str:
    """A sentence if outputs are not the expected ones; otherwise empty."""
    return "; ".join(f"{name}: {sentence}" for name, sentence in _differences(case, found))


def _differences(case: Case, found: Sequence[Array]) -> Iterator[tuple[str, str]]:
    for info, own, expected in zip(case.model.graph.output, found, case.outputs, strict=True):
        stored = array_of(expected)
        wanted, rtol, atol = _widened(stored), case.rtol, _atol(case, stored)
        # The expected result was rounded to 16 bits, and so were the ones that led to it.
        if wanted is not stored:
            rtol = atol = _ROUNDINGS * _HALVES[stored.dtype.name]
        if own.shape != wanted.shape or own.dtype != wanted.dtype:
            yield info.name, f"{own.dtype}{own.shape}, not {wanted.dtype}{wanted.shape}"
        elif not np.allclose(own, wanted, rtol=rtol, atol=atol, equal_nan=True):
            yield info.name, f"{own.ravel()[:8]}, not {wanted.ravel()[:8]}"


def array_of(value: Any) -> Array:
    """The array of a test's value, which may be a message of ONNX."""
    is_proto = isinstance(value, onnx.TensorProto)
    return numpy_helper.to_array(value) if is_proto else np.asarray(value)


def _widened(value: Array) -> Array:
    """The value as the graph has it: 16-bit floats are float32."""
    return value.astype(np.float32) if value.dtype.name in _HALVES else value


def _atol(case: Case, expected: Array) -> float:
    """The test's tolerance. It is too small for transforms whose sums of large float32 numbers are
    0; onnxruntime does not pass them, either."""
    largest = float(np.abs(expected).max(initial=0)) if case.op in _TRANSFORMS else 0.0
    return max(case.atol, _UNITS * largest)


def all_tried(chosen: Iterable[Case], path: Path, *, binds: bool) -> list[Result]:
    """What becomes of tests."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [tried(case, path, binds=binds) for case in chosen]


def counts(results: Iterable[Result]) -> dict[str, int]:
    """The number of results of each kind."""
    found = Counter(result.kind for result in results)
    return {kind: found[kind] for kind in KINDS}


def by_operator(bound: Iterable[Result], free: Iterable[Result]) -> dict[str, NodeTestCounts]:
    """Operator -> how many tests there are and how many pass, in the operators' order."""
    every, tests = list(bound), Counter(result.case.op for result in free)
    passed = [
        Counter(result.case.op for result in results if result.kind == "ok")
        for results in (every, free)
    ]
    return {op: NodeTestCounts(n, passed[0][op], passed[1][op]) for op, n in sorted(tests.items())}


def record(found: Mapping[str, NodeTestCounts]) -> None:
    """Write the counts to the file that ``docs/reference/supported-ops.md`` is made from."""
    rows = (f"  {json.dumps(op)}: {json.dumps(counts)}" for op, counts in found.items())
    _RECORD.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def main() -> None:
    """Print the counts and what is not ok; with --record write the counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.onnx"
        both = [all_tried(cases(), path, binds=binds) for binds in (True, False)]
    for name, results in zip(("bound", "as they are"), both, strict=True):
        print(name, counts(results))
    for result in both[0]:
        if result.kind != "ok":
            print(result)
    if "--record" in sys.argv[1:]:
        record(by_operator(*both))


if __name__ == "__main__":
    main()
