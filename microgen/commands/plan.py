"""``microgen plan``: the memory plan of a model."""

from __future__ import annotations

import argparse

from microgen import api
from microgen.commands import compiling
from microgen.console import Console, Outcome
from microgen.planner.timeline import timeline
from microgen.program import MemoryPlan, Pool

HELP = "Show a model's memory plan: peak, lower bound, gap and a timeline."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    compiling.add_model(parser)
    parser.add_argument("-b", "--board", default=compiling.DEFAULT_BOARD)
    compiling.add_planning(parser)


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Plan, and draw it."""
    with console.step("planning"):
        program, plan = api.plan(args.model, args.board, **compiling.selected(args))
    io_bytes = program.io_bytes
    data = {
        "algorithm": plan.algorithm,
        "peak": plan.peak,
        "lower_bound": plan.lower_bound,
        "gap": plan.gap,
        "proof": plan.proof,
        "io_bytes": io_bytes,
        "arena": plan.peak + io_bytes,
        "buffers": [
            {
                "name": p.name,
                "pool": p.pool,
                "offset": p.offset,
                "nbytes": p.nbytes,
                "first": p.first,
                "last": p.last,
            }
            for p in plan.placements
        ],
        "in_place": [list(pair) for pair in plan.in_place],
        "pools": [
            {
                "name": p.name,
                "nbytes": p.nbytes,
                "capacity": p.capacity,
                "external": not p.is_internal,
            }
            for p in (*plan.pools, *plan.constant_pools)
        ],
    }
    text = (
        f"{timeline(program, plan)}\n"
        f"workspace peak {plan.peak:,} bytes, lower bound {plan.lower_bound:,}, gap {plan.gap:,} "
        f"({plan.proof})\n{_pools(plan)}"
        f"with inputs and outputs ({io_bytes:,} bytes): {plan.peak + io_bytes:,} bytes"
    )
    return Outcome(data, text)


def _pools(plan: MemoryPlan) -> str:
    """A line for each pool where there is more to choose from than one."""
    pools = (*plan.pools, *plan.constant_pools)
    return "".join(f"  {_pool(pool, plan)}\n" for pool in pools) if len(pools) > 1 else ""


def _pool(pool: Pool, plan: MemoryPlan) -> str:
    limit = "" if pool.capacity is None else f" of {pool.capacity:,}"
    owner = "linked in" if pool.is_internal else "the caller's"
    inside = [p.name for p in plan.placements if p.pool == pool.name]
    inside += [p.name for p in plan.constants if p.pool == pool.name]
    return f"{pool.name}, {owner}: {pool.nbytes:,}{limit} bytes: {', '.join(inside) or 'unused'}"
