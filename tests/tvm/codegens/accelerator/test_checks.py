"""Commands with one error each: every one is refused before anything is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from microgen.graph.ir.graph import Array
from microgen.kernels import registry as kernels
from microgen.tvm.codegens.accelerator import commands
from microgen.tvm.codegens.accelerator.commands import OPCODES, Command
from tests.support.tools import NEEDS_CC
from tests.tvm.codegens.accelerator import networks, simulator
from tests.tvm.codegens.accelerator.simulator import MALFORMED, Job

pytestmark = NEEDS_CC

# Wrong values of parameters by the end of their names. The longest end that fits decides.
WRONG = {
    "_shift": (31, -32),
    "left_shift": (23, -1),
    "lhs_shift": (1,),
    "rhs_shift": (1,),
    "shift": (31, -32),
    "multiplier": (-1,),
    "depth_multiplier": (0, 2, -1),
    "lhs_offset": (129, -128),
    "rhs_offset": (129, -128),
    "input_offset": (129, -128),
    "output_offset": (128, -129),
    "activation_min": (-129, 128),
    "activation_max": (128, -129),
    "pad_top": (-1, 32768),
    "pad_left": (-1, 32768),
    "stride": (-1, 2**23),
    "per_channel": (-1, 2),
    "dilation_height": (0, 32768),
    "dilation_width": (0, 32768),
    "stride_height": (0, 32768),
    "stride_width": (0, 32768),
    "": (0, -1, 2**30),  # sizes
}


def _wrong(name: str) -> tuple[int, ...]:
    ends = sorted((end for end in WRONG if name.endswith(end)), key=len)
    return WRONG[ends[-1]]


GRAPH = networks.everything()


def _fields(index: int) -> list[str]:
    """The names of all parameters of a command."""
    node = GRAPH.nodes[index]
    kernel = next(k for k in kernels()[node.op] if k.symbol in OPCODES)
    ((_, fields),) = kernel.calls(node, GRAPH)
    return [name for name, value in fields for _ in np.atleast_1d(np.array(value))]


def _with(index: int, changed: Command) -> Job:
    made = [commands.command(node, GRAPH) for node in GRAPH.nodes]
    made[index] = changed
    return simulator.job(GRAPH, networks.values(GRAPH), made)


def _parameters_out_of_range() -> Iterator[tuple[str, Job]]:
    for index, node in enumerate(GRAPH.nodes):
        right = commands.command(node, GRAPH)
        for at, name in enumerate(_fields(index)):
            for value in _wrong(name):
                wrong = (*right.parameters[:at], value, *right.parameters[at + 1 :])
                changed = dataclasses.replace(right, parameters=wrong)
                yield f"{node.op}: {name} = {value}", _with(index, changed)


def _refused(named: list[tuple[str, Job]]) -> None:
    found = simulator.run([(job, [job.stream]) for _, job in named])
    wrong = [
        name
        for (name, job), ((status, written),) in zip(named, found, strict=True)
        if status != MALFORMED or written != job.untouched
    ]
    assert not wrong


def test_each_parameter_out_of_range_is_refused() -> None:
    named = list(_parameters_out_of_range())
    assert len(named) > 200
    _refused(named)


def _array(values: Array, at: int, value: int) -> Array:
    changed = values.copy()
    changed.reshape(-1)[at] = value
    return changed


def test_each_table_with_a_wrong_entry_is_refused() -> None:
    """The wrong entries are the last multiplier, shift and bias of each layer with weights."""
    named = []
    for index, node in enumerate(GRAPH.nodes):
        right = commands.command(node, GRAPH)
        if len(right.operands) != 6:
            continue
        for place, values in ((2, (2**31 - 1, -(2**31))), (3, (-1, -(2**31))), (4, (31, -32))):
            for value in values:
                table = right.operands[place]
                assert isinstance(table, np.ndarray)
                operands = list(right.operands)
                operands[place] = _array(table, -1, value)
                changed = dataclasses.replace(right, operands=tuple(operands))
                named.append((f"{node.op}: operand {place}: {value}", _with(index, changed)))
    assert len(named) == 24
    _refused(named)


def test_each_operand_left_out_or_of_another_size_is_refused() -> None:
    named = []
    for index, node in enumerate(GRAPH.nodes):
        right = commands.command(node, GRAPH)
        for place in range(len(right.operands) - 1):
            is_bias = len(right.operands) == 6 and place == 2
            for other in (None, np.zeros(7, np.int8), np.zeros(2**12 + 1, np.int8)):
                if (is_bias and other is None) or _is_right(place, node.op, other):
                    continue
                operands = list(right.operands)
                operands[place] = other
                changed = dataclasses.replace(right, operands=tuple(operands))
                named.append((f"{node.op}: operand {place}", _with(index, changed)))
    _refused(named)


@pytest.mark.parametrize("channels", [2, 1])
def test_groups_must_divide_the_channels(channels: int) -> None:
    """The input has 3 channels and the output 4."""
    right = commands.command(GRAPH.nodes[0], GRAPH)
    parameters = list(right.parameters)
    parameters[_fields(0).index("filter_channels")] = channels
    operands = list(right.operands)
    operands[1] = np.zeros((4, 3, 3, channels), np.int8)
    changed = dataclasses.replace(right, operands=tuple(operands), parameters=tuple(parameters))
    _refused([("groups", _with(0, changed))])


def _is_right(place: int, op: str, other: Array | None) -> bool:
    """Whether the operand is right after all: a broadcast one may be longer than is read."""
    return op in ("add", "multiply") and place < 2 and other is not None and other.nbytes > 4


@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_weights_and_tables_must_be_constants(place: int) -> None:
    """They are checked, so they must not change while they are used."""
    right = commands.command(GRAPH.nodes[0], GRAPH)
    operands = list(right.operands)
    table = operands[place]
    assert isinstance(table, np.ndarray)
    name = f"table{place}"
    inputs = {**networks.values(GRAPH), name: table.view(np.int8).reshape(-1)}
    types = {**GRAPH.types, name: dataclasses.replace(GRAPH.types["input1"], shape=(table.nbytes,))}
    with_table = dataclasses.replace(GRAPH, inputs=(*GRAPH.inputs, name), types=types)
    operands[place] = name
    made = [commands.command(node, GRAPH) for node in GRAPH.nodes]
    made[0] = dataclasses.replace(right, operands=tuple(operands))
    _refused([("computed", simulator.job(with_table, inputs, made))])
