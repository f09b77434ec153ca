"""An independent check of a memory plan, from the program's calls alone.

It shares no code with the planners: lifetimes, in-place rules and the lower bound are computed
again here, in the plainest way possible.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate

from microgen.planner.program.plan import MemoryPlan, Placement, Pool
from microgen.planner.program.types import Program, Role, RunnerCall, Storage


@dataclass(frozen=True)
class _Need:
    """A buffer that a plan must place: its bytes, and the first and last call that touch it. State
    is touched by all calls and after the last, an input before the first, an output after the last.
    """

    nbytes: int
    birth: int
    death: int
    is_state: bool = False


def problems(program: Program, plan: MemoryPlan) -> list[str]:
    """Everything that is wrong with a plan, one sentence each, naming the buffers; empty if none.

    This checks that each sid and scratch buffer is placed once and with its size; alignment; sizes
    and capacities of pools, and who may use them; the callers' buffers; lifetimes; in-place pairs;
    that no two buffers that are live at the same time share bytes; peak, lower bound and gap;
    constants in their pools.
    """
    needs, impossible = _needs(program)
    found = [
        *impossible,
        *_presence(needs, plan),
        *_pools(plan),
        *_rights(program, plan),
        *_ports(program, plan),
        *_constants(program, plan),
        *_pairs(program, needs, plan),
        *_times(needs, plan),
        *_overlaps(needs, plan),
        *_numbers(program, plan),
    ]
    return list(dict.fromkeys(found))


def lower_bound(program: Program, others: Sequence[int] = ()) -> int:
    """The largest sum of live bytes at any half step, without rounding.

    A call that may run in place counts the bytes that its output shares with the input only once.
    ``others`` are the sizes in bytes of memories that are not counted. Each holds only buffers that
    are not larger than it.
    """
    needs, _ = _needs(program)
    # The difference at each birth and after each death; their running sum is the live bytes.
    changes = [0] * (len(program.calls) + 2)  # state is live one step longer than the calls
    for need in needs.values():
        changes[need.birth] += need.nbytes
        changes[need.death + 1] -= need.nbytes
    live = list(accumulate(changes))
    for k, call in enumerate(program.calls):
        # A pair only shares bytes in its own call, so the calls' savings are independent.
        live[k] -= _saving(needs, sorted(_allowed(program, call, needs).items()))
    for nbytes in others:
        for k in range(len(live)):
            held = (n.nbytes for n in needs.values() if n.birth <= k <= n.death)
            live[k] -= min(nbytes, sum(size for size in held if size <= nbytes))
    # At least 0, because the other memories may hold more than all live bytes.
    return max(0, *live)


def _roles(program: Program, call: RunnerCall) -> list[tuple[int, Role, str]]:
    """The planned buffers of a call: parameter position, role, name."""
    parameters = list(enumerate(program.function(call.function).parameters))
    pointers = [(position, p.role) for position, p in parameters if p.role != Role.SCRATCH]
    return [
        (position, role, argument.name)
        for (position, role), argument in zip(pointers, call.args, strict=True)
        if argument.storage == Storage.SID
    ]


def _needs(program: Program) -> tuple[dict[str, _Need], list[str]]:
    # Sizes come from declarations, times only from the calls, as the runner makes them.
    sizes = {b.name: b.nbytes for b in program.buffers}
    state = {b.name for b in program.state}
    needs = {name: _Need(sizes[name], 0, len(program.calls), is_state=True) for name in state}
    needs |= {b.name: _Need(b.nbytes, 0, 0) for b in program.buffers if b.is_input}
    outputs = {b.name for b in program.buffers if b.is_output}
    found = []
    for k, call in enumerate(program.calls):
        if call.index != k:
            found.append(f"call {k} has index {call.index}")
        used = _roles(program, call)
        for _, role, name in used:
            if role != Role.OUTPUT and name not in needs:
                found.append(f"{name} is read by call {k} before it is written")
        for _, _, name in used:
            if name in state:
                continue
            birth = needs[name].birth if name in needs else k
            # The caller reads an output after the last call, so it remains live.
            death = len(program.calls) if name in outputs else k
            needs[name] = _Need(sizes.get(name, 0), birth, death)
        if call.scratch:
            needs[f"scratch_{k}"] = _Need(call.scratch, k, k)
    found += [f"{name} is used by a call, but undeclared" for name in _undeclared(program, needs)]
    found += [f"{name} is a buffer that no call uses" for name in sizes if name not in needs]
    return needs, found


def _undeclared(program: Program, needs: Mapping[str, _Need]) -> list[str]:
    known = {b.name for b in program.buffers}
    known |= {f"scratch_{k}" for k, call in enumerate(program.calls) if call.scratch}
    return [name for name in needs if name not in known]


def _presence(needs: Mapping[str, _Need], plan: MemoryPlan) -> Iterator[str]:
    count = Counter(p.name for p in plan.placements)
    for name in needs:
        if count[name] != 1:
            yield f"{name} is placed {count[name]} times, expected once"
    for p in plan.placements:
        if p.name not in needs:
            yield f"{p.name} is placed, but the program does not use it"
        elif p.nbytes != needs[p.name].nbytes:
            yield f"{p.name} has {p.nbytes} bytes, expected {needs[p.name].nbytes}"
    # Other stages look buffers up by name, so the map must not differ from the checked placements.
    if dict(plan.by_name) != {p.name: p for p in plan.placements}:
        yield "by_name does not say what the placements say"


def _pools(plan: MemoryPlan) -> Iterator[str]:
    names = [pool.name for pool in plan.pools]
    if len(set(names)) != len(names):
        yield "two pools have one name"
    for p in plan.placements:
        if p.pool not in names:
            yield f"{p.name} lies in {p.pool}, which is not a pool of the plan"
    for pool in plan.pools:
        inside = [p for p in plan.placements if p.pool == pool.name]
        for p in inside:
            if p.offset < 0 or p.offset + p.nbytes > pool.nbytes:
                yield f"{p.name} ends at {p.offset + p.nbytes}, outside {pool.name}"
            if p.offset % pool.alignment:
                yield f"{p.name} has offset {p.offset}, not a multiple of {pool.alignment}"
        # A larger pool would waste RAM, and a smaller one would let another symbol overlap it.
        end = max((p.offset + p.nbytes for p in inside), default=0)
        if end != pool.nbytes and not pool.port:
            yield f"{pool.name} has {pool.nbytes} bytes, but its last buffer ends at {end}"
    for pool in (*plan.pools, *plan.constant_pools):
        # None is a pool without a limit.
        if pool.capacity is not None and pool.nbytes > pool.capacity:
            yield f"{pool.name} has {pool.nbytes} bytes, at most {pool.capacity} were given"


def _rights(program: Program, plan: MemoryPlan) -> Iterator[str]:
    """Buffers in pools that their calls may not use, and variables in the caller's pools."""
    pools = {pool.name: pool for pool in plan.pools}
    places = {p.name: pools[p.pool] for p in plan.placements if p.pool in pools}
    for k, call in enumerate(program.calls):
        target = program.function(call.function).target
        for name in (*(name for _, _, name in _roles(program, call)), f"scratch_{k}"):
            if name in places and places[name].targets and target not in places[name].targets:
                yield f"call {k} of target {target} uses {name} in {places[name].name}"
    for buffer in program.state:
        if buffer.name in places and not places[buffer.name].is_internal:
            yield f"{buffer.name} is a variable, and {places[buffer.name].name} the caller's"


