"""Several pools: spill order, capacities, targets, alignments, and the error without room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgen.base.errors import CapacityError, InternalError
from microgen.graph.ir.graph import ArrayType, DType
from microgen.planner import ALGORITHMS, check, plan, spill
from microgen.planner.program.plan import MemoryPlan, Pool
from microgen.planner.program.port_buffers import in_workspace
from microgen.planner.program.types import (
    Argument,
    FirmwareConstant,
    Port,
    Program,
    Storage,
    Transform,
)
from tests.planner.builder import Builder, chain, changed
from tests.planner.strategies import programs

quick = settings(max_examples=60, deadline=None, derandomize=True)
EVERY = pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))


def _pools(*capacities: int | None, alignment: int = 16) -> list[Pool]:
    return [Pool(f"p{i}", 0, alignment, capacity=c) for i, c in enumerate(capacities)]


def _in(made: MemoryPlan, pool: str) -> set[str]:
    return {p.name for p in made.placements if p.pool == pool}


@EVERY
def test_one_pool_is_planned_as_if_none_were_named(algorithm: str) -> None:
    program = chain([100, 300, 200, 300], in_place=(2,))
    named = plan(program, algorithm=algorithm, pools=[Pool("global_workspace", 0, 16)])
    assert named == plan(program, algorithm=algorithm)


@EVERY
def test_the_first_pool_with_room_takes_the_buffer(algorithm: str) -> None:
    made = plan(chain([64, 256, 64]), algorithm=algorithm, pools=_pools(128, None))
    assert _in(made, "p0") == {"sid_0", "sid_2"}
    assert _in(made, "p1") == {"sid_1"}
    assert [pool.nbytes for pool in made.pools] == (
        [128, 256] if algorithm == "on-demand" else [64, 256]
    )


@EVERY
def test_the_order_of_declaration_is_the_order_of_spilling(algorithm: str) -> None:
    pools = _pools(None, 4096)
    assert _in(plan(chain([64, 256]), algorithm=algorithm, pools=pools), "p1") == set()
    turned = plan(chain([64, 256]), algorithm=algorithm, pools=pools[::-1])
    assert _in(turned, "p0") == set()


@EVERY
def test_exactly_full_is_not_too_full(algorithm: str) -> None:
    made = plan(chain([64, 64]), algorithm=algorithm, pools=_pools(128))
    assert made.peak == 128
    with pytest.raises(CapacityError):
        plan(chain([64, 64]), algorithm=algorithm, pools=_pools(127))


@EVERY
def test_what_fits_nowhere_is_named_with_the_bytes_that_lack(algorithm: str) -> None:
    with pytest.raises(CapacityError) as error:
        plan(chain([64, 1000, 64]), algorithm=algorithm, pools=_pools(128, 900))
    assert str(error.value) == (
        '--pool: "sid_1" (sid_1, 1,000 bytes) fits no pool: p0 of 128 bytes lacks '
        f"{936 if algorithm == 'on-demand' else 872}, p1 of 900 bytes lacks 100; Please increase "
        "the size_hints for memory pools: --pool p1:1000 would fit, or declare another pool"
    )
    assert error.value.exit_code == 2


def test_one_pool_that_is_too_small_says_by_how_much() -> None:
    with pytest.raises(CapacityError, match=r"fits no pool: p0 of 100 bytes lacks 28; Please"):
        plan(chain([64, 64]), pools=_pools(100))


def test_following_the_hint_of_a_refusal_leads_to_a_plan() -> None:
    capacity = 10
    for _ in range(5):
        try:
            made = plan(chain([64, 96, 32]), pools=_pools(capacity))
            break
        except CapacityError as error:
            capacity = int(str(error).split("--pool p0:")[1].split()[0])
    assert made.peak == capacity == 160


def _with_target(program: Program, number: int, target: str) -> Program:
    functions = list(program.functions)
    functions[number] = replace(functions[number], target=target)
    return replace(program, functions=tuple(functions))


@EVERY
def test_a_buffer_lies_where_all_its_users_may_read_and_write(algorithm: str) -> None:
    program = _with_target(chain([64, 64, 64, 64]), 2, "npu")  # call 2 reads sid_1 and writes sid_2
    pools = [Pool("host", 0, 16, targets=("c",)), Pool("both", 0, 16, targets=("c", "npu"))]
    made = plan(program, algorithm=algorithm, pools=pools)
    assert _in(made, "host") == {"sid_0", "sid_3"}
    assert _in(made, "both") == {"sid_1", "sid_2"}


def test_a_target_without_a_pool_is_named() -> None:
    program = _with_target(chain([64, 64]), 1, "npu")
    with pytest.raises(CapacityError, match="none is for c, npu; declare one without"):
        plan(program, pools=[Pool("host", 0, 16, targets=("c",))])


def test_what_has_fewest_pools_goes_first_where_size_alone_fails() -> None:
    program = _with_target(chain([64, 16, 16, 64]), 2, "npu")
    pools = [Pool("all", 0, 16, capacity=32), Pool("host", 0, 16, targets=("c",))]
    made = plan(program, pools=[pools[0], pools[1]])
    assert {"sid_1", "sid_2"} <= _in(made, "all")


def test_each_pool_has_its_own_alignment_and_offsets_ignore_the_neighbours() -> None:
    """TVM v0.14 rounds the next offset by the neighbour's alignment instead of the buffer's own."""
    builder = Builder().call(["input"], {"a": 5}).call(["a"], {"b": 5, "c": 100})
    program = builder.call(["a", "b", "c"], ["output"]).build()
    pools = [Pool("tight", 0, 4, capacity=20), Pool("wide", 0, 64)]
    made = plan(program, pools=pools)
    assert {p.name: (p.pool, p.offset) for p in made.placements} == {
        "a": ("tight", 0),
        "b": ("tight", 8),
        "c": ("wide", 0),
    }
    assert [(pool.nbytes, pool.alignment) for pool in made.pools] == [(13, 4), (100, 64)]


def test_pools_are_packed_by_the_chosen_planner() -> None:
    program = chain([64, 64, 64, 64, 500])
    peaks = {
        name: [p.nbytes for p in plan(program, algorithm=name, pools=_pools(256, None)).pools]
        for name in ALGORITHMS
    }
    assert peaks == {"on-demand": [256, 500], "greedy": [128, 500], "optimal": [128, 500]}


def test_blocks_are_reordered_before_one_spills() -> None:
    sizes = {"a": 2, "b": 5, "c": 1, "d": 3, "e": 1, "f": 4, "g": 4}
    builder = Builder()
    names = list(sizes)
    for i, (name, size) in enumerate(sizes.items()):
        builder.call([names[j] for j in (i - 2, i - 1) if j >= 0] or ["input"], {name: size})
    program = builder.call(["g"], ["output"]).build()
    least = plan(program, alignment=1).peak
    assert least < plan(program, algorithm="greedy", alignment=1).peak
    made = plan(program, pools=_pools(least, None, alignment=1))
    assert _in(made, "p1") == set()


@EVERY
def test_variables_stay_out_of_pools_that_a_caller_passes(algorithm: str) -> None:
    builder = Builder().variable("state", 32)
    program = builder.call(["input", "state"], {"a": 64}).call(["a"], ["output"]).build()
    outside = Pool("dram", 0, 16, is_internal=False)
    made = plan(program, algorithm=algorithm, pools=[outside, Pool("own", 0, 16)])
    assert (_in(made, "dram"), _in(made, "own")) == ({"a"}, {"state"})
    with pytest.raises(CapacityError, match=r"none is for c and outlives a call"):
        plan(program, algorithm=algorithm, pools=[outside])


@st.composite
def _declared(draw: st.DrawFn) -> list[Pool]:
    capacities = draw(st.lists(st.integers(0, 300), min_size=0, max_size=3))
    alignments = st.sampled_from([1, 2, 4, 16])
    pools = [
        Pool(f"p{i}", 0, draw(alignments), capacity=c, targets=draw(st.sampled_from([(), ("c",)])))
        for i, c in enumerate(capacities)
    ]
    last = Pool("rest", 0, draw(alignments))
    return [*pools, last] if draw(st.booleans()) or not pools else [last, *pools]


@quick
@given(programs(), _declared(), st.sampled_from(sorted(ALGORITHMS)), st.sets(st.integers(0, 9)))
def test_plans_are_sound(
    program: Program, pools: Sequence[Pool], algorithm: str, on_npu: set[int]
) -> None:
    for number in on_npu & set(range(len(program.functions))):
        program = _with_target(program, number, "npu")
    made = plan(program, algorithm=algorithm, pools=pools)
    assert check.problems(program, made) == []
    assert made.peak >= made.lower_bound == check.lower_bound(program)
    assert made == plan(program, algorithm=algorithm, pools=pools)


@quick
@given(programs(), st.integers(0, 200), st.sampled_from(sorted(ALGORITHMS)))
def test_a_refusal_is_never_wrong_about_an_unlimited_pool(
    program: Program, capacity: int, algorithm: str
) -> None:
    try:
        made = plan(program, algorithm=algorithm, pools=_pools(capacity, capacity))
    except CapacityError as error:
        assert "lacks" in str(error)  # noqa: PT017
    else:
        assert all(pool.nbytes <= capacity for pool in made.pools)


def test_a_planner_that_overfills_a_pool_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_excess", lambda _pool, _end: 0)
    with pytest.raises(InternalError, match="p0 has 64 bytes, at most 10 were given"):
        plan(chain([64]), pools=_pools(10, None))


def test_the_check_sees_a_buffer_in_a_pool_of_another_target() -> None:
    program = _with_target(chain([64, 64, 64]), 1, "npu")
    pools = [Pool("host", 0, 16, targets=("c",)), Pool("all", 0, 16)]
    made = plan(program, pools=pools)
    assert made.by_name["sid_1"].pool == "all"
    broken = changed(made, "sid_1", pool="host", offset=0)
    assert "call 1 of target npu uses sid_1 in host" in check.problems(program, broken)


def test_the_check_sees_a_variable_in_the_callers_memory() -> None:
    builder = Builder().variable("state", 32)
    program = builder.call(["input", "state"], ["output"]).build()
    made = plan(program)
    outside = replace(made, pools=(replace(made.pools[0], is_internal=False),))
    assert any("state is a variable" in text for text in check.problems(program, outside))


# Inputs and outputs in the workspace


def _io(program: Program, **sizes: int) -> Program:
    """The program with input and output as planned ports of so many bytes.

    Its own buffers get other names, because the builder gives ports no ids.
    """
    program = replace(
        program,
        buffers=tuple(replace(b, name=f"own_{b.name}") for b in program.buffers),
        calls=tuple(
            replace(
                call,
                args=tuple(
                    replace(a, name=f"own_{a.name}") if a.storage is Storage.SID else a
                    for a in call.args
                ),
            )
            for call in program.calls
        ),
    )
    kinds = {name: ArrayType((n,), DType.INT8) for name, n in sizes.items()}
    ports = [Port(name, name, kind, sid=f"sid_{i}") for i, (name, kind) in enumerate(kinds.items())]
    return in_workspace(replace(program, inputs=(ports[0],), outputs=(ports[1],)))


@EVERY
def test_inputs_live_to_their_last_reader_and_outputs_to_the_end(algorithm: str) -> None:
    program = _io(chain([64, 64]), input=100, output=40)
    made = plan(program, algorithm=algorithm)
    lives = {p.name: (p.first, p.last) for p in made.placements}
    assert program.inputs[0].buffer == "sid_0"
    assert lives[program.inputs[0].buffer] == (0, 1)
    assert lives[program.outputs[0].buffer] == (4, 7)
    assert program.io_bytes == 0
    if algorithm != "on-demand":
        assert made.peak < 100 + 64 + 64 + 40  # the output has the place of the input


def test_an_input_read_late_shares_with_nothing_before() -> None:
    builder = Builder().call(["input"], {"a": 64}).call(["a", "input"], ["output"])
    program = _io(builder.build(), input=64, output=64)
    made = plan(program)
    assert made.by_name["sid_0"].last == 3
    assert made.peak == 192
    assert check.problems(program, changed(made, "own_a", offset=made.by_name["sid_0"].offset))


def test_an_input_that_nobody_reads_is_there_when_the_first_call_runs() -> None:
    program = Builder().call(["constant"], {"a": 64}).call(["a"], ["output"]).build()
    made = plan(_io(program, input=64, output=64))
    assert (made.by_name["sid_0"].first, made.by_name["sid_0"].last) == (0, 1)


def test_an_output_may_take_the_place_of_the_input() -> None:
    builder = Builder().call(["input"], ["output"], in_place=[(0, 0)])
    made = plan(_io(builder.build(), input=64, output=64))
    assert made.peak == made.lower_bound == 64
    assert len(made.in_place) == 1


@quick
@given(programs(), st.integers(1, 64), st.integers(1, 64), st.sampled_from(sorted(ALGORITHMS)))
def test_plans_with_ports_are_sound(
    program: Program, before: int, after: int, algorithm: str
) -> None:
    whole = _io(program, input=before, output=after)
    made = plan(whole, algorithm=algorithm, pools=_pools(100, None))
    assert check.problems(whole, made) == []
    end = 2 * len(whole.calls) + 1
    assert made.by_name[whole.outputs[0].buffer].last == end


# Constants in pools


def _with_constants(*sizes: int) -> Program:
    builder = Builder().call(["constant"] * len(sizes), ["output"])
    program = builder.build()
    constants = [
        FirmwareConstant(
            f"p{i}",
            "int8_t",
            np.zeros(n, np.int8),
            Transform("identity", (f"p{i}",)),
            "conv",
            "weight",
        )
        for i, n in enumerate(sizes)
    ]
    args = (*(Argument(Storage.CONSTANT, c.name) for c in constants), program.calls[0].args[-1])
    calls = (replace(program.calls[0], args=args),)
    return replace(program, calls=calls, constants=tuple(constants))


def test_constants_fill_their_pools_in_order() -> None:
    pools = [Pool(f"c{i}", 0, 16, capacity=c, is_constant=True) for i, c in enumerate((64, None))]
    made = plan(_with_constants(60, 10, 20, 4), pools=[Pool("w", 0, 16), *pools])
    assert [(p.pool, p.offset) for p in made.constants] == [
        ("c0", 0),
        ("c1", 0),
        ("c1", 16),
        ("c1", 48),
    ]
    assert [pool.nbytes for pool in made.constant_pools] == [60, 52]
    assert plan(_with_constants(60)).constants == ()


def test_a_constant_that_fits_no_pool_is_named() -> None:
    pools = [Pool("w", 0, 16), Pool("c0", 0, 16, capacity=64, is_constant=True)]
    with pytest.raises(CapacityError, match=r'"conv" \(p1, 10 bytes\).*c0 of 64 bytes lacks 10'):
        plan(_with_constants(60, 10), pools=pools)


def test_the_check_sees_constants_that_overlap() -> None:
    program = _with_constants(60, 10)
    made = plan(program, pools=[Pool("w", 0, 16), Pool("c0", 0, 16, is_constant=True)])
    moved = replace(made, constants=(made.constants[0], replace(made.constants[1], offset=48)))
    assert "p1 at 48 of c0 overlaps or is not aligned" in check.problems(program, moved)
    assert check.problems(program, replace(made, constants=made.constants[:1]))
