"""The memory plan of a program or of a generated project, as data and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from microgen.base.manifest import BufferRecord, FeedRecord, ModuleRecord, PlanRecord
from microgen.base.manifest.schedule import ScheduleRecord
from microgen.base.names import cnames
from microgen.base.output.text_layout import Column, Part, Table
from microgen.planner import timeline
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.types import Program
from microgen.project.firmware import record

CHART = 40  # columns of calls; if there are more calls, several share a column
_BAR = 24


@dataclass(frozen=True, slots=True)
class ShownPool:
    """A pool: planned bytes, ``capacity`` (None: no limit), and the names of its contents."""

    name: str
    nbytes: int
    capacity: int | None
    is_internal: bool
    holds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """One model's plan, and all its pools. ``computes``: the tensors of each call's layers.
    ``schedule`` is None for projects of earlier versions. ``feed``: the input is fed in rows."""

    module: str
    plan: MemoryPlan | PlanRecord
    io_bytes: int
    buffers: tuple[BufferRecord, ...]
    pools: tuple[ShownPool, ...]
    computes: tuple[tuple[str, ...], ...]
    schedule: ScheduleRecord | None = None
    feed: FeedRecord | None = None

    @property
    def gap(self) -> int:
        """Bytes by which the peak exceeds the lower bound."""
        return self.plan.peak - self.plan.lower_bound

    @property
    def live(self) -> tuple[int, ...]:
        """Bytes of planned buffers that are live during each call."""
        placed = ((b.name, b.offset, b.nbytes, b.first, b.last) for b in self.buffers)
        pairs = ((p.input, p.output) for p in self.plan.in_place)
        return timeline.live(timeline.spans(placed, pairs), len(self.computes))

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the form of docs/schemas/plan.json."""
        return {
            "module": self.module,
            **{n: getattr(self.plan, n) for n in ("algorithm", "peak", "lower_bound")},
            "gap": self.gap,
            "proof": self.plan.proof,
            "schedules": self._certified(),
            "io_bytes": self.io_bytes,
            "arena": self.plan.peak + self.io_bytes,
            "feed": asdict(self.feed) if self.feed else None,
            "buffers": [_buffer(buffer) for buffer in self.buffers],
            "in_place": [[p.input, p.output, p.lag] for p in self.plan.in_place],
            "pools": [_pool(pool) for pool in self.pools],
            "calls": [
                {"computes": list(names), "live": nbytes}
                for names, nbytes in zip(self.computes, self.live, strict=True)
            ],
        }

    def parts(self) -> Iterator[Part]:
        """The table of buffers by call, the table of calls by live bytes, then the totals."""
        if self.buffers and self.computes:
            buckets = _buckets(len(self.computes))
            yield from self._buffer_table(buckets)
            yield ""
            yield self._call_table(buckets)
        else:
            yield "no planned buffers: every result goes straight to an output"
        yield ""
        yield (
            f"workspace peak {self.plan.peak:,} bytes, lower bound {self.plan.lower_bound:,}, "
            f"gap {self.gap:,} ({self.plan.proof})"
        )
        if self.feed:
            yield str(self.feed)
        certified = self._certified()
        if bound := certified["bound"]:
            more = f"{certified['gap']:,} more" if certified["gap"] else "no more"
            yield (
                f"certificate: no schedule needs less than {bound:,} bytes of workspace, inputs "
                f"and outputs; this one needs {more}"
            )
        if len(self.pools) > 1:
            yield from map(_pool_line, self.pools)

    def _certified(self) -> dict[str, Any]:
        """The number of compared schedules, the lower bound of their bytes, and the gap of this
        schedule to the bound."""
        considered = self.schedule.considered if self.schedule else 1
        bound = self.schedule.ram_bound if self.schedule else 0
        gap = self.plan.peak + self.io_bytes - bound if bound else None
        return {"considered": considered, "bound": bound or None, "gap": gap}

    def _buffer_table(self, buckets: Sequence[range]) -> Iterator[Part]:
        each = len(buckets[0])
        calls = "one column per call" if each == 1 else f"{each} calls per column"
        yield f"{calls}: # is live, = in its input's place, @ kept across runs"
        if any(pair.lag for pair in self.plan.in_place):
            yield "< is in its input's place, too, but begins before it"
        columns = ("offset", "bytes")
        table = Table(
            [Column("buffer"), *(Column(c, right=True) for c in columns), Column("calls")]
        )
        taken = {pair.output: "<" if pair.lag else "=" for pair in self.plan.in_place}
        for b in self.buffers:
            cells = "".join(_cell(b, bucket, taken.get(b.name, "")) for bucket in buckets)
            table.add(b.name, f"{b.offset:,}", f"{b.nbytes:,}", cells)
        # The first such call, if several have as many bytes.
        peak = self.live.index(max(self.live))
        mark = "".join("^" if peak in bucket else "." for bucket in buckets)
        table.add("most at once", "", f"{max(self.live):,}", mark)
        yield table

    def _call_table(self, buckets: Sequence[range]) -> Table:
        live = self.live
        most = max(live)
        numbers = [Column("call", right=True), Column("live bytes", right=True)]
        table = Table([*numbers, Column("of the most"), Column("computes", shorten=True)])
        for bucket in buckets:
            # Several calls in a row are shown by the call with most live bytes, so that the peak is
            # in the table.
            call = max(bucket, key=lambda k: live[k])
            last = f"-{bucket.stop}" if len(bucket) > 1 else ""
            bar = "#" * (_BAR * live[call] // max(1, most))
            names = " + ".join(cnames.short(name, 60) for name in self.computes[call])
            table.add(f"{bucket.start + 1}{last}", f"{live[call]:,}", bar, names)
        return table


def of_program(
    program: Program, plan: MemoryPlan, schedule: ScheduleRecord | None = None
) -> ShownPlan:
    """The plan of a program that was just compiled, with its schedule, if known."""
    inside = (*plan.placements, *plan.constants)
    return ShownPlan(
        program.module,
        plan,
        program.io_bytes,
        record.buffers(program, plan),
        pools=tuple(
            ShownPool(p.name, p.nbytes, p.capacity, p.is_internal, _names(inside, p.name))
            for p in (*plan.pools, *plan.constant_pools)
        ),
        computes=tuple(tuple(step.tensor for step in call.steps) for call in program.calls),
        schedule=schedule,
        feed=record.feed(program),
    )


def of_module(module: ModuleRecord) -> ShownPlan:
    """The plan that a generated project records."""
    plan = module.plan
    return ShownPlan(
        module.module,
        plan,
        plan.io_bytes,
        plan.buffers,
        pools=tuple(
            ShownPool(p.name, p.nbytes, p.capacity, bool(p.symbol), _names(plan.buffers, p.name))
            for p in plan.pools
        ),
        computes=tuple(tuple(step.tensor for step in call.steps) for call in module.calls),
        schedule=module.schedule,
        feed=module.feed,
    )


def _names(placed: Sequence[Any], pool: str) -> tuple[str, ...]:
    return tuple(one.name for one in placed if one.pool == pool)


def _buffer(buffer: BufferRecord) -> dict[str, Any]:
    names = ("name", "pool", "offset", "nbytes", "first", "last")
    return {**{name: getattr(buffer, name) for name in names}, "state": buffer.is_state}


def _pool(pool: ShownPool) -> dict[str, Any]:
    names = ("name", "nbytes", "capacity")
    return {**{name: getattr(pool, name) for name in names}, "external": not pool.is_internal}


def _pool_line(pool: ShownPool) -> str:
    limit = "" if pool.capacity is None else f" of {pool.capacity:,}"
    owner = "linked in" if pool.is_internal else "the caller's"
    holds = ", ".join(pool.holds) or "unused"
    return f"  {pool.name}, {owner}: {pool.nbytes:,}{limit} bytes: {holds}"


def _buckets(calls: int) -> list[range]:
    size = -(-calls // CHART)
    return [range(start, min(start + size, calls)) for start in range(0, calls, size)]


def _cell(buffer: BufferRecord, bucket: range, taken: str) -> str:
    # Lifetimes are in half steps: call k is 2 k and 2 k + 1.
    if taken and buffer.first // 2 in bucket:
        return taken
    is_live = buffer.first // 2 < bucket.stop and buffer.last // 2 >= bucket.start
    return ("@" if buffer.is_state else "#") if is_live else "."
