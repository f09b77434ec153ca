"""What a path of a runner may do next: the calls that it makes, and what it returns."""

from __future__ import annotations

from collections.abc import Iterator

from microgen.verifier.aot.plan import Plan, is_refused
from microgen.verifier.aot.values import State, Value, const, result


def failures(plan: Plan, state: State) -> list[int | None]:
    """Which call may be the first that has failed, as far as the path has decided; None: none.

    The status of a call that cannot fail does not matter, unless the path looks at it.
    """
    found: list[int | None] = []
    for number in state.done:
        is_zero = state.zeros.get(result(number))
        if is_zero is False:
            return [*found, number]
        if is_zero is None and plan.steps[number].can_fail:
            found.append(number)
    return [*found, None]


def following(plan: Plan, state: State, failed: int | None) -> int | None:
    """The number of the call that comes next if that call has failed; None: the runner returns."""
    made = len(state.done)
    if failed is None:
        return made if made < len(plan.steps) else None
    clean_up = plan.after_failure(failed)
    position = made - failed - 1
    return clean_up[position] if position < len(clean_up) else None


def next_step(plan: Plan, state: State) -> tuple[int | None, str]:
    """The number of the only call that may come next, None if there is none; and what is wrong
    with any call now, empty if nothing is."""
    possible = failures(plan, state)
    numbers = {following(plan, state, failed) for failed in possible}
    if is_refusing(state):
        return None, "after it has refused an argument"
    if len(numbers) > 1:
        unknown = next(plan.steps[n].function for n in possible if n is not None)
        return None, f"without a look at the status of {unknown}"
    return numbers.pop(), ""


def is_refusing(state: State) -> bool:
    """Whether the path has found an argument that is not as documented."""
    return any(is_refused(value, is_zero) for value, is_zero in state.zeros.items())


def return_problems(plan: Plan, state: State, value: Value | None) -> Iterator[str]:
    """What is wrong with a return of a value here."""
    said = "an unknown value" if value is None else str(value)
    if is_refusing(state):
        if state.done:
            yield "refuses an argument after it has called something"
        if value is None or not value.is_constant or value == const(0):
            yield f"returns {said} although it has refused an argument"
        return
    for failed in failures(plan, state):
        missing = following(plan, state, failed)
        if missing is not None:
            yield f"returns before it calls {plan.steps[missing].function}"
        elif failed is not None and value != result(failed):
            yield f"returns {said}, not the status of {plan.steps[failed].function}"
        elif failed is None and not _is_success(plan, state, value):
            yield f"returns {said} after success"
    if unseen := [pointer for pointer in plan.pointers if pointer not in state.zeros]:
        yield f"never compares {unseen[0]} with NULL"


def _is_success(plan: Plan, state: State, value: Value | None) -> bool:
    """Whether it is 0, or the status of a call, which is 0 if none has failed."""
    return value == const(0) or any(
        value == result(n) for n in state.done if plan.steps[n].can_fail
    )
