"""What TVM's suite fixes about networks, in every calling convention, run with sanitizers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import UnsupportedError
from tests.aot.native import CONVENTIONS, compiled
from tests.aot.networks import Network, convolved, holds, network, residual
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each network in every convention. In every run of the tests, it is two of them, in turn;
    one has unpacked operators, and one has packed operators."""
    if "convention" not in metafunc.fixturenames:
        return
    pairs = (("c", "packed"), ("packed entry, unpacked operators", "graph executor"))
    tests = [name for name in vars(metafunc.module) if name.startswith("test_")]
    usual = pairs[tests.index(metafunc.function.__name__) % 2]
    cases = [
        pytest.param(name, marks=() if name in usual else pytest.mark.slow) for name in CONVENTIONS
    ]
    metafunc.parametrize("convention", cases)


F1 = np.float32(1)


def _added(**bound: np.ndarray) -> Network:
    x, y = relay.var("x", shape=(1, 10)), relay.var("y", shape=(1, 10))
    return network([x, y], relay.add(x, y), lambda v: [v["x"] + v["y"]], bound)


def test_a_bound_parameter_is_no_input(convention: str, tmp_path: Path) -> None:
    net = _added(x=np.linspace(-3, 3, 10, dtype=np.float32).reshape(1, 10))
    assert list(net.inputs()) == ["y"]
    holds(net, convention, tmp_path)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("groups", [1, 8])
