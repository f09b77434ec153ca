"""Random programs for property tests.

They have skips, repeated reads, in-place calls, several outputs, scratch and state.
"""

from __future__ import annotations

from hypothesis import strategies as st

from microgen.planner.program.types import Program
from tests.planner.builder import Builder

ALIGNMENTS = st.sampled_from([1, 2, 4, 16])


@st.composite
def programs(draw: st.DrawFn, *, most_buffers: int = 12, largest: int = 70) -> Program:
    """A program of at most ``most_buffers`` sids and scratch buffers."""
    builder = Builder()
    sizes = st.integers(0, largest) | st.sampled_from([n for n in (4, 16, 32, 48) if n <= largest])
    left = draw(st.integers(1, most_buffers))
    while left > 0:
        known = [name for name in builder.sizes if name not in builder.variables]
        reads = [draw(st.sampled_from(known[-4:])) for _ in range(draw(st.integers(0, 2))) if known]
        writes = {
            f"sid_{len(known) + i}": _size(draw, builder, reads, sizes)
            for i in range(min(left, draw(st.sampled_from([1, 1, 1, 2]))))
        }
        left -= len(writes)
        scratch = draw(st.just(0) | st.integers(1, largest)) if left else 0
        left -= bool(scratch)
        if left > 0 and draw(st.sampled_from([False, False, False, True])):
            reads.append(f"state_{len(builder.calls)}")
            builder.variable(reads[-1], draw(sizes))
            left -= 1
        pairs = [(i, o) for i in range(len(reads)) for o in range(len(writes))]
        lags = st.just(0) | st.integers(0, largest)
        in_place = [(*pair, draw(lags)) for pair in pairs if draw(st.booleans())]
        builder.call(reads or ["input"], writes, scratch=scratch, in_place=in_place)
    known = [name for name in builder.sizes if name not in builder.variables]
    builder.call(draw(st.lists(st.sampled_from(known), max_size=2)), ["output"])
    return builder.build()


def _size(draw, builder, reads, sizes):
    if reads and draw(st.booleans()):
        return builder.sizes[reads[0]]
    return draw(sizes)
