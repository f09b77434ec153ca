"""Makes the manifest's records from program, plan and options."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar, cast

from microgen import kernels
from microgen.base.files import FileTree
from microgen.base.manifest import (
    FORMAT,
    ArgumentRecord,
    BlobRecord,
    BufferRecord,
    CallRecord,
    ConstantRecord,
    DeadChannelsRecord,
    DeviceRecord,
    EstimateRecord,
    ExternalRecord,
    FeedRecord,
    FunctionRecord,
    HeldRecord,
    Manifest,
    ModelRecord,
    ModuleRecord,
    OverlapRecord,
    PatchRecord,
    PlanRecord,
    PoolRecord,
    PortRecord,
    RoundsRecord,
    RowsRecord,
    RunRecord,
    SharedRecord,
    StepRecord,
    TypeRecord,
    record_fields,
)
from microgen.base.manifest.schedule import KernelSource, ScheduleRecord
from microgen.base.pieces import digest
from microgen.options import Options
from microgen.planner.program.control import Control, leaves
from microgen.planner.program.external import MODULE_POOL, ExternalModule, LoadedModule
from microgen.planner.program.plan import MemoryPlan, Pool
from microgen.planner.program.rolling import Event, KernelPart, Rolling
from microgen.planner.program.steps import Around, InnerBuffer, InRound, InRows, Output, Step
from microgen.planner.program.types import (
    FirmwareConstant,
    Port,
    PrimFunc,
    Program,
    Role,
    RunnerCall,
    Storage,
)
from microgen.project.emit import external, symbols
from microgen.project.emit.memory import Shared
from microgen.project.emit.signature import argument_types, held_type
from microgen.project.emit.unit import Unit
from microgen.relay.blob import writer
from microgen.target.board import Board
from microgen.tvm import mlf
from microgen.version import __version__

R = TypeVar("R")


def manifest(
    modules: Sequence[ModuleRecord],
    board: Board,
    *,
    estimate: EstimateRecord,
    files: FileTree,
    shared: Shared | None = None,
) -> Manifest:
    """The project's manifest. ``files`` are all its files except the manifest. ``shared`` is the
    workspace that modules share."""
    first, *more = modules
    return Manifest(
        **record_fields(first),
        format=FORMAT,
        microgen=__version__,
        board=board.to_json(),
        estimate=estimate,
        files=files.digests(),
        more=tuple(more),
        shared_workspace=_shared(shared) if shared else None,
    )


def _copied(kind: type[R], source: object, **others: Any) -> R:
    """A record that takes its fields from the fields of ``source`` with the same names, and from
    ``others``."""
    names = {field.name for field in fields(cast("Any", kind))} - others.keys()
    return kind(**{name: getattr(source, name) for name in names}, **others)


def _shared(memory: Shared) -> SharedRecord:
    return _copied(SharedRecord, memory, section=symbols.workspace_section(""))


def module(
    unit: Unit,
    board: Board,
    options: Options,
    *,
    model: str,
    suffix: str,
    files: FileTree,
    schedule: ScheduleRecord | None = None,
    dead_channels: tuple[DeadChannelsRecord, ...] = (),
) -> ModuleRecord:
    """The record of one model, whose file was called ``model``. ``files`` contains the file that
    the project keeps, which has the ``suffix`` of the model's format."""
    program, plan = unit.program, unit.plan
    return ModuleRecord(
        module=program.module,
        model=_model(model, mlf.model_path(suffix, program.module), files),
        options=options.to_json(),
        inputs=tuple(_port(port, plan) for port in program.inputs),
        outputs=tuple(_port(port, plan) for port in program.outputs),
        calls=tuple(_call(call, unit, board.cpu.name, options) for call in program.calls),
        kernels=tuple(code.symbol for code in program.kernels),
        plan=_plan(program, plan, options),
        constants=tuple(_constant(c, unit) for c in program.constants),
        devices=tuple(_copied(DeviceRecord, d) for d in program.devices),
        passed_pools=tuple(unit.passed_pools),
        external=tuple(_external(module, unit) for module in program.external_modules),
        blob=_blob(unit) if unit.blob else None,
        schedule=schedule,
        dead_channels=dead_channels,
        feed=feed(program),
        kernel_sources=tuple(
            KernelSource(code.symbol, code.header, kernels.modules_of(code.symbol))
            for code in program.kernels
        ),
    )


