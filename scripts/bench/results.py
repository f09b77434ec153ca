"""The committed results, ``docs/benchmarks.json``: records, and the file's text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import cattrs

from microgen.base.formats.structuring import structure
from scripts.bench.matrix import ROOT, Combination, Matrix

NAME = "benchmarks.json"
FILE = ROOT / "docs" / NAME
FORMAT = 1


@dataclass(frozen=True)
class Figures:
    """Of one firmware and one inference: ``make bench-check`` compares all of them.

    ``instructions`` are retired, ``cycles`` modelled. The others are bytes: ``arena_io`` is the
    workspace with input and output, ``ram`` everything in writable memory with the stack that
    the board reserves, ``stack`` the proven bound, ``code`` the image without ``weights``.
    """

    instructions: int
    cycles: int
    arena_io: int
    ram: int
    stack: int
    code: int
    weights: int


FIGURES = tuple(f.name for f in fields(Figures))


@dataclass(frozen=True)
class Layer:
    """An operator call: the model's first name for it, the output's elements, its costs."""

    name: str
    op: str
    kernel: str
    shape: tuple[int, ...]
    macs: int
    instructions: int
    cycles: int

    @property
    def elements(self) -> int:
        """Elements of the output."""
        return math.prod(self.shape)


_COLUMNS = tuple(f.name for f in fields(Layer))


@dataclass(frozen=True)
class Result:
    """One measurement, or in ``refused`` why there is no firmware.

    ``arena_bound`` is the lower bound of ``arena_io``, ``stack_used`` the painted stack's mark;
    bytes. ``generate_s`` and ``build_s`` are CPU seconds. If another ``--optimize`` generates the
    same files, ``same_as`` names it, and its result has the layers.
    """

    network: str
    board: str
    optimize: str
    generate_s: float = 0.0
    build_s: float = 0.0
    refused: str = ""
    same_as: str = ""
    arena_bound: int = 0
    stack_used: int = 0
    figures: Figures | None = None
    layers: tuple[Layer, ...] = ()

    @property
    def of(self) -> Combination:
        """The measured combination."""
        return Combination(self.network, self.board, self.optimize)


@dataclass(frozen=True)
class MeasuredNetwork:
    """The file that was measured: its SHA-256, and the network's multiply-accumulates."""

    sha256: str
    macs: int


@dataclass(frozen=True)
class MeasuredBoard:
    """A board, and the core and clock of its modelled cycles. ``fitted``: part of the core's
    timings are assumed."""

    title: str
    cpu: str
    core: str
    fitted: bool
    clock_hz: int
    flash_wait_states: int


@dataclass(frozen=True)
class Results:
    """The whole file. ``tools`` are the versions of the compilers and emulators."""

    format: int = FORMAT
    tools: dict[str, str] = field(default_factory=dict)
    networks: dict[str, MeasuredNetwork] = field(default_factory=dict)
    boards: dict[str, MeasuredBoard] = field(default_factory=dict)
    results: tuple[Result, ...] = ()

    @cached_property
    def by_combination(self) -> dict[Combination, Result]:
        """The results by their combinations."""
        return {result.of: result for result in self.results}

    def layers(self, result: Result) -> tuple[Layer, ...]:
        """The layers of a result, or of the result that it equals."""
        if not result.same_as:
            return result.layers
        same = Combination(result.network, result.board, result.same_as)
        return self.by_combination[same].layers

    def updated(self, new: Results, matrix: Matrix) -> Results:
        """These results with new ones in their places, and without any that are not in the matrix.
        The order is the matrix's."""
        merged = {**self.by_combination, **new.by_combination}
        kept = [merged[c] for c in matrix.combinations() if c in merged]
        networks, boards = {**self.networks, **new.networks}, {**self.boards, **new.boards}
        return Results(
            FORMAT,
            dict(sorted({**self.tools, **new.tools}.items())),
            {name: networks[name] for name in matrix.networks if name in networks},
            {name: boards[name] for name in matrix.boards if name in boards},
            tuple(kept),
        )


def load(path: Path = FILE) -> Results:
    """The results in a file; none if there is no file. Raises ValueError if it is damaged."""
    if not path.exists():
        return Results()
    data = json.loads(path.read_text(encoding="utf-8"))
    for row in data["results"]:
        layers = row.get("layers", [])
        row["layers"] = [dict(zip(_COLUMNS, layer, strict=True)) for layer in layers]
    return structure(data, Results)


def text(results: Results) -> str:
    """The file: a line for each record and for each layer, so that differences can be read. A
    layer is the list of its fields."""
    data = cattrs.unstructure(results)
    rows = ",\n".join("".join(_result(row)) for row in data.pop("results"))
    heads = "".join(f' "{key}": {_records(value)},\n' for key, value in data.items())
    return f'{{\n{heads} "results": [\n{rows}\n ]\n}}\n'


def _records(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(one)}" for key, one in value.items())
    return f"{{\n{lines}\n }}"


def _result(row: dict[str, Any]) -> Iterator[str]:
    """A result without its empty fields, which are the defaults."""
    layers = ",\n".join(f"    {json.dumps(list(layer.values()))}" for layer in row.pop("layers"))
    line = json.dumps({key: value for key, value in row.items() if value})
    yield f"  {line}" if not layers else f'  {line[:-1]}, "layers": [\n{layers}\n  ]}}'