def _ports(program: Program, plan: MemoryPlan) -> Iterator[str]:
    """The problems of pools in callers' buffers. Such a pool has the ports' bytes, and the ports
    are at its start. Other buffers in it need no more alignment than the caller promises, and only
    kernels use them."""
    places = {p.name: p for p in plan.placements}
    ports = (*program.inputs, *program.outputs)
    for pool in (pool for pool in plan.pools if pool.port):
        own = [port for port in ports if pool.port in (port.name, port.over)]
        if pool.nbytes != pool.before + max((port.type.nbytes for port in own), default=0):
            yield f"{pool.name} has {pool.nbytes} bytes, which are not the port's"
        for port in own:
            if port.sid not in places or places[port.sid].pool != pool.name:
                yield f"{port.sid} is not in {pool.name}, which is its port's"
            elif places[port.sid].offset != pool.before:
                yield f"{port.sid} is not at {pool.before} of {pool.name}"
        inside = {p.name for p in plan.placements if p.pool == pool.name}
        yield from _strangers(program, pool, inside - {port.sid for port in own})


def _strangers(program: Program, pool: Pool, inside: Set[str]) -> Iterator[str]:
    """The problems of buffers in a port's pool that are not the port's own."""
    for port in (*program.inputs, *program.outputs):
        if port.sid in inside:
            yield f"{port.sid} is a port in {pool.name}, which is not its own"
    for k, call in enumerate(program.calls):
        # The context of a device, which is the last argument, has no type.
        types = zip(call.args, call.types, strict=False)
        used = {a.name: t.dtype.nbytes for a, t in types if a.storage == Storage.SID}
        # Scratch is aligned to words.
        used |= {f"scratch_{k}": 4} if call.scratch else {}
        for name in sorted(inside & used.keys()):
            if program.function(call.function).made is not None:
                yield f"call {k} is not of a kernel, and uses {name} in {pool.name}"
            if used[name] > pool.promised:
                yield f"{name} needs {used[name]} bytes of alignment in {pool.name}"


