"""The RAM of a firmware, from its plans, its manifest, or the sizes of its ELF."""

from __future__ import annotations

from dataclasses import replace

from microgen.base.manifest import Manifest
from microgen.planner.program.ram import Ram
from microgen.project.firmware import capacity
from microgen.project.firmware.stack_size import Stack


def of_firmware(planned: Ram, stack: Stack, *, is_host: bool) -> Ram:
    """The RAM of the firmware around a planned model, as expected before anything is compiled."""
    static = 0 if is_host else capacity.STATIC_DATA
    return replace(
        planned,
        static=static,
        stack=stack.reserve,
        stack_bound=stack.bound,
        stack_margin=stack.margin,
    )


def of_total(
    record: Manifest, workspace: int, total: int, stack: int, bound: int | None = None
) -> Ram:
    """The RAM of a firmware that takes ``total`` bytes, including ``workspace`` bytes of pools and
    ``stack`` bytes that are reserved. ``bound`` are the bytes of stack that it was proven to take,
    None if that is only expected."""
    io = sum(m.plan.io_bytes for m in record.modules)
    sizes, static = record.estimate, max(0, total - workspace - io - stack)
    expected = sizes.stack_bound if bound is None else bound
    return Ram(workspace, io, static, stack, expected, sizes.stack_margin)


def estimated(record: Manifest) -> Ram:
    """The RAM of a project, as estimated when it was generated."""
    stack = int(record.board["stack_bytes"])
    return of_total(record, _workspace(record), record.estimate.ram, stack)


def _workspace(record: Manifest) -> int:
    """The bytes of the pools of all models."""
    common = record.shared_workspace
    apart = [m for m in record.modules if not common or m.module not in common.modules]
    # The pool that several models share is counted once.
    return sum(m.plan.peak for m in apart) + (common.nbytes if common else 0)
