"""The next actions that a path of a runner may take: its calls, and the value that it returns."""

from __future__ import annotations

from collections.abc import Iterator

from microgen.verifier.runner_walk.plan import CallPlan
from microgen.verifier.runner_walk.values import PathState, SymbolicValue, const, result

# kTvmErrorFunctionCallWrongArgType: a pointer is NULL; kTvmErrorFunctionCallInvalidArg: a pool is
# misaligned.
_REFUSALS = (const(0x0801), const(0x0803))


def failures(state: PathState) -> list[int | None]:
    """The calls that may be the first failed one, from the path's decisions so far. None in the
    list stands for no failure."""
    if state.failed is None:
        return [*state.pending, None]
    return [*(number for number in state.pending if number < state.failed), state.failed]


def following(plan: CallPlan, state: PathState, failed: int | None) -> int | None:
    """The number of the call that comes next if that call has failed; None: the runner returns."""
    if failed is None:
        return state.made if state.made < len(plan.steps) else None
    clean_up = plan.after_failure(failed)
    position = state.made - failed - 1
    return clean_up[position] if position < len(clean_up) else None


def next_step(plan: CallPlan, state: PathState) -> tuple[int | None, str]:
    """The number of the only call that may come next, None if there is none; and the problem of any
    call now, empty if there is none."""
    possible = failures(state)
    numbers = {following(plan, state, failed) for failed in possible}
    if state.has_refused:
        return None, "after it has refused an argument"
    if len(numbers) > 1:
        unknown = next(plan.steps[n].function for n in possible if n is not None)
        return None, f"without a look at the status of {unknown}"
    return numbers.pop(), ""


def return_problems(plan: CallPlan, state: PathState, value: SymbolicValue | None) -> Iterator[str]:
    """The problems of a return of a value here."""
    returned = "an unknown value" if value is None else str(value)
    if state.has_refused:
        if state.made:
            yield "refuses an argument after it has called something"
        if value not in _REFUSALS:
            yield f"returns {returned} although it has refused an argument"
        return
    for failed in failures(state):
        missing = following(plan, state, failed)
        if missing is not None:
            yield f"returns before it calls {plan.steps[missing].function}"
        elif failed is not None and value != result(failed):
            yield f"returns {returned}, not the status of {plan.steps[failed].function}"
        elif failed is None and not _is_success(state, value):
            yield f"returns {returned} after success"
    if unseen := [pointer for pointer in plan.pointers if not _is_seen(state, pointer)]:
        yield f"never compares {unseen[0]} with NULL"
    if unseen := sorted((plan.equal | plan.apart) - state.zeros.keys()):
        yield f"never looks at {unseen[0]}"


def _is_seen(state: PathState, pointer: SymbolicValue) -> bool:
    """Whether a pointer was compared with NULL, or one that equals it."""
    equal = [d for d, is_zero in state.zeros.items() if is_zero and d.base[0] == "apart"]
    same = {other for d in equal if pointer in d.base for other in d.base[1:]}
    return not state.zeros.keys().isdisjoint({pointer, *same})


def _is_success(state: PathState, value: SymbolicValue | None) -> bool:
    """Whether the value is 0, or the status of a call. The status is 0 if no call has failed."""
    return value == const(0) or value in [result(number) for number in state.pending]
