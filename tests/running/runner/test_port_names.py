"""The names that arrays of samples may have: signatures' names, aliases, several models."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from microgen.base.errors import InputError
from microgen.base.manifest import PortRecord
from microgen.graph.ir.graph import Array
from microgen.running.runner import port_names


def port(name: str, *aliases: str) -> PortRecord:
    return PortRecord("c", name, (1, 2), "int8", 2, 0.0, 0, aliases=aliases)


def arrays(*names: str) -> dict[str, Array]:
    return {name: np.full((1, 2), k, np.int8) for k, name in enumerate(names)}


def chosen(ports: list[PortRecord], given: Mapping[str, Array]) -> list[int]:
    """For each input, the number of the given array that it gets."""
    found = port_names.resolved(ports, port_names.of_ports(ports), given)
    return [int(array[0, 0]) for array in found]


F0, F1 = port("f0", "serving_default_f0:0"), port("f1", "serving_default_f1:0")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("f1", "f0"), [1, 0]),
        (("serving_default_f1:0", "f0"), [1, 0]),
        (("serving_default_f0:0", "serving_default_f1:0"), [0, 1]),
        (("input1", "serving_default_f0:0"), [1, 0]),
    ],
)
def test_either_name_is_accepted(given: tuple[str, ...], expected: list[int]) -> None:
    assert chosen([F0, F1], arrays(*given)) == expected


def test_a_name_goes_before_an_alias() -> None:
    crossed = [port("a", "b"), port("b", "a"), port("input0", "x")]
    assert chosen(crossed, arrays("a", "b", "x")) == [0, 1, 2]
    assert port_names.accepted(port_names.of_ports(crossed)) == [
        ("a",),
        ("b", "input1"),
        ("input0", "x", "input2"),
    ]


@pytest.mark.parametrize(
    ("ports", "given", "message"),
    [
        (
            [F0],
            ("f0", "serving_default_f0:0"),
            "there are two arrays (f0 and serving_default_f0:0) for the input 'f0', int8[1,2]",
        ),
        ([F0], ("f0", "input0", "serving_default_f0:0"), "there are 3 arrays"),
        (
            [port("a", "t"), port("b", "t")],
            ("t", "b"),
            "the name 't' could mean 2 inputs; name it 'a' or 'b'",
        ),
        ([F0], ("f0", "f1"), "the model has no input 'f1'; its inputs: 'f0'"),
        (
            [F0],
            ("f2",),
            "found: 'f2'; name it 'f0' or 'serving_default_f0:0' or 'input0'",
        ),
        ([port("n" * 10_000)], ("f2",), f"{'n' * 20}...{'n' * 25}"),
    ],
)
def test_what_names_no_input_or_two_is_refused(
    ports: list[PortRecord], given: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        chosen(ports, arrays(*given))
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


def firmware(*models: tuple[str, list[PortRecord]]) -> Any:
    modules = [SimpleNamespace(module=name, inputs=ports) for name, ports in models]
    return SimpleNamespace(modules=modules, more=modules[1:], inputs=modules[0].inputs)


def test_with_several_models_a_name_may_leave_out_the_module() -> None:
    both = firmware(("m", [port("x", "t:0"), port("y")]), ("n", [port("x", "u:0")]))
    ports, names = port_names.inputs(both), port_names.ranked(both)
    assert [own.tensor for own in ports] == ["m.x", "m.y", "n.x"]
    assert port_names.accepted(names) == [
        ("m.x", "m.t:0", "t:0", "input0"),
        ("m.y", "y", "input1"),
        ("n.x", "n.u:0", "u:0", "input2"),
    ]
    found = port_names.resolved(ports, names, arrays("u:0", "m.t:0", "y"))
    assert [int(array[0, 0]) for array in found] == [1, 2, 0]
    with pytest.raises(InputError, match=r"'x' could mean 2 inputs; name it 'm.x' or 'n.x'$"):
        port_names.resolved(ports, names, arrays("x", "y", "n.x"))
