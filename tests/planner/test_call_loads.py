"""Programs that differ in some calls: what a new analysis finds."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from microgen.planner.call_loads import CallLoads
from microgen.planner.lifetimes import analyse, lower_bound
from microgen.planner.program.types import Program
from tests.planner.strategies import programs


@settings(max_examples=150, deadline=None, derandomize=True)
@given(programs(), st.data())
def test_loads_are_those_of_the_changed_program(program: Program, data: st.DataObject) -> None:
    """Calls get other scratch, and lose pairs or get them back."""
    loads, functions = CallLoads(program), {one.name: one for one in program.functions}
    for _ in range(3):
        chosen = data.draw(st.sets(st.integers(0, len(program.calls) - 1)))
        calls = list(program.calls)
        for number in chosen:
            pairs = calls[number].in_place[: data.draw(st.integers(0, 2))]
            scratch = data.draw(st.integers(0, 40))
            calls[number] = replace(calls[number], scratch=scratch, in_place=pairs)
        made = [loads.load(calls[k], functions[calls[k].function].parameters) for k in chosen]
        changed = replace(program, calls=tuple(calls))
        exchanged = {one.call: one for one in made}
        assert loads.bound(exchanged) == lower_bound(analyse(changed))
        assert loads.liveness(exchanged) == analyse(changed)
