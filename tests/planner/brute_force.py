"""The least peak of a small program, found by trying every aligned offset of every buffer.

It works on bytes and half steps, and shares nothing with the planners.
"""

from __future__ import annotations

from itertools import chain, combinations

from microgen.planner.program.types import Program, Role


def least_peak(program: Program, alignment: int) -> int:
    """The bytes of the smallest workspace over all offsets and all choices of in-place pairs."""
    sizes, births, deaths, pairs = _facts(program, alignment)
    peak = max(sizes.values(), default=0)
    while not any(
        _fits(_boxes(sizes, births, deaths, chosen), peak, alignment, chosen)
        for chosen in _choices(pairs)
    ):
        peak += 1
    return peak


def _facts(program, alignment):
    sizes = {b.name: b.nbytes for b in program.buffers}
    births, deaths, pairs = {}, {}, []
    for k, call in enumerate(program.calls):
        for argument in call.args:
            if argument.name in sizes:
                births.setdefault(argument.name, k)
                deaths[argument.name] = k
        if call.scratch:
            name = f"scratch_{k}"
            sizes[name], births[name], deaths[name] = call.scratch, k, k
    for buffer in program.state:
        births[buffer.name], deaths[buffer.name] = 0, len(program.calls)
    for k, call in enumerate(program.calls):
        roles = [p.role for p in program.function(call.function).parameters]
        shift = roles.count(Role.SCRATCH)
        names = [argument.name for argument in call.args]
        for pair in call.in_place:
            a, b = names[pair.input - shift], names[pair.output - shift]
            reads = [i for i, n in enumerate(names) if n == a]
            same = [p for p in call.in_place if (p.output, p.lag) == (pair.output, pair.lag)]
            listed = {p.input - shift for p in same}
            only = roles.count(Role.OUTPUT) == 1 and sizes.get(a)
            fits = only and sizes.get(b, 0) > pair.lag if pair.lag else True
            if a in sizes and b in sizes and deaths[a] == k == births[b] and fits:  # noqa: SIM102
                if set(reads) <= listed and (pair.lag or sizes[b] <= sizes[a]):
                    pairs.append((k, a, b, -(-pair.lag // alignment) * alignment))
    pairs = list(dict.fromkeys(pairs))
    return sizes, births, deaths, pairs


def _choices(pairs):
    subsets = chain.from_iterable(combinations(pairs, n) for n in range(len(pairs), -1, -1))
    for chosen in subsets:
        inputs, outputs = {p[1] for p in chosen}, {p[2] for p in chosen}
        if len(inputs) == len(outputs) == len(chosen):
            yield chosen


def _boxes(sizes, births, deaths, chosen):
    """The (name, bytes, first, last) of each buffer, the largest first."""
    inputs, outputs = {p[1] for p in chosen}, {p[2] for p in chosen}
    boxes = [
        (n, sizes[n], 2 * births[n] + (n in outputs), 2 * deaths[n] + (n not in inputs))
        for n in sizes
    ]
    return sorted(boxes, key=lambda box: (-box[1], box[2]))


def _fits(boxes, peak, alignment, chosen, placed=()):
    if len(placed) == len(boxes):
        return True
    name, nbytes, first, last = boxes[len(placed)]
    for offset in range(0, peak - nbytes + 1, alignment):
        if all(
            _apart(offset, nbytes, first, last, *other) and _tied(name, offset, *other, chosen)
            for other in placed
        ) and _fits(boxes, peak, alignment, chosen, (*placed, (name, offset, nbytes, first, last))):
            return True
    return False


def _apart(offset, nbytes, first, last, _name, at, other_bytes, other_first, other_last):
    if last < other_first or other_last < first or not nbytes or not other_bytes:
        return True
    return offset + nbytes <= at or at + other_bytes <= offset


def _tied(name, offset, other, at, _bytes, _first, _last, chosen):
    lags = {(a, b): lag for _, a, b, lag in chosen}
    first, second = lags.get((name, other)), lags.get((other, name))
    return (first is None or offset - at == first) and (second is None or at - offset == second)
