"""Finds the layer, the element and the value that made a run function return a status."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from microgen.base import manifest
from microgen.base.errors import MicrogenError, StatusRunError
from microgen.base.manifest import CallRecord, ModuleRecord
from microgen.compiler import passes
from microgen.graph.ir import layouts
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ir.layouts import Shown
from microgen.graph.ops import registry
from microgen.graph.ops.base import StatusError
from microgen.running import runner
from microgen.running.comparing import compare
from microgen.running.runner import port_names, samples
from microgen.running.runner.samples import Given


def explained(
    error: StatusRunError,
    project: Path,
    inputs: Mapping[str, Array] | None,
    elf: Path,
    target: runner.RemoteTarget | None = None,
) -> StatusRunError:
    """The error with its cause added, if the cause is known. The cause comes from the reference,
    evaluated on the samples of the run, or from the firmware's call that returned the status."""
    record = manifest.load(project)
    module = next(m for m in record.modules if error.module in ("", m.module))
    given = samples.given(record, samples.zeros(record) if inputs is None else inputs)
    own = port_names.of_module(record, module, "inputs", given.arrays)
    try:
        source = compare.source(project, module)
        # The firmware runs the network after the passes, so its layers are the layers of that
        # graph.
        graph = passes.run(source)
        cause = _by_reference(graph, module, own, error.sample)
        # The reference fails at the first wrong element, which need not be the cause of another
        # status.
        if cause is not None and cause.status == error.status:
            return _blamed(error, graph, layouts.shown(graph, source.types), module, cause)
        layers = runner.until_failure(project, inputs, elf=elf, target=target)
        return _located(error, module, layers)
    # For example, the file of the model is not there any more.
    except MicrogenError:
        return error  # without an explanation the error is still right


def allowed(project: Path, given: Given) -> list[int]:
    """The numbers of the samples for which the reference of each model has results."""
    record, refused = manifest.load(project), set[int]()
    for module in record.modules:
        graph = passes.run(compare.source(project, module))
        state = initial_state(graph)
        own = port_names.of_module(record, module, "inputs", given.arrays)
        for k in range(given.count):
            arrays = (own[port.tensor][k] for port in module.inputs)
            try:
                evaluate(graph, dict(zip(graph.inputs, arrays, strict=True)), registry(), state)
            except StatusError:
                refused.add(k)
    return [k for k in range(given.count) if k not in refused]


def _by_reference(
    graph: Graph, module: ModuleRecord, inputs: Mapping[str, Array], sample: int
) -> StatusError | None:
    """The reference's explanation, if the reference has no result for the sample either."""
    # The firmware starts with initial state, too, and keeps it from one sample to the next.
    state = initial_state(graph)
    names = [port.tensor for port in module.inputs]
    try:
        # A network with state needs all samples before the failed sample, other networks only the
        # failed sample.
        for k in range(0 if graph.variables else sample, sample + 1):
            arrays = (inputs[name][k] for name in names)
            evaluate(graph, dict(zip(graph.inputs, arrays, strict=True)), registry(), state)
    except StatusError as cause:
        return cause
    return None


def _blamed(
    error: StatusRunError,
    graph: Graph,
    shows: Mapping[str, Shown],
    module: ModuleRecord,
    cause: StatusError,
) -> StatusRunError:
    assert cause.node is not None
    tensor, element = cause.node.inputs[cause.position], cause.element
    if tensor in shows:
        tensor, element = shows[tensor].tensor, shows[tensor].index_in_model(element)
    tensors = dict(zip(graph.inputs, (port.tensor for port in module.inputs), strict=True))
    hint = f"give --input samples with {tensors.get(tensor)!r} {cause.allowed}"
    # A tensor that is not an input is computed, so the user can only change it through the model.
    if tensor not in tensors:
        hint = f"limit {tensor!r} to that in the model, or give other --input samples"
    layer = cause.node.origin.layer
    place = f"{tensor}[{','.join(map(str, element))}]"
    details = {"element": list(element), "tensor": tensor, "value": cause.value}
    return error.at(
        f'in layer "{layer}": {place} is {cause.value}, expected {cause.allowed}',
        hint,
        {"layer": layer, "allowed": cause.allowed, **details},
    )


def _located(
    error: StatusRunError, module: ModuleRecord, layers: tuple[runner.TracedLayer, ...]
) -> StatusRunError:
    """The firmware's explanation: the call that returned the status, or the last call that
    completed."""
    own = [one for one in layers if (one.module, one.sample) == (module.module, error.sample)]
    failed = next((one for one in own if one.status == error.status), None)
    if failed:
        call = module.calls[failed.call]
        where = f'in layer "{_layer(call)}" (call {call.index}, {call.function})'
        return error.at(where, "", {"layer": _layer(call), "call": call.index})
    if not own:
        return error.at("before its first layer", "", {})
    last, *later = module.calls[own[-1].call :]
    # A device's hook runs before the call itself, so the error belongs to the call after the last
    # complete call.
    if later and later[0].device:
        layer = _layer(later[0])
        where = f'before layer "{layer}", by a hook of device {later[0].device}'
        return error.at(where, "", {"layer": layer, "call": later[0].index})
    return error.at(f'after layer "{_layer(last)}"', "", {})


def _layer(call: CallRecord) -> str:
    """The layers that a call computes. If the call computes several layers, its status does not
    tell which layer failed."""
    return " + ".join(call.layers)
