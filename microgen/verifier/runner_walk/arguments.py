"""Compares the arguments that a runner passes to a function with the planned arguments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from microgen.verifier.runner_walk import values
from microgen.verifier.runner_walk.execution import RunnerMemory
from microgen.verifier.runner_walk.plan import PlannedArgument, PlannedCall
from microgen.verifier.runner_walk.values import STACK, PathState, Value, const, moved

VALUE_BYTES = 8  # TVMValue
_WORD_BYTES = 4
_TENSOR_HANDLE = 7  # kTVMDLTensorHandle
# Offsets in DLTensor with pointers of 32 bits: the data's address and the words of an offset to it.
_DATA = 0
_BYTE_OFFSET = (32, 36)

Passed = list[Value]


def argument_problems(
    step: PlannedCall, passed: Passed, state: PathState, memory: RunnerMemory
) -> list[str]:
    """The problems of a planned call's arguments. ``passed`` are the words that are passed to
    it."""
    if step.form == "tensors":
        return list(_tensor_problems(step, passed, state, memory))
    if step.form == "unpack":
        return [] if _data(step, passed) is not None else ["its arguments are not the caller's"]
    pairs = zip(step.arguments, _pointers(step, passed, state, memory), strict=True)
    return [p for i, (a, v) in enumerate(pairs) for p in _problems(i, a, v)]


def _pointers(
    step: PlannedCall, passed: Passed, state: PathState, memory: RunnerMemory
) -> Iterator[Value]:
    """The pointers that a function gets, in the order of the planned arguments: words that are
    passed to it, or words of the structure to which one of them points."""
    words, structure, members = iter(passed), None, itertools.count()
    for argument in step.arguments:
        if not argument.in_struct:
            yield next(words)
            continue
        number = next(members)
        structure = next(words) if number == 0 else structure
        yield memory.load(state, moved(structure, number * _WORD_BYTES))


def _problems(index: int, planned: PlannedArgument, passed: Value) -> Iterator[str]:
    if planned.value is None:
        yield f"{planned.name} is nowhere"
    elif passed != planned.value:
        shown = "unknown" if passed is None else str(passed)
        yield f"argument {index + 1} is {shown}, planned {planned.name}, {planned.value}"


def _tensor_problems(
    step: PlannedCall, passed: Passed, state: PathState, memory: RunnerMemory
) -> Iterator[str]:
    """``(TVMValue *args, int *type_codes, int num_args, NULL, NULL, NULL)``"""
    args, codes, count, *others = passed
    planned = len(step.arguments)
    if count != const(planned):
        yield f"it has {count} arguments, planned {planned}"
        return
    if others[:3] != [const(0)] * 3:
        yield "its last arguments are not NULL"
    for i, argument in enumerate(step.arguments):
        tensor = memory.load(state, moved(args, i * VALUE_BYTES))
        yield from _problems(i, argument, memory.load(state, moved(tensor, _DATA)))
        if any(memory.load(state, moved(tensor, at)) != const(0) for at in _BYTE_OFFSET):
            yield f"argument {i + 1} has a byte offset"
        if memory.load(state, moved(codes, i * _WORD_BYTES)) != const(_TENSOR_HANDLE):
            yield f"argument {i + 1} has another type code than a tensor's"


def _data(step: PlannedCall, passed: Passed) -> int | None:
    """The argument of ``mg_packed_tensors`` that has the address for its results; None if its other
    arguments are not planned."""
    *arguments, count = (planned.value for planned in step.arguments)
    if passed[: len(arguments)] != arguments:
        return None
    # A compiler may make a function of its own for a caller whose specs and count are constants.
    # Such a function does not get these arguments.
    constants = passed[len(arguments) :]
    data = next((i for i, v in enumerate(constants) if v is not None and v.base == STACK), None)
    before = constants[:data]
    is_planned = all(v is not None and v.is_constant for v in before)
    if data is None or not is_planned or (data == len(_SPECS_AND_COUNT) and before[1] != count):
        return None
    return len(arguments) + data


_SPECS_AND_COUNT = ("specs", "count")


def unpacked(step: PlannedCall, passed: Passed, state: PathState, memory: RunnerMemory) -> int:
    """Store the words that ``mg_packed_tensors`` stores. Returns the number of its arguments."""
    index, count = _data(step, passed), step.arguments[-1].value
    assert index is not None
    assert count is not None
    for i in range(count.offset):
        memory.store(state, moved(passed[index], i * _WORD_BYTES), values.data(i))
    return index + 1
