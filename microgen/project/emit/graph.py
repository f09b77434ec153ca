"""The graph executor's files: the code that creates and runs it, and the symbols of its data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

from microgen.graph import params_file
from microgen.planner.executors import stored, tables
from microgen.planner.executors.graph import ExecutorGraph
from microgen.planner.program.types import Device, FirmwareConstant, Port
from microgen.project.emit.header import device, header
from microgen.project.emit.signature import described
from microgen.project.emit.unit import Unit

FOLDER = "model/executor-config/graph"
_ALIGNMENT = 16  # of the first array's elements


def parameters(unit: Unit) -> dict[str, FirmwareConstant]:
    """The constants that the graph knows, by name, in the order of the parameter file."""
    # Constants that modules are given are C arrays.
    known = [c for c in unit.program.constants if c.name not in unit.program.held_constants]
    # Widths decrease, so if the first array is aligned to its elements, all that follow are.
    constants = sorted(known, key=lambda c: -c.array.dtype.itemsize)
    return {constant.name: constant for constant in constants}


def parameter_file(unit: Unit) -> bytes:
    """The parameter file that the executor loads."""
    return params_file.dumps({name: c.array for name, c in parameters(unit).items()})


def runner(unit: Unit, graph: ExecutorGraph) -> dict[str, Any]:
    """Values of ``src/graph_lib0.c.j2``."""
    pointer_bytes = unit.options.pointer_bytes
    counts = tables.counts(graph)
    names = [node.name for node in graph.nodes if node.op == "null"]
    return {
        **header(unit),
        "arena": unit.arena,
        "counts": ", ".join(map(str, astuple(counts))),
        "table_bytes": tables.table_bytes(counts, pointer_bytes),
        "executor_bytes": stored.executor_bytes(unit.program, graph, pointer_bytes),
        "json_bytes": len(graph.dumps()),
        "parameter_bytes": len(parameter_file(unit)),
        "input_ports": [_port(p, names.index(p.name), "inputs", unit) for p in unit.program.inputs],
        "output_ports": [_port(p, i, "outputs", unit) for i, p in enumerate(unit.program.outputs)],
        "has_parameters": bool(parameters(unit)),
        "devices": [_device(d) for d in unit.program.devices],
    }


def _device(entry: Device) -> dict[str, Any]:
    return {**device(entry), "context": f"devices->{entry.name}"}


def data(unit: Unit) -> dict[str, Any]:
    """Values of ``src/graph.S.j2``: each constant is a symbol inside the parameter file."""
    places = list(_places(unit))
    first = places[0]["offset"] if places else 0
    return {
        **unit.common(),
        "file": f"{unit.module}_graph.S",
        "alignment": _ALIGNMENT,
        # The first array is aligned, not the header of the file in front of it.
        "padding": -first % _ALIGNMENT,
        "constants": places,
    }


def _places(unit: Unit) -> Iterator[dict[str, Any]]:
    constants = parameters(unit)
    offsets = params_file.data_offsets({name: c.array for name, c in constants.items()})
    for name, constant in constants.items():
        yield {
            "symbol": unit.constants[name],
            "offset": offsets[name],
            "nbytes": constant.array.nbytes,
        }


def _port(port: Port, index: int, struct: str, unit: Unit) -> dict[str, Any]:
    data = f"{struct}->{port.name}"
    return {"name": port.name, "index": index, "data": data, **described(port.type, unit)}