def feed(program: Program) -> FeedRecord | None:
    """How the program's input is fed, None if it is passed as a whole."""
    source = program.feed
    return _copied(FeedRecord, source) if source else None


def _model(name: str, kept: str, files: FileTree) -> ModelRecord:
    return ModelRecord(name, digest(files.contents[kept]), kept)


def _port(port: Port, plan: MemoryPlan) -> PortRecord:
    quant = port.type.quant
    scale, zero_point = (quant.scale[0], quant.zero_point[0]) if quant else (0.0, 0)
    lies_there = any(pool.port in (port.name, port.over) for pool in plan.port_pools)
    return _copied(
        PortRecord,
        port,
        tensor=port.public_name,
        shape=port.type.shape,
        dtype=port.type.dtype.value,
        nbytes=port.type.nbytes,
        scale=scale,
        zero_point=zero_point,
        buffer=port.sid if lies_there else "",
    )


def _call(call: RunnerCall, unit: Unit, host: str, options: Options) -> CallRecord:
    function = unit.program.function(call.function)
    arguments = iter(call.args)
    args, in_struct = [], function.in_struct
    for parameter in function.parameters:
        if parameter.role is Role.SCRATCH:
            args.append(ArgumentRecord("scratch", f"scratch_{call.index}"))
            continue
        argument = next(arguments)
        is_constant = argument.storage is Storage.CONSTANT
        name = unit.constants[argument.name] if is_constant else argument.name
        kind, inside = argument.storage.value, parameter in in_struct
        args.append(ArgumentRecord(kind, name, argument.offset, inside))
    roles = [p.role for p in function.parameters]
    return CallRecord(
        index=call.index,
        function=symbols.implementation(call.function, is_packed=not options.is_unpacked),
        steps=tuple(_step(step, roles, function, unit) for step in call.steps),
        args=tuple(args),
        packed="" if options.is_unpacked else call.function,
        target="" if function.target == host else function.target,
        device=call.device,
        can_fail=unit.program.function(call.function).can_fail,
        run=_copied(RunRecord, call.run) if call.run else None,
    )


def _step(step: Step, roles: Sequence[Role], function: PrimFunc, unit: Unit) -> StepRecord:
    """The record of a step of a function whose parameters have these roles."""
    argument, offset, in_rows, in_round = None, 0, None, None
    match step.place:
        case Output(index):
            argument = [k for k, role in enumerate(roles) if role is Role.OUTPUT][index]
        case Around(index, before):
            argument = [k for k, role in enumerate(roles) if role is Role.OUTPUT][index]
            offset = -before
        case InnerBuffer() as inner if not inner.overwritten_by:
            argument, offset = roles.index(Role.SCRATCH), inner.offset
        case InRows() as rows:
            assert function.rolling is not None, "only such functions have rows"
            in_rows = _in_rows(function.rolling, rows)
        case InRound() as place:
            assert function.control is not None, "only such functions have rounds"
            in_round = _in_round(function.control, place, unit)
    return _copied(
        StepRecord,
        step,
        layer=step.origin.layer,
        shape=step.tensor_type.shape,
        dtype=step.tensor_type.dtype.value,
        argument=argument,
        offset=offset,
        in_rows=in_rows,
        in_round=in_round,
    )


def _in_round(control: Control, place: InRound, unit: Unit) -> RoundsRecord:
    """How an inner call computes a result."""
    call, callers = next(itertools.islice(leaves(control), place.call, None))
    called = call.function
    roles = [k for k, p in enumerate(called.parameters) if p.role is Role.OUTPUT]
    own = {"function": unit.called(called.name), "argument": roles[place.index], "callers": callers}
    return _copied(RoundsRecord, place, **own)


def _in_rows(rolling: Rolling, rows: InRows) -> RowsRecord:
    """How a part computes its rows."""
    part = rolling.parts[rows.part]
    event = next(e for e in rolling.events if _computes(e, part))
    argument = [p.role for p in part.parameters].index(Role.OUTPUT)
    own = {"function": part.name, "argument": argument, "rows": rows.rows, "is_last": rows.is_last}
    assert isinstance(event.rows, KernelPart), "copies compute nothing"
    patch = _in_patch(event.rows, part, rolling.events.index(event))
    return _copied(RowsRecord, event.when, **own, patch=patch)


def _computes(event: Event, part: KernelPart) -> bool:
    return isinstance(event.rows, KernelPart) and any(one is part for one in event.rows.leaves)


