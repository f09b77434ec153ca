"""The contents of a model, a generated project, a model library, an ELF or a module blob, as data
and as text."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from microgen import frontends
from microgen.base import manifest
from microgen.base.errors import MicrogenError, short
from microgen.base.manifest import CallRecord, Manifest, ModuleRecord
from microgen.base.names import cnames
from microgen.base.output.text_layout import Part
from microgen.graph.ir.graph import Graph
from microgen.interface.inspection import blobs, library
from microgen.interface.inspection.base import Inspected, columns
from microgen.interface.inspection.costs import CostConditions
from microgen.project.firmware import dead_channels, ram
from microgen.target.cpu import CPUS
from microgen.tvm.mlf import contents, tar


def inspect(
    path: Path, *, verbose: bool = False, codegen_path: Sequence[Path] = (), **reading: Any
) -> Inspected:
    """Inspect a project or library directory, an ELF, a library archive, a blob or a model.

    ``verbose``: for a project, also say why each kernel was chosen and others were not; for a
    model, which declarations of the file do not hold. ``codegen_path``: folders with codegens,
    which say how their modules are read. ``reading``: for a model, the arguments of
    ``frontends.load``. Raises MicrogenError for any other file.
    """
    if path.is_dir():
        is_library = os.path.isfile(path / contents.METADATA)
        if is_library:
            return library.inspect(path)
        return _of_project(path, codegen_path, verbose=verbose)
    if not path.exists():
        raise MicrogenError("no such file or directory", where=str(path), hint="check the path")
    if not path.is_file():  # a device or a pipe might never end
        raise MicrogenError("is not a regular file", where=str(path), hint="check the path")
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(b"\x7fELF"):
        return _elf(path, codegen_path)
    if tar.is_tar(head) or path.name.endswith((".tar", ".tar.gz")):
        return library.inspect(path)
    if blobs.is_blob(head, path.stat().st_size):
        return blobs.inspect(path, codegen_path)
    return _model(frontends.load(path, **reading), verbose=verbose)


_HEAD_BYTES = 262  # up to tar's magic number


def _of_project(path: Path, codegen_path: Sequence[Path], *, verbose: bool) -> Inspected:
    record = manifest.load(path)
    shown = _project(record, verbose=verbose)
    context = blobs.Context([record], codegen_path)
    return blobs.with_blobs(shown, blobs.of_project(path, record), context)


def _project(record: Manifest, *, verbose: bool) -> Inspected:
    modules = [_module(record, module, verbose=verbose) for module in record.modules]
    used, costs = ram.estimated(record), _costs(record)
    last = [*used.lines(about=True), *costs.lines(verbose=verbose)]
    if not record.more:
        data = {**modules[0].data, **costs.to_json(), "ram": used.to_json()}
        return Inspected(data, [*modules[0].text, "", *last])
    common = record.shared_workspace
    data = {
        "kind": "project",
        "board": record.board["name"],
        "shared_workspace": common.nbytes if common else 0,
        "modules": [{k: v for k, v in own.data.items() if k != "kind"} for own in modules],
        **costs.to_json(),
        "ram": used.to_json(),
    }
    names = ", ".join(common.modules) if common else ""
    shared = [f"one workspace of {common.nbytes:,} bytes for {names}", ""] if common else []
    texts = [part for own in modules for part in (*own.text, "")]
    return Inspected(data, [*shared, *texts, *last])


def _costs(record: Manifest) -> CostConditions:
    """The conditions of the cycles in the reasons: costs are measured without wait states."""
    return CostConditions.on(CPUS[record.board["cpu"]])


def _module(record: Manifest, module: ModuleRecord, *, verbose: bool) -> Inspected:
    plan = module.plan
    has_targets = any(call.target for call in module.calls)
    places = ("target", "device") if has_targets else ()
    table = columns(
        "call", "layer", "op", *places, "kernel", *(["why"] if verbose else []), "output"
    )
    for call in module.calls:
        place = (call.target or "host", call.device or "-") if has_targets else ()
        for k, step in enumerate(call.steps):
            number = "" if k else str(call.index + 1)
            why = ["; ".join((step.reason, *step.refusals))] if verbose else []
            shape = f"{step.dtype}[{','.join(map(str, step.shape))}]"
            name = cnames.layer(step.layer)
            table.add(number, name, step.op, *place, step.kernel, *why, shape)
    lines = (
        f"{module.module}: {module.model.file} for {record.board['name']}, "
        f"numerics {module.options.get('numerics')}",
        f"workspace {plan.peak:,} bytes ({plan.proof}), "
        f"constants {sum(c.nbytes for c in module.constants):,}",
        *([str(module.feed)] if module.feed else []),
        *dead_channels.saved(module).lines,
    )
    data = {
        "kind": "project",
        "module": module.module,
        "model": module.model.file,
        "board": record.board["name"],
        "options": module.options,
        "workspace": plan.peak,
        "io_bytes": plan.io_bytes,
        "feed": asdict(module.feed) if module.feed else None,
        "calls": [_call(call) for call in module.calls],
        "dead_channels": [asdict(record) for record in module.dead_channels],
    }
    return Inspected(data, [*lines, "", table, *(_removed(module) if verbose else ())])


def _removed(module: ModuleRecord) -> Sequence[Part]:
    """The table of the layers that compute less than in the model, if there are any."""
    if not module.dead_channels:
        return ()
    table = columns("layer", "op", "channels left", "of", "weights saved", "products saved")
    for record in module.dead_channels:
        left = record.channels - record.removed
        numbers = (left, record.channels, record.weights, record.products)
        table.add(cnames.layer(record.layer), record.op, *(f"{n:,}" for n in numbers))
    return ("", table)


def _call(call: CallRecord) -> dict[str, Any]:
    names = ("layer", "op", "kernel", "reason", "refusals", "unseen")
    steps = [{name: getattr(step, name) for name in names} for step in call.steps]
    return {
        "function": call.function,
        "target": call.target,
        "device": call.device,
        "steps": steps,
    }


def _elf(path: Path, codegen_path: Sequence[Path]) -> Inspected:
    from microgen.verifier.elf import elf as elf_reader

    elf = elf_reader.load(path)
    table = columns("section", "address", "bytes")
    sections = [s for s in elf.sections if s.size]
    for section in sections:
        table.add(section.name, f"0x{section.address:08x}", f"{section.size:,}")
    # The name decides between equal sizes, so that the output is the same on every run.
    objects = sorted(elf.symbols, key=lambda s: (-s.size, s.name))[:15]
    largest = columns("largest symbols", "bytes")
    for symbol in objects:
        largest.add(symbol.name, f"{symbol.size:,}")
    data = {
        "kind": "elf",
        "entry": elf.entry,
        "sections": [{"name": s.name, "address": s.address, "nbytes": s.size} for s in sections],
        "largest": [{"name": s.name, "nbytes": s.size} for s in objects],
    }
    shown = Inspected(data, [table, "", largest])
    context = blobs.Context(blobs.beside(path), codegen_path)
    return blobs.with_blobs(shown, blobs.of_elf(elf), context)


def _model(graph: Graph, *, verbose: bool) -> Inspected:
    table = columns("layer", "op", "output", "constants")
    for node in graph.nodes:
        nbytes = sum(graph.types[n].nbytes for n in node.inputs if n in graph.constants)
        output = str(graph.types[node.outputs[0]])
        table.add(cnames.short(node.origin.layer, 70), node.op, output, f"{nbytes:,}")
    made = tuple(zip(graph.output_names or graph.outputs, graph.outputs, strict=True))
    given = tuple((name, name) for name in graph.inputs)
    ports = [
        f'{kind} "{short(name, 200)}": {graph.types[tensor]}{_quant(graph, tensor)}'
        for kind, pairs in (("input", given), ("output", made))
        for name, tensor in pairs
    ]
    data = {
        "kind": "model",
        "inputs": {name: str(graph.types[name]) for name in graph.inputs},
        "outputs": {name: str(graph.types[tensor]) for name, tensor in made},
        "constants": sum(array.nbytes for array in graph.constants.values()),
        "layers": [{"layer": n.origin.layer, "op": n.op} for n in graph.nodes],
        "in_floats": dict(graph.in_floats),
        "notes": list(graph.notes),
    }
    notes = (*graph.notes, *(graph.details if verbose else ()))
    return Inspected(data, [*ports, *notes, "", table, *_in_floats(graph)])


def _in_floats(graph: Graph) -> Sequence[Part]:
    """The table of a quantized model's layers that are computed in floats, if there are any."""
    if not graph.in_floats:
        return ()
    table = columns("in floats", "op", "why")
    first = {n.origin.layer: n for n in reversed(graph.nodes) if n.outputs[0] in graph.in_floats}
    for layer, node in reversed(first.items()):
        why = graph.in_floats[node.outputs[0]]
        table.add(cnames.short(layer, 70), node.op, cnames.short(why, 200))
    return ("", table)


def _quant(graph: Graph, name: str) -> str:
    quant = graph.types[name].quant
    if quant is None or not math.isfinite(quant.scale[0]):
        return ""
    return f", real = {quant.scale[0]:g} * (stored - {quant.zero_point[0]})"
