"""The models' own files, below ``model/codegen/host``: which there are, and their templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from microgen.base.files import FileTree
from microgen.planner.executors.graph import ExecutorGraph
from microgen.project.emit import external, graph, shared
from microgen.project.emit.constants import constants
from microgen.project.emit.environment import environment
from microgen.project.emit.header import header
from microgen.project.emit.memory import memory
from microgen.project.emit.metadata import metadata
from microgen.project.emit.operators import operators
from microgen.project.emit.packed import packed, registry
from microgen.project.emit.runner import runner
from microgen.project.emit.signature import shapes
from microgen.project.emit.unit import Unit, note_file
from microgen.relay.blob import writer

_HOST = "model/codegen/host"

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
    common = shared.shared(units)
    if common:
        values = shared.workspace(common, units)
        outputs[f"src/{shared.FILE}"] = ("src/workspace.S.j2", values)
    return _rendered(outputs)


def emit_model(unit: Unit) -> FileTree:
    """Header, runner, operators, constants and memory symbols; with the packed interface also the
    metadata."""
    module = unit.module
    outputs: Outputs = {
        f"include/tvmgen_{module}.h": ("include/tvmgen.h.j2", header(unit)),
        f"src/{module}_lib1.h": ("src/lib1.h.j2", operators(unit)),
        f"src/{module}_lib1.c": ("src/lib1.c.j2", operators(unit)),
    }
    if unit.graph is not None:
        outputs |= _graph(unit, unit.graph)
    else:
        outputs |= _ahead_of_time(unit)
    for name, values in external.libraries(unit).items():
        outputs[f"src/{name}"] = ("src/external.c.j2", values)
    if unit.blob:
        outputs |= _loaded(unit)
    if any(p.is_internal and p.nbytes for p in unit.plan.pools):
        outputs[f"src/{module}_memory.S"] = ("src/memory.S.j2", memory(unit))
    return _rendered(outputs).merged(_graph_data(unit)).merged(_blob(unit))


def _loaded(unit: Unit) -> Outputs:
    """The calls of the blob's modules, and the constants that the modules are given."""
    module = unit.module
    held = _parameters(unit) if unit.program.held_constants else {}
    return held | {
        f"src/{module}_modules.c": ("src/modules.c.j2", external.modules(unit)),
        f"src/{module}_tensors.h": ("src/tensors.h.j2", shapes(unit)),
        f"src/{module}_tensors.c": ("src/tensors.c.j2", shapes(unit)),
    }


def _blob(unit: Unit) -> FileTree:
    if not unit.blob:
        return FileTree({})
    options = unit.options
    source = writer.source(
        unit.blob, options.model_file, options.blob_prefix, note=note_file(unit.module)
    )
    return FileTree({f"{_HOST}/src/{unit.module}_blob.c": source})


def _ahead_of_time(unit: Unit) -> Outputs:
    module = unit.module
    outputs = {f"src/{module}_lib0.c": ("src/lib0.c.j2", runner(unit)), **_parameters(unit)}
    return outputs | (_packed(unit) if unit.options.interface == "packed" else {})


def _parameters(unit: Unit) -> Outputs:
    values = constants(unit)
    return {
        f"src/{unit.module}_params.h": ("src/params.h.j2", values),
        f"src/{unit.module}_params.c": ("src/params.c.j2", values),
    }


def _graph(unit: Unit, executor_graph: ExecutorGraph) -> Outputs:
    module = unit.module
    return {
        f"include/tvmgen_{module}_graph.h": ("include/tvmgen_graph.h.j2", unit.common("GRAPH_")),
        f"src/{module}_lib0.c": ("src/graph_lib0.c.j2", graph.runner(unit, executor_graph)),
        f"src/{module}_graph.S": ("src/graph.S.j2", graph.data(unit)),
        f"src/{module}_tensors.h": ("src/tensors.h.j2", shapes(unit)),
        f"src/{module}_tensors.c": ("src/tensors.c.j2", shapes(unit)),
        f"src/{module}_packed.h": ("src/packed.h.j2", packed(unit)),
        f"src/{module}_packed.c": ("src/packed.c.j2", packed(unit)),
    }


def _graph_data(unit: Unit) -> FileTree:
    """The parameter file that the graph executor reads on the board; the graph itself is a file of
    the Model Library Format."""
    if unit.graph is None:
        return FileTree({})
    return FileTree({f"{graph.FOLDER}/{unit.module}.params": graph.parameter_file(unit)})


def _packed(unit: Unit) -> Outputs:
    module = unit.module
    outputs = {
        f"src/{module}_tensors.h": ("src/tensors.h.j2", shapes(unit)),
        f"src/{module}_tensors.c": ("src/tensors.c.j2", shapes(unit)),
        f"src/{module}_metadata.c": ("src/metadata.c.j2", metadata(unit)),
    }
    if not unit.options.unpacked:
        outputs |= {
            f"src/{module}_packed.h": ("src/packed.h.j2", packed(unit)),
            f"src/{module}_packed.c": ("src/packed.c.j2", packed(unit)),
        }
    return outputs


def _rendered(outputs: Outputs) -> FileTree:
    templates = environment(f"project/{_HOST}")
    return FileTree(
        {
            f"{_HOST}/{path}": templates.get_template(name).render(data).encode()
            for path, (name, data) in outputs.items()
        }
    )


def operators_alone(unit: Unit) -> Mapping[str, bytes]:
    """Each primitive function's name -> a C source that defines it alone, without a note."""
    template = environment(f"project/{_HOST}").get_template("src/lib1.c.j2")
    own = unit.program.kernel_functions
    programs = {f.name: replace(unit.program, functions=(f,)) for f in own}
    return {
        name: template.render({**operators(replace(unit, program=program)), "note": ""}).encode()
        for name, program in programs.items()
    }
