"""The models' own files, below ``model/codegen/host``: their names and their templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from microgen.base.files import FileTree
from microgen.base.pieces import Content, LargeContent, encoded
from microgen.planner.executors.graph import ExecutorGraph
from microgen.project.emit import external, graph
from microgen.project.emit.constants import constants
from microgen.project.emit.environment import environment
from microgen.project.emit.header import header
from microgen.project.emit.memory import SHARED_FILE, memory, shared, workspace
from microgen.project.emit.operators import operators
from microgen.project.emit.packed import metadata, packed, registry
from microgen.project.emit.runner import runner
from microgen.project.emit.signature import shapes
from microgen.project.emit.unit import Unit, note_file
from microgen.relay.blob import writer

_HOST = "model/codegen/host"
_LARGE = 2**20  # bytes of constants whose text is not kept in memory

Outputs = dict[str, tuple[str, dict[str, Any]]]  # path -> template and its values


def emit(*units: Unit) -> FileTree:
    """The files of all models of a firmware, and the files that they share."""
    tree = emit_common(units)
    for unit in units:
        tree = tree.merged(emit_model(unit))
    return tree


def emit_common(units: Sequence[Unit]) -> FileTree:
    """The registry of packed functions and the shared workspace, if there are any."""
    outputs: Outputs = {}
    if any(unit.has_registry for unit in units):
        name = f"src/{units[0].module}_registry.c"
        outputs[name] = ("src/registry.c.j2", registry(units))
    if external.runtimes(units):
        name = f"src/{units[0].module}_loaders.c"
        outputs[name] = ("src/loaders.c.j2", external.loaders(units))
    common = shared(units)
    if common:
        outputs[f"src/{SHARED_FILE}"] = ("src/workspace.S.j2", workspace(common, units))
    return _rendered(outputs)


def emit_model(unit: Unit) -> FileTree:
    """Header, runner, operators, constants and memory symbols; with the packed interface also the
    metadata."""
    outputs: Outputs = {
        f"include/tvmgen_{unit.module}.h": ("include/tvmgen.h.j2", header(unit)),
        **_sources(unit, operators(unit), "lib1.h", "lib1.c"),
    }
    outputs |= _ahead_of_time(unit) if unit.graph is None else _graph(unit, unit.graph)
    for name, values in external.libraries(unit).items():
        outputs[f"src/{name}"] = ("src/external.c.j2", values)
    if unit.blob:
        # The calls of the blob's modules, and the constants that the modules are given.
        outputs |= _parameters(unit) if unit.program.held_constants else {}
        outputs |= _sources(unit, external.modules(unit), "modules.c") | _shapes(unit)
    # Pools of the caller have no symbols.
    if any(p.is_internal and p.nbytes for p in unit.plan.pools):
        outputs |= _sources(unit, memory(unit), "memory.S")
    return _rendered(outputs).merged(_graph_data(unit)).merged(_blob(unit))


def _sources(unit: Unit, values: dict[str, Any], *names: str) -> Outputs:
    """Files below ``src``, each from the template of its name."""
    return {f"src/{unit.module}_{name}": (f"src/{name}.j2", values) for name in names}


def _parameters(unit: Unit) -> Outputs:
    return _sources(unit, constants(unit), "params.h", "params.c")


def _shapes(unit: Unit) -> Outputs:
    return _sources(unit, shapes(unit), "tensors.h", "tensors.c")


def _packed(unit: Unit) -> Outputs:
    return _sources(unit, packed(unit), "packed.h", "packed.c")


def _blob(unit: Unit) -> FileTree:
    if not unit.blob:
        return FileTree({})
    options = unit.options
    source = writer.source(
        unit.blob, options.model_file, options.blob_prefix, note=note_file(unit.module)
    )
    return FileTree({f"{_HOST}/src/{unit.module}_blob.c": source})


def _ahead_of_time(unit: Unit) -> Outputs:
    outputs = _sources(unit, runner(unit), "lib0.c") | _parameters(unit)
    if unit.options.interface == "packed":
        outputs |= _shapes(unit) | _sources(unit, metadata(unit), "metadata.c")
        outputs |= {} if unit.options.unpacked else _packed(unit)
    return outputs


def _graph(unit: Unit, executor_graph: ExecutorGraph) -> Outputs:
    module, runs = unit.module, graph.runner(unit, executor_graph)
    return {
        f"include/tvmgen_{module}_graph.h": ("include/tvmgen_graph.h.j2", unit.common("GRAPH_")),
        f"src/{module}_lib0.c": ("src/graph_lib0.c.j2", runs),
        **_sources(unit, graph.data(unit), "graph.S"),
        **_shapes(unit),
        **_packed(unit),
    }


def _graph_data(unit: Unit) -> FileTree:
    """The parameter file that the graph executor reads on the board; the graph itself is a file of
    the Model Library Format."""
    if unit.graph is None:
        return FileTree({})
    return FileTree({f"{graph.FOLDER}/{unit.module}.params": graph.parameter_file(unit)})


def _rendered(outputs: Outputs) -> FileTree:
    return FileTree({f"{_HOST}/{path}": _content(*output) for path, output in outputs.items()})


def _content(name: str, values: dict[str, Any]) -> Content:
    template = environment(f"project/{_HOST}").get_template(name)
    if values.get("constant_bytes", 0) < _LARGE:
        return template.render(values).encode()
    return LargeContent(lambda: encoded(template.generate(values)))


def operators_alone(unit: Unit) -> Mapping[str, bytes]:
    """Each primitive function's name -> a C source that defines it alone, without a note."""
    template = environment(f"project/{_HOST}").get_template("src/lib1.c.j2")
    own = unit.program.kernel_functions
    # A program of one function each, because the template defines all functions of a program.
    programs = {f.name: replace(unit.program, functions=(f,)) for f in own}
    return {
        name: template.render({**operators(replace(unit, program=program)), "note": ""}).encode()
        for name, program in programs.items()
    }