def _constants(program: Program, plan: MemoryPlan) -> Iterator[str]:
    if not plan.constant_pools:
        if plan.constants:
            yield "constants are placed, but there is no pool for them"
        return
    linked = program.held_constants | {b.initial for b in program.state}  # these are in no pool
    sizes = {c.name: c.array.nbytes for c in program.constants if c.name not in linked}
    if {p.name: p.nbytes for p in plan.constants} != sizes or len(plan.constants) != len(sizes):
        yield "constants are not placed once each with their sizes"
    for pool in plan.constant_pools:
        end = 0
        # In the order of addresses, so that only neighbours can overlap.
        inside = [p for p in plan.constants if p.pool == pool.name]
        for p in sorted(inside, key=lambda p: p.offset):
            if p.offset < end or p.offset % pool.alignment:
                yield f"{p.name} at {p.offset} of {pool.name} overlaps or is not aligned"
            end = p.offset + p.nbytes
        if end != pool.nbytes:
            yield f"{pool.name} has {pool.nbytes} bytes, but its last constant ends at {end}"


def _allowed(
    program: Program, call: RunnerCall, needs: Mapping[str, _Need]
) -> dict[tuple[str, str], int]:
    """The pairs (input, output) of buffers that may overlap in this call, with their lags."""
    used = _roles(program, call)
    names = {position: name for position, _, name in used}
    for position, parameter in enumerate(program.function(call.function).parameters):
        if call.scratch and parameter.role == Role.SCRATCH:
            names[position] = f"scratch_{call.index}"
    listed = {(pair.input, pair.output): pair.lag for pair in call.in_place}
    outputs = {
        position
        for position, role, name in used
        if role == Role.OUTPUT and not needs[name].is_state
    }
    written = {names[position] for position in outputs}
    # With two pairs, an output that begins before its input could reach the other pair's input. So
    # it must be the only output that the call plans.
    alone = sum(role == Role.OUTPUT for _, role, _ in used) == 1
    allowed = {}
    for (i, o), lag in listed.items():
        # An input that the same call also writes must not lose its bytes before the call ends.
        if i not in names or o not in outputs or names[i] in written:
            continue
        source, target = needs[names[i]], needs[names[o]]
        # A kernel that reads the buffer at several positions must allow the overlap at each.
        reads = {p for p, name in names.items() if name == names[i]}
        # Without a lag the output must not be larger.
        is_inside = target.nbytes <= source.nbytes
        if (
            all(listed.get((p, o)) == lag for p in reads)
            and source.death == target.birth == call.index
            and (alone and _shared(source, target, lag) > 0 if lag else is_inside)
        ):
            allowed[names[i], names[o]] = lag
    return allowed


def _shared(source: _Need, target: _Need, lag: int) -> int:
    """The number of bytes that both share if the target begins ``lag`` bytes before the source."""
    return source.nbytes + target.nbytes - max(source.nbytes + lag, target.nbytes)


def _saving(needs: Mapping[str, _Need], pairs: list[tuple[tuple[str, str], int]]) -> int:
    """The most bytes that pairs of one call save if each buffer is in at most one pair."""
    if not pairs:
        return 0
    ((source, target), lag), *rest = pairs
    others = [p for p in rest if p[0][0] != source and p[0][1] != target]
    own = _shared(needs[source], needs[target], lag)
    # Either the first pair is left out, or it is used without the others that share a buffer with
    # it.
    return max(_saving(needs, rest), own + _saving(needs, others))