def _in_patch(row: KernelPart, part: KernelPart, number: int) -> PatchRecord | None:
    """How a part of a patch, which computes a row, computes its columns."""
    patch = row.patch
    if patch is None:
        return None
    own = next(one for one in patch.parts if one.part is part)
    is_wide = own is patch.parts[0]
    rows = (patch.rows, patch.stride, patch.above) if is_wide else (1, 1, 0)
    each = dict(zip(("rows", "stride", "above"), rows, strict=True))
    each |= {"number": number, "columns": own.columns}
    return _copied(PatchRecord, own.when, function=row.name, **each)


def _plan(program: Program, plan: MemoryPlan, options: Options) -> PlanRecord:
    return _copied(
        PlanRecord,
        plan,
        io_bytes=program.io_bytes,
        alignment=options.alignment,
        pools=tuple(_pool(p, program.module) for p in plan.used_pools if not p.is_constant),
        buffers=buffers(program, plan),
        in_place=tuple(_copied(OverlapRecord, p) for p in plan.in_place),
    )


def buffers(program: Program, plan: MemoryPlan) -> tuple[BufferRecord, ...]:
    """Records of the place and the contents of each buffer of the program."""
    tensors = {buffer.name: buffer.tensor for buffer in program.buffers}
    kept = {buffer.name for buffer in program.state}
    return tuple(
        _copied(BufferRecord, p, tensor=tensors.get(p.name, ""), is_state=p.name in kept)
        for p in plan.placements
    )


def _pool(pool: Pool, module: str) -> PoolRecord:
    symbol, section = symbols.arena(module, pool.name), symbols.workspace_section(pool.memory)
    if not pool.is_internal:  # the caller's memory
        symbol = section = ""
    return _copied(PoolRecord, pool, symbol=symbol, section=section)


def _constant(constant: FirmwareConstant, unit: Unit) -> ConstantRecord:
    place = unit.plan.constant_places.get(constant.name)
    pool = unit.plan.pool(place.pool) if place else None
    is_passed = pool is not None and not pool.is_internal
    return ConstantRecord(
        symbol="" if is_passed else unit.constants[constant.name],
        nbytes=constant.array.nbytes,
        ctype=constant.ctype,
        transform=constant.transform.kind,
        sources=constant.transform.sources,
        arguments=dict(constant.transform.arguments),
        layer=constant.origin,
        section="" if is_passed else symbols.constant_section(pool.memory if pool else ""),
        pool=place.pool if place else "",
        offset=place.offset if place and is_passed else 0,
        name=unit.constants[constant.name] if is_passed else "",
    )


def _external(module: ExternalModule, unit: Unit) -> ExternalRecord:
    made = module.made
    functions = tuple(_function(name, module, unit) for name in module.functions)
    if made is None:
        return ExternalRecord(codegen=module.target, kind="kernels", functions=functions)
    if isinstance(made, LoadedModule):
        return ExternalRecord(
            codegen=module.codegen,
            kind="runtime",
            functions=functions,
            type_key=made.runtime.type_key,
            prefix=made.runtime.prefix,
            nbytes=len(made.payload),
            sha256=hashlib.sha256(made.payload).hexdigest(),
        )
    source = external.source(module, unit)
    return ExternalRecord(codegen=module.codegen, kind="c", functions=functions, source=source)


def _function(name: str, module: ExternalModule, unit: Unit) -> FunctionRecord:
    program = unit.program
    function = program.function(name)
    call = next(call for call in program.calls if call.function == name)
    kinds = zip(function.parameters, argument_types(call, function), strict=False)
    types = [(p.role, TypeRecord(kind.shape, kind.dtype.value)) for p, kind in kinds]
    return FunctionRecord(
        name,
        inputs=tuple(kind for role, kind in types if role is Role.INPUT),
        outputs=tuple(kind for role, kind in types if role is Role.OUTPUT),
        constants=tuple(
            _held(held.name, held.constant, unit)
            for held in module.constants
            if held.function == name
        ),
    )


def _held(name: str, constant: str, unit: Unit) -> HeldRecord:
    kind = held_type(next(c for c in unit.program.constants if c.name == constant))
    return HeldRecord(name, unit.constants[constant], kind.shape, kind.dtype.value)


def _blob(unit: Unit) -> BlobRecord:
    symbol, found = writer.symbol(unit.options.blob_prefix), hashlib.sha256(unit.blob)
    section = symbols.constant_section("")
    return BlobRecord(symbol, section, len(unit.blob), found.hexdigest(), MODULE_POOL)