def test_conv2d_with_groups_and_weights_as_an_input(
    groups: int, convention: str, tmp_path: Path
) -> None:
    data = relay.var("data", shape=(1, 8, 7, 5))
    weight = relay.var("weight", shape=(8, 8 // groups, 3, 3))
    body = relay.nn.conv2d(data, weight, kernel_size=(3, 3), padding=(1, 1), groups=groups)
    net = network(
        [data, weight], body, lambda v: [convolved(v["data"], v["weight"], groups, padding=1)]
    )
    holds(net, convention, tmp_path)


def test_concatenate_and_a_scalar_input(convention: str, tmp_path: Path) -> None:
    x, y = relay.var("x", shape=(10, 5)), relay.var("y", shape=(10, 5))
    z = relay.var("z", shape=())
    body = relay.add(relay.concatenate((x, y), axis=1), z)
    net = network([x, y, z], body, lambda v: [np.concatenate((v["x"], v["y"]), axis=1) + v["z"]])
    holds(net, convention, tmp_path)


def test_nested_tuples_are_outputs_in_order(convention: str, tmp_path: Path) -> None:
    x = relay.var("x", shape=(10,))
    sums = [x]
    for _ in range(4):
        sums.append(relay.add(sums[-1], relay.const(1.0)))
    body = relay.Tuple([sums[1], relay.Tuple([relay.Tuple([sums[2], sums[3]]), sums[4]])])
    net = network(
        [x],
        body,
        lambda v: [v["x"] + F1, v["x"] + F1 + F1, v["x"] + F1 * 3, v["x"] + F1 * 4],
    )
    holds(net, convention, tmp_path)


def test_an_item_of_a_tuple(convention: str, tmp_path: Path) -> None:
    x = relay.var("x", shape=(3,), dtype="int32")
    pair = relay.Tuple([relay.add(x, relay.const(1)), relay.Tuple([x, relay.const([1, 2, 3])])])
    item = relay.TupleGetItem(relay.TupleGetItem(pair, 1), 1)
    net = network([x], relay.multiply(item, x), lambda v: [v["x"] * np.array([1, 2, 3], "i4")])
    holds(net, convention, tmp_path)


def test_an_input_is_the_output(convention: str, tmp_path: Path) -> None:
    x = relay.var("x", shape=())
    holds(network([x], x, lambda v: [v["x"]]), convention, tmp_path)


def test_a_constant_is_an_output(convention: str, tmp_path: Path) -> None:
    """TVM's networks without inputs have only this output. microgen refuses such networks."""
    x = relay.var("x", shape=(2,), dtype="int32")
    two = relay.add(relay.const(1), relay.const(1))
    body = relay.Tuple([two, relay.add(x, two)])
    net = network([x], body, lambda v: [np.array(2, "i4"), v["x"] + np.int32(2)])
    holds(net, convention, tmp_path)


def test_one_value_is_several_outputs(convention: str, tmp_path: Path) -> None:
    x, y = relay.var("x", shape=(5, 7)), relay.var("y", shape=(5, 7))
    total = relay.add(x, y)
    parts = [total, y, total, x, x, relay.add(total, x)]
    net = network(
        [x, y],
        relay.Tuple(parts),
        lambda v: [
            t := v["x"] + v["y"],
            v["y"],
            t,
            v["x"],
            v["x"],
            t + v["x"],
        ],
    )
    holds(net, convention, tmp_path)


def test_a_multiplication_that_broadcasts(convention: str, tmp_path: Path) -> None:
    x, y = relay.var("x", shape=(10, 10)), relay.var("y", shape=(1, 10))
    net = network([x, y], relay.multiply(x, y), lambda v: [v["x"] * v["y"]])
    holds(net, convention, tmp_path)


def test_subtraction_of_scalars_of_int32(convention: str, tmp_path: Path) -> None:
    i = relay.var("i", shape=(), dtype="int32")
    body = relay.subtract(i, relay.const(1, dtype="int32"))
    holds(network([i], body, lambda v: [v["i"] - np.int32(1)]), convention, tmp_path)


def test_some_results_of_a_split_are_outputs(convention: str, tmp_path: Path) -> None:
    x = relay.var("x", shape=(6, 9))
    parts = relay.split(x, 3)
    body = relay.Tuple([parts[0], parts[1]])
    holds(network([x], body, lambda v: list(np.split(v["x"], 3)[:2])), convention, tmp_path)


def test_all_results_of_a_split_are_read(convention: str, tmp_path: Path) -> None:
    x = relay.var("x", shape=(6, 9))
    a, b, c = relay.split(x, 3)

    def reference(v: dict[str, np.ndarray]) -> list[np.ndarray]:
        p, q, r = np.split(v["x"], 3)
        return [(p + q) * r]

    net = network([x], relay.multiply(relay.add(a, b), c), reference)
    holds(net, convention, tmp_path)


def test_a_transpose_is_not_done_in_place(convention: str, tmp_path: Path) -> None:
    x, y = relay.var("x", shape=(10, 5)), relay.var("y", shape=(10, 5))
    z = relay.var("z", shape=())
    body = relay.add(relay.transpose(relay.add(x, y)), z)
    net = network([x, y, z], body, lambda v: [(v["x"] + v["y"]).T + v["z"]])
    holds(net, convention, tmp_path)


def test_lets_name_values_that_several_calls_read(convention: str, tmp_path: Path) -> None:
    text = """def @main(%a: Tensor[(5, 7), float32]) -> Tensor[(5, 7), float32] {
  let %v0 = add(%a, 1f);
  let %v1 = multiply(%v0, 2f);
  let %v2 = subtract(%v1, %a);
  let %v3 = multiply(%v1, %v2);
  %v3
}
"""
    net = Network(
        relay.parse(text, "let.relay"),
        lambda v: [((v["a"] + F1) * 2) * ((v["a"] + F1) * 2 - v["a"])],
        {},
    )
    holds(net, convention, tmp_path)


def test_names_of_inputs_need_not_be_identifiers(convention: str, tmp_path: Path) -> None:
    names = ("input-x::2", "input:0", "input@0", "input_0", "int", "0", "input-x--2")
    inputs = [relay.var(name, shape=(2,)) for name in names]
    net = network(
        inputs, relay.concatenate(inputs, axis=0), lambda v: [np.concatenate(list(v.values()))]
    )
    holds(net, convention, tmp_path)


def test_layouts_stand_around_a_convolution_of_nchw(convention: str, tmp_path: Path) -> None:
    data, weight = relay.var("data", shape=(1, 4, 4, 4)), relay.var("weight", shape=(4, 4, 3, 3))
    body = relay.nn.conv2d(data, weight, padding=(1, 1), channels=4, kernel_size=(3, 3))
    net = network(
        [data, weight],
        relay.nn.relu(body),
        lambda v: [np.maximum(convolved(v["data"], v["weight"], 1, padding=1), 0)],
    )
    holds(net, convention, tmp_path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_qnn", [True, False])
def test_an_int8_convolution_sums_in_int32(is_qnn: bool, convention: str, tmp_path: Path) -> None:
    data = relay.var("data", shape=(1, 3, 8, 8), dtype="int8")
    weight = np.random.default_rng(0).integers(-128, 128, (8, 3, 5, 5)).astype(np.int8)
    scales = [*[relay.const(0)] * 2, *[relay.const(1.0)] * 2] if is_qnn else []
    conv2d = relay.qnn.op.conv2d if is_qnn else relay.nn.conv2d
    sizes = {"kernel_size": (5, 5), "channels": 8, "padding": (2, 2), "out_dtype": "int32"}
    body = conv2d(data, relay.const(weight), *scales, **sizes)
    net = network([data], body, lambda v: [convolved(v["data"].astype("i4"), weight, 1, padding=2)])
    holds(net, convention, tmp_path)


def test_a_convolution_of_uint8_is_refused(convention: str) -> None:
    """TVM sums such products in int32, like those of int8 by int8."""
    text = """def @main(%data: Tensor[(1, 3, 8, 8), uint8], %weight: Tensor[(8, 3, 5, 5), int8]) {
  nn.conv2d(%data, %weight, padding=[2, 2], channels=8, kernel_size=[5, 5], out_dtype="int32")
}
"""
    with pytest.raises(UnsupportedError, match=r"nn\.conv2d of uint8\[1,3,8,8\] has no kernel"):
        compiled(text, convention)


def test_a_residual_network_shares_its_workspace(convention: str, tmp_path: Path) -> None:
    holds(residual(), convention, tmp_path)
