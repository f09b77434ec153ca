"""Constants in pools: each goes to the first pool, in the order of declaration, that has room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from microgen.base.formats.c_layout import aligned
from microgen.planner.program.plan import ConstantPlacement, Pool
from microgen.planner.program.types import Program
from microgen.planner.refusal import no_room
from microgen.planner.spill import NoRoomError


def place(
    program: Program, pools: Sequence[Pool]
) -> tuple[tuple[Pool, ...], tuple[ConstantPlacement, ...]]:
    """The pools with their planned sizes, and the constants' places, in the program's order.

    Without pools there are no places, because constants are then in ``.rodata.tvm``. Raises
    CapacityError.
    """
    ends = [0] * len(pools)
    placements = []
    # These are always in .rodata.tvm: the constants that modules get when they are loaded, and the
    # initial bytes of variables.
    linked = program.held_constants | {buffer.initial for buffer in program.state}
    passed = [c for c in program.constants if c.name not in linked]
    for constant in passed if pools else ():
        lacks = []
        for number, pool in enumerate(pools):
            # Constants are never freed, so a pool only grows at its end.
            offset = aligned(ends[number], pool.alignment)
            end = offset + constant.array.nbytes
            if pool.capacity is None or end <= pool.capacity:
                ends[number] = end
                placements.append(
                    ConstantPlacement(constant.name, pool.name, offset, constant.array.nbytes)
                )
                break
            lacks.append((pool, end - pool.capacity))
        else:
            missing = NoRoomError(constant.name, constant.array.nbytes, tuple(lacks))
            raise no_room(missing, constant.origin)
    sized = (replace(pool, nbytes=end) for pool, end in zip(pools, ends, strict=True))
    return tuple(sized), tuple(placements)
