"""Checks that the manifest does not contradict itself."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from microgen.base.errors import MicrogenError
from microgen.base.manifest import (
    ArgumentRecord,
    CallRecord,
    ModuleRecord,
    PatchRecord,
    PortRecord,
    RowsRecord,
    StepRecord,
)
from microgen.verifier.again import recorded_options
from microgen.verifier.checks import parts
from microgen.verifier.subject import Finding, Subject, judged


def manifest(subject: Subject) -> Finding:
    """The manifest does not contradict itself: options are such as ``generate`` takes, calls
    are numbered in their order and take ports, buffers, constants and devices that it has,
    sizes follow from shapes, buffers end inside their pools, no call writes over what another
    wrote in a part of the same buffer, and a concatenation without a call has all of its parts.

    Reads: manifest.
    """
    record = subject.manifest
    problems = list(_problems(record))
    if record.files.get(record.model.path) != record.model.sha256:
        problems.append(f"the model's file {record.model.path!r} has a different digest, or none")
    sources = (made.source for module in record.modules for made in module.external)
    unlisted = [name for name in sources if name and name not in record.files]
    problems += [f"the source {name!r} is not one of the project's files" for name in unlisted]
    return judged("records that agree with each other", problems, "they agree")


def _problems(module: ModuleRecord) -> Iterator[str]:
    yield from _option_problems(module)
    for port in (*module.inputs, *module.outputs):
        yield from _port_problems(port)
    if not module.outputs:
        yield "there are no outputs"
    names = _names(module)
    is_graph = recorded_options.is_graph(module)
    parted = {argument.name for call in module.calls for argument in call.args if argument.offset}
    for position, call in enumerate(module.calls):
        if call.index != position:
            yield f"call {call.index} is at position {position}"
        yield from _call_problems(call, names, parted, is_graph=is_graph)
    if not is_graph:
        yield from parts.problems(module)
    for constant in module.constants:
        if not (constant.pool or constant.symbol) or (constant.symbol and constant.offset):
            yield f"constant {constant.symbol!r} has offset {constant.offset} in {constant.pool!r}"
        if bool(constant.symbol) == bool(constant.name):
            yield f"constant {constant.symbol!r} is called {constant.name!r}, too"
    yield from _plan_problems(module)
    yield from _channel_problems(module)


def _option_problems(module: ModuleRecord) -> Iterator[str]:
    missing = recorded_options.missing(module)
    if missing:
        yield f"the option {missing[0]} is missing"
    try:
        options = recorded_options.recorded(module)
    except (ValueError, MicrogenError) as error:
        yield f"the options are invalid: {error}"
        return
    if options.name != module.module:
        yield f"the options are of module {options.name!r}"
    if options.alignment != module.plan.alignment:
        yield f"the plan's alignment is {module.plan.alignment}, asked for {options.alignment}"


def _port_problems(port: PortRecord) -> Iterator[str]:
    if port.nbytes != parts.nbytes(port.shape, port.dtype):
        yield f"{port.name} has {port.nbytes} bytes, but is {port.dtype}{list(port.shape)}"
    if port.fixed and len(port.fixed) != math.prod(port.shape):
        yield f"{port.name} has {len(port.fixed)} fixed values for {list(port.shape)}"
    if port.dtype == "float32" and (port.scale, port.zero_point) != (0, 0):
        yield f"{port.name} is float32, but has a scale or zero point"


def _names(module: ModuleRecord) -> dict[str, dict[str, int | None]]:
    """The possible names of arguments of each kind, with the bytes of a single tensor."""
    buffers = {buffer.name: buffer.nbytes for buffer in module.plan.buffers}
    return {
        "input": {port.name: port.nbytes for port in module.inputs},
        "output": {port.name: port.nbytes for port in module.outputs},
        "sid": {name: n for name, n in buffers.items() if name.startswith("sid_")},
        "scratch": {name: n for name, n in buffers.items() if name.startswith("scratch_")},
        "constant": {constant.symbol: constant.nbytes for constant in module.constants},
        "device": {device.name: None for device in module.devices},
    }


def _call_problems(
    call: CallRecord,
    names: dict[str, dict[str, int | None]],
    parted: Collection[str],
    *,
    is_graph: bool,
) -> Iterator[str]:
    """Problems of a call. ``parted`` are the buffers whose parts are computed by several calls."""
    # A constant that the caller passes has no symbol, but arguments name it as if it had one.
    passed = {"constant"} if "" in names["constant"] else set()
    for arg in call.args:
        if arg.storage not in passed and arg.name not in names.get(arg.storage, {}):
            yield f"call {call.index} takes {arg.storage} {arg.name!r}, which is not planned"
    if call.device and call.device not in names["device"]:
        yield f"call {call.index} is for device {call.device!r}, which is not planned"
    places = [(position, step.offset, step.shape) for step, position in call.seen]
    if not call.steps or len({*places}) < len(places):
        yield f"call {call.index} computes {len(call.steps)} layers at {len({*places})} places"
    for step in call.steps:
        if step.in_rows:
            yield from _row_problems(call, step)
        elif step.in_round and step.argument is None:
            continue  # it is in a function that the operator calls
        elif (step.argument is None) != bool(step.unseen):
            yield f"call {call.index}: {step.tensor} is at {step.argument}, not seen: {step.unseen}"
        elif step.argument is not None and not 0 <= step.argument < len(call.args):
            yield f"call {call.index} has no argument {step.argument}"
        elif step.argument is not None:
            argument = call.args[step.argument]
            planned = names.get(argument.storage, {}).get(argument.name)
            is_part = is_graph or argument.storage == "scratch" or argument.name in parted
            if not _holds(step, argument, planned, is_part=is_part):
                yield (
                    f"call {call.index} computes {step.dtype}{list(step.shape)} at "
                    f"{step.offset}, but {argument.name} has {planned} bytes"
                )


def _row_problems(call: CallRecord, step: StepRecord) -> Iterator[str]:
    """The problems of the record of a step that is computed row by row."""
    rows, height = step.in_rows, step.shape[1] if len(step.shape) == 4 else 0
    assert rows is not None, "the caller asks"
    if rows.is_last:  # one result for all rows
        height = math.prod(step.shape[:-1])
    # The last time may compute fewer rows, but never none.
    numbers, times = (rows.rows, rows.period, rows.count), 1 if rows.is_last else rows.count
    if rows.patch:
        yield from _patch_problems(call, step, rows, rows.patch)
    elif min(numbers) < 1 or rows.first < 0 or not 0 <= rows.rows * times - height < rows.rows:
        yield (
            f"call {call.index} computes {rows.rows} rows of {step.tensor} {rows.count} times, "
            f"but it has {height}"
        )
    if step.argument is not None or step.unseen:
        yield f"call {call.index} computes {step.tensor} row by row and at {step.argument}"


def _patch_problems(
    call: CallRecord, step: StepRecord, rows: RowsRecord, patch: PatchRecord
) -> Iterator[str]:
    """The problems of the record of a step in a patch, of which each row and column is computed."""
    numbers = (rows.period, rows.count, patch.columns, patch.period, patch.count, patch.rows)
    height, width = (*step.shape[1:3], 0, 0)[:2]
    end = (rows.count - 1) * patch.stride - patch.above + patch.rows
    is_whole = patch.stride <= patch.rows and patch.above >= 0 and end >= height
    if rows.is_last:  # a mean, to which every row and column is added once
        width = patch.columns * patch.count
        is_whole = (patch.rows, patch.stride, patch.above) == (1, 1, 0)
        is_whole = is_whole and math.prod(step.shape[:-1]) == 1
    if (
        min(*numbers, patch.stride) < 1
        or min(rows.first, patch.first, patch.number) < 0
        or (rows.rows, patch.columns * patch.count) != (1, width)
        or not is_whole
    ):
        yield (
            f"call {call.index} computes {patch.rows} rows of {patch.columns} columns of "
            f"{step.tensor} {rows.count} x {patch.count} times, but it has {height} x {width}"
        )


def _holds(
    step: StepRecord, argument: ArgumentRecord, planned: int | None, *, is_part: bool
) -> bool:
    """Whether a step's result is the whole buffer of ``planned`` bytes that ``argument`` names, or
    is inside of it, if it may be a part. ``planned`` is None for a buffer that is not planned."""
    needed, start = parts.nbytes(step.shape, step.dtype), argument.offset + step.offset
    if needed is None or start < 0 or (start and not is_part):
        return False
    # A storage of the graph executor is as large as the largest of its tensors.
    return planned is None or (start + needed <= planned if is_part else needed == planned)


def _channel_problems(module: ModuleRecord) -> Iterator[str]:
    # A tensor that no step computes, for example an input, has no recorded shape to compare.
    computed = {step.tensor: step for call in module.calls for step in call.steps}
    for record in module.dead_channels:
        if list(record.kept) != sorted({*record.kept} & {*range(record.channels)}):
            yield f"{record.tensor} keeps channels {list(record.kept)} of {record.channels}"
        step = computed.get(record.tensor)
        if step and step.shape[-1:] != (len(record.kept),):
            left = len(record.kept)
            yield f"{record.tensor} is {step.dtype}{list(step.shape)}, but keeps {left} channels"


def _plan_problems(module: ModuleRecord) -> Iterator[str]:
    plan = module.plan
    pools = {pool.name: pool for pool in plan.pools}
    ends = dict.fromkeys(pools, 0)
    for buffer in plan.buffers:
        if buffer.pool not in pools:
            yield f"{buffer.name} is in pool {buffer.pool!r}, which does not exist"
            continue
        ends[buffer.pool] = max(ends[buffer.pool], buffer.offset + buffer.nbytes)
        if not 0 <= buffer.first <= buffer.last or buffer.offset < 0:
            yield f"{buffer.name} is live from {buffer.first} to {buffer.last}"
    for pool in plan.pools:
        if pool.alignment < 1 or ends[pool.name] > pool.nbytes:
            end = ends[pool.name]
            yield f"pool {pool.name} has {pool.nbytes} bytes, but its buffers end at {end}"
    yield from _buffer_problems(module)
    ports = sum(_io_sizes(module).values())
    # With `--workspace-io`, inputs and outputs are buffers of the pools.
    if plan.io_bytes != ports and not module.options.get("workspace_io"):
        yield f"inputs and outputs have {ports} bytes, but the plan says {plan.io_bytes}"
    if plan.lower_bound > plan.peak:
        yield f"the plan needs {plan.peak} bytes, less than the bound of {plan.lower_bound}"


def _io_sizes(module: ModuleRecord) -> dict[str, int]:
    """The bytes of the caller's input and output buffers, by the first port in each."""
    sizes: dict[str, int] = {}
    for port in (*module.inputs, *module.outputs):
        # An output over an input shares the bytes of one buffer with it.
        name = port.over or port.name
        sizes[name] = max(sizes.get(name, 0), module.passed_bytes(port))
    return sizes


