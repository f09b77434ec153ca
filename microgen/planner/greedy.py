"""Placement without a search: large buffers first, each at the lowest free offset; or one after
another, without reuse."""

from __future__ import annotations

from microgen.base.formats.c_layout import aligned
from microgen.planner import sweep
from microgen.planner.layout import Layout, Problem, lowest_fit, make_problem
from microgen.planner.lifetimes import Liveness, all_merged, lower_bound


def place(liveness: Liveness, alignment: int) -> Layout:
    """Use every in-place pair, then place by size, and by lifetime if sizes are equal."""
    # Too much is live at once to look at every pair, so buffers are placed in the order of time.
    if sweep.is_crowded(liveness):
        return sweep.place(liveness, alignment)
    problem = make_problem(liveness, all_merged(liveness), alignment)
    offsets = best_offsets(problem)
    gap = problem.peak(offsets) - lower_bound(liveness)
    proof = f"no search: {gap} bytes above the bound" if gap else "optimal for this schedule"
    return problem.layout(offsets, proof)


def on_demand(liveness: Liveness, alignment: int) -> Layout:
    """Separate bytes for every buffer, in program order, as in TVM's AOT allocator without reuse:
    nothing shares memory and nothing runs in place."""
    offsets = {}
    end = 0
    for buffer in liveness.buffers:
        offsets[buffer.name] = aligned(end, alignment)
        end = offsets[buffer.name] + buffer.nbytes
    return Layout(offsets, (), f"no reuse: {end - lower_bound(liveness)} bytes above the bound")


def best_offsets(problem: Problem) -> list[int]:
    """The better of two orders: by size and lifetime, or by program order."""
    # Program order never needs more than on-demand does, because each block starts no higher than
    # the sum of the blocks before it.
    orders = (by_size(problem), list(range(len(problem.blocks))))
    return min((lowest_fit(problem, order) for order in orders), key=problem.peak)


def by_size(problem: Problem) -> list[int]:
    """Indices of the blocks: most bytes first, then longest life, then program order."""
    blocks, sizes = problem.blocks, problem.sizes
    return sorted(range(len(blocks)), key=lambda i: (-sizes[i], -blocks[i].steps, i))
