"""Small networks, and what numpy says that each computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microgen import relay
from microgen.graph.ir.graph import Array
from microgen.relay import Expr, Function, IRModule, Var
from tests.aot.native import compiled, inferred

Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class Network:
    """A module and a function that gives its outputs for named inputs. ``params`` are bound before
    it is compiled."""

    module: IRModule
    reference: Callable[[Arrays], list[Array]]
    params: Arrays

    def bound(self) -> IRModule:
        return relay.bind_params(self.module, self.params) if self.params else self.module

    def inputs(self, seed: int = 0) -> dict[str, Array]:
        """Random values for the parameters that are not bound."""
        rng = np.random.default_rng(seed)
        main = relay.infer_type(self.bound())["main"]
        return {p.name_hint: _random(p, rng) for p in main.params}


def network(
    params: list[Var],
    body: Expr,
    reference: Callable[[Arrays], list[Array]],
    bound: Arrays | None = None,
) -> Network:
    module = IRModule.from_expr(Function(params, body))
    return Network(module, reference, bound or {})


def _random(param: Var, rng: np.random.Generator) -> Array:
    kind = param.type_annotation
    assert isinstance(kind, relay.TensorType)
    dtype = np.dtype(kind.dtype)
    if dtype.kind == "f":
        return rng.uniform(-1, 1, kind.shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -1000), min(info.max, 1000), kind.shape).astype(dtype)


def holds(network: Network, convention: str, folder: Path) -> None:
    """Checks that the firmware computes what numpy does: integers exactly, floats to 1e-5."""
    inputs = network.inputs()
    made = compiled(network.bound(), convention)
    assert len(made.program.inputs) == len(inputs)
    found = inferred(made, folder, inputs.values())
    expected = network.reference({**network.params, **inputs})
    assert len(found) == len(expected)
    for got, wanted in zip(found, expected, strict=True):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        tolerance = 1e-5 * max(1.0, float(np.ptp(wanted))) if wanted.dtype.kind == "f" else 0
        np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance)


def convolved(data: Array, weight: Array, groups: int, padding: int) -> Array:
    """nn.conv2d of NCHW data and OIHW weights with strides of one, by its definition."""
    padded = np.pad(data, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], (2, 3))
    shares = np.split(windows, groups, axis=1), np.split(weight, groups, axis=0)
    parts = [np.einsum("ncyxij,ocij->noyx", d, w) for d, w in zip(*shares, strict=True)]
    return np.concatenate(parts, axis=1).astype(data.dtype)


def residual() -> Network:
    """Five convolutions with bound weights; a skip connection passes three of them."""
    rng = np.random.default_rng(0)
    names = [f"weight{i}" for i in range(5)]
    weights = {n: rng.uniform(-0.1, 0.1, (8, 8, 3, 3)).astype(np.float32) for n in names}
    data, *kernels = (
        relay.var("data", shape=(1, 8, 9, 9)),
        *(relay.var(name, shape=(8, 8, 3, 3)) for name in names),
    )
    body: Expr = data
    bodies = []
    for kernel in kernels:
        product = relay.nn.conv2d(body, kernel, padding=(1, 1), channels=8, kernel_size=(3, 3))
        bodies.append(body := relay.nn.relu(product))
    return network(
        [data, *kernels], relay.add(body, bodies[1]), lambda v: [_residual(v, names)], weights
    )


def _residual(values: Arrays, names: list[str]) -> Array:
    body, bodies = values["data"], []
    for name in names:
        body = np.maximum(convolved(body, values[name], groups=1, padding=1), 0)
        bodies.append(body)
    return body + bodies[1]