def _buffer_problems(module: ModuleRecord) -> Iterator[str]:
    """Problems of pools in the caller's buffers. Each must belong to the port. The port must be in
    it, after the bytes that the caller provides in front."""
    plan, sizes = module.plan, _io_sizes(module)
    pools = {pool.port: pool for pool in plan.pools if pool.port}
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    for port in (*module.inputs, *module.outputs):
        pool = pools.get(port.over or port.name)
        if pool is None:
            if port.over or port.buffer:
                yield f"{port.name} is {port.buffer} in {port.over or port.name}, without a pool"
            continue
        own = buffers.get(port.buffer)
        place = (own.pool, own.offset, own.nbytes) if own else ("", 0, 0)
        if place != (pool.name, pool.before, port.nbytes):
            yield f"{port.buffer} is not {port.name} at {pool.before} of {pool.name}"
        if pool.symbol or pool.before % max(1, pool.promised) or pool.before < 0:
            yield f"{pool.name} has symbol {pool.symbol!r} and {pool.before} bytes in front"
    for pool in plan.pools:
        if not pool.port and (pool.promised or pool.before):
            yield f"{pool.name} has {pool.before} bytes in front of a port, but is in none"
    for name, pool in pools.items():
        if pool.nbytes - pool.before != sizes.get(name):
            yield f"{pool.name} has {pool.nbytes} bytes, but {name} has {sizes.get(name)}"