def _pairs(program: Program, needs: Mapping[str, _Need], plan: MemoryPlan) -> Iterator[str]:
    for side, names in (
        ("input", [p.input for p in plan.in_place]),
        ("output", [p.output for p in plan.in_place]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{name} is the {side} of {count} in-place pairs"
    placed = {p.name: p for p in plan.placements}
    for pair in plan.in_place:
        source, target = pair.input, pair.output
        if source not in needs or target not in needs:
            yield f"in-place pair {source}, {target} names a buffer that the program does not use"
            continue
        allowed = _allowed(program, program.calls[needs[target].birth], needs)
        lag = allowed.get((source, target))
        if lag is None:
            yield f"{target} may not take the place of {source}"
        elif lag != pair.lag:
            yield f"{target} has a lag of {pair.lag} bytes to {source}, expected {lag}"
        elif source in placed and target in placed:
            # The pool may be unknown, which is another problem; then every offset is possible.
            units = [pool.alignment for pool in plan.pools if pool.name == placed[source].pool]
            yield from _distance(placed[source], placed[target], lag, max(units, default=1))


def _distance(source: Placement, target: Placement, lag: int, unit: int) -> Iterator[str]:
    """Whether an output that overlaps its input begins at the required distance from it."""
    # Rounded up, because every offset in the pool is a multiple of its alignment.
    before, expected = source.offset - target.offset, -(-lag // unit) * unit
    if source.pool != target.pool:
        yield f"{target.name} is not in the pool of {source.name}, which it replaces"
    elif before != expected:
        yield f"{target.name} starts {before} bytes before {source.name}, expected {expected}"


def _intervals(needs: Mapping[str, _Need], plan: MemoryPlan) -> dict[str, tuple[int, int]]:
    """First and last half step of each buffer, with the pairs that the plan declares."""
    replaced = {pair.input for pair in plan.in_place}
    replacing = {pair.output for pair in plan.in_place}
    # A pair hands its bytes over within the call: the input ends at 2k, the output begins at 2k+1.
    return {
        name: (2 * need.birth + (name in replacing), 2 * need.death + (name not in replaced))
        for name, need in needs.items()
    }


def _times(needs: Mapping[str, _Need], plan: MemoryPlan) -> Iterator[str]:
    intervals = _intervals(needs, plan)
    for p in plan.placements:
        if p.name in intervals:
            first, last = intervals[p.name]
            if (p.first, p.last) != (first, last):
                yield f"{p.name} is live [{p.first}, {p.last}], expected [{first}, {last}]"


def _overlaps(needs: Mapping[str, _Need], plan: MemoryPlan) -> Iterator[str]:
    """For each buffer the first one that it overlaps, in the order of time."""
    live: dict[str, list[tuple[int, int, str]]] = {p.pool: [] for p in plan.placements}
    for is_born, p in _events(needs, plan):
        there, own = live[p.pool], (p.offset, p.offset + p.nbytes, p.name)
        # Live buffers are in the order of their offsets and do not overlap, because one that does
        # is reported and left out. So only the nearest buffer that begins below a new one can reach
        # it.
        place = bisect_left(there, own)
        near = there[max(0, place - 1) : place + 1]
        met = [name for start, end, name in near if start < own[1] and own[0] < end]
        if is_born and met:
            yield f"{met[0]} and {p.name} overlap while both are live"
        elif is_born:
            there.insert(place, own)
        elif own in near:
            del there[place]


def _events(needs: Mapping[str, _Need], plan: MemoryPlan) -> Iterator[tuple[bool, Placement]]:
    """Births (True) and deaths of buffers with bytes, in the order of time; deaths come first."""
    intervals = _intervals(needs, plan)
    real = [p for p in plan.placements if p.name in intervals and p.nbytes]
    births = [(intervals[p.name][0], True, i) for i, p in enumerate(real)]
    # A buffer is still live at its last half step. So its death is one half step later, before the
    # births of that time.
    deaths = [(intervals[p.name][1] + 1, False, i) for i, p in enumerate(real)]
    for _, is_born, i in sorted((*births, *deaths)):
        yield is_born, real[i]


def _numbers(program: Program, plan: MemoryPlan) -> Iterator[str]:
    ports = [pool for pool in plan.pools if pool.port]
    bound = lower_bound(program, [pool.nbytes - pool.before for pool in ports])
    if plan.lower_bound != bound:
        yield f"lower bound is {plan.lower_bound}, expected {bound}"
    callers = sum(pool.nbytes - pool.before for pool in ports)
    if plan.peak != sum(pool.nbytes for pool in plan.pools) - callers:
        yield f"peak is {plan.peak}, which is not the sum of the pools"
    # A plan below the bound would be a defect of the bound or of the lifetimes.
    if plan.peak < bound:
        yield f"peak is {plan.peak}, below the lower bound of {bound}"
    if plan.gap != plan.peak - plan.lower_bound:
        yield f"gap is {plan.gap}, expected {plan.peak - plan.lower_bound}"
