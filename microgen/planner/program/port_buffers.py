"""Inputs and outputs as planned buffers in the caller's own memory.

The caller's memory for an output is free until the output is written. The memory for an input is
free after its last reader, if the caller allows that. A pool for each such port has exactly the
bytes that the caller has to pass for it anyway. The port itself is the buffer at the pool's start,
and other buffers may lie there while the port is not live.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from microgen.planner.program.plan import Pool
from microgen.planner.program.types import Argument, Buffer, Port, Program, RunnerCall, Storage

MOST_PROMISED = 16  # bytes; no kernel needs more


def planned(
    program: Program, alignment: int, *, outputs: bool, inputs: bool, overlay: bool, before: int = 0
) -> tuple[Program, tuple[Pool, ...]]:
    """The program with planned buffers for ports, and the pools for these.

    ``outputs``: the outputs' buffers are free until they are written. ``inputs``: the inputs'
    buffers, and ``before`` bytes in front of them, may be overwritten; they are aligned to
    ``alignment`` bytes. ``overlay``: the same for the only input, in whose buffer the only output
    lies, too.
    """
    read = _used(program, program.inputs, Storage.INPUT) if inputs or overlay else []
    written = _used(program, program.outputs, Storage.OUTPUT) if outputs or overlay else []
    if not overlay:
        pools = [_input_pool(p, alignment, before) for p in read]
        pools += [_pool(p, "outputs", alignment) for p in written]
        return bound(program, read, written), tuple(pools)
    # The options that lead here accept models of one input and one output only.
    (source,), (target,) = program.inputs, program.outputs
    both = replace(target, over=source.name)
    # The caller passes one buffer, which has to hold either.
    nbytes = max(source.type.nbytes, target.type.nbytes)
    pool = _input_pool(source, alignment, before)
    overlaid = bound(replace(program, outputs=(both,)), read, (both,))
    return overlaid, (replace(pool, nbytes=nbytes, capacity=nbytes),)


def in_workspace(program: Program) -> Program:
    """The program with a planned buffer in the workspace for each input and output, like TVM's
    ``use_workspace_io``.

    The caller gets their addresses, and owns none of their bytes. An input's bytes may be reused
    after its last reader has run, so they must be written before every run.
    """
    inputs = tuple(replace(port, buffer=port.sid) for port in program.inputs)
    outputs = tuple(replace(port, buffer=port.sid) for port in program.outputs)
    return replace(bound(program, inputs, outputs), inputs=inputs, outputs=outputs)


def _used(program: Program, ports: Iterable[Port], storage: Storage) -> list[Port]:
    """The ports that a call reads or writes, and that have bytes."""
    passed = {a.name for call in program.calls for a in call.args if a.storage is storage}
    return [port for port in ports if port.name in passed and port.type.nbytes]


def bound(program: Program, inputs: Iterable[Port], outputs: Iterable[Port]) -> Program:
    """The program with a planned buffer for each of these ports. Its storage id is the one that
    lowering reserved for the port."""
    read, written = list(inputs), list(outputs)
    buffers = (
        *(Buffer(p.sid, p.type.nbytes, p.tensor, is_input=True) for p in read),
        *program.buffers,
        *(Buffer(p.sid, p.type.nbytes, p.tensor, is_output=True) for p in written),
    )
    sids = {
        **{(Storage.INPUT, p.name): p.sid for p in read},
        **{(Storage.OUTPUT, p.name): p.sid for p in written},
    }
    calls = tuple(_rebound(call, sids) for call in program.calls)
    return replace(program, buffers=buffers, calls=calls)


def _rebound(call: RunnerCall, sids: Mapping[tuple[Storage, str], str]) -> RunnerCall:
    args = (
        Argument(Storage.SID, sids[a.storage, a.name], a.offset)
        if (a.storage, a.name) in sids
        else a
        for a in call.args
    )
    return replace(call, args=tuple(args))


def _input_pool(port: Port, alignment: int, before: int) -> Pool:
    """The pool in the buffer of an input, which the caller aligns as it would a pool."""
    pool = _pool(port, "inputs", alignment)
    # The caller aligns a consumed input like a pool, but at most to the largest need of a kernel.
    promised = max(pool.promised, min(alignment, MOST_PROMISED))
    return replace(pool, promised=promised, before=before)


def _pool(port: Port, struct: str, alignment: int) -> Pool:
    """The pool in a port's buffer, a field of ``struct``, with the alignment of its elements."""
    return Pool(
        f"{struct}.{port.name}",
        port.type.nbytes,
        alignment,
        capacity=port.type.nbytes,
        is_internal=False,
        port=port.name,
        promised=port.type.dtype.nbytes,
    )


def pinned(program: Program, pool: Pool) -> tuple[str, ...]:
    """The storage ids of the ports that are at the start of a port's pool."""
    ports = (*program.inputs, *program.outputs)
    return tuple(port.sid for port in ports if pool.port and pool.port in (port.name, port.over))


def widths(program: Program) -> dict[str, int]:
    """The alignment in bytes that the readers and writers of each planned buffer need."""
    widest: dict[str, int] = {}
    unknown: set[str] = set()
    for call in program.calls:
        planned = [a.name if a.storage is Storage.SID else "" for a in call.args]
        # The context of a device, which is the last argument, has no type.
        own = {n: t.dtype.nbytes for n, t in zip(planned, call.types, strict=False) if n}
        # Scratch has words.
        own |= {f"scratch_{call.index}": 4} if call.scratch else {}
        if program.function(call.function).made is not None:
            # The alignment that code of other generators needs is not known.
            unknown.update(own)
        # Several users of a buffer: the strictest of them decides.
        widest |= {name: max(nbytes, widest.get(name, 1)) for name, nbytes in own.items()}
    return {name: nbytes for name, nbytes in widest.items() if name not in unknown}


def holding(program: Program, pools: Sequence[Pool]) -> dict[str, tuple[int, ...]]:
    """The numbers of the ports' pools that each planned buffer may lie in."""
    known = widths(program)
    own = [pinned(program, pool) for pool in pools]
    sizes = {b.name: b.nbytes for b in program.buffers}
    state = {b.name for b in program.state}
    ports = {name for names in own for name in names}
    return {
        name: tuple(
            n
            for n, pool in enumerate(pools)
            if name in own[n]
            or (
                pool.port
                and name not in ports | state
                # A buffer whose users are unknown gets an alignment that no port promises.
                and known.get(name, pool.promised + 1) <= pool.promised
                and sizes.get(name, 0) <= pool.nbytes
            )
        )
        for name in {*sizes, *known}
    }
