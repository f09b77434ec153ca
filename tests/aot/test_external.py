"""Functions of external code generators in every calling convention, as in TVM's suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen import relay
from microgen.graph.ir.graph import Array
from microgen.relay import Expr, Function, IRModule, transform
from tests.aot.native import CONVENTIONS, EVERY_CONVENTION, compiled, inferred
from tests.aot.networks import convolved
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA

MERGED = pytest.mark.parametrize("merged", [False, True], ids=["single", "merged"])


def _partitioned(module: IRModule, support: transform.Support, *, merged: bool) -> IRModule:
    """The module partitioned before it is compiled, as TVM's suite does it."""
    module = transform.AnnotateTarget([support])(relay.infer_type(module))
    module = transform.MergeCompilerRegions()(module) if merged else module
    return transform.PartitionGraph("mod_name")(module)


def _begin(value: Expr) -> Expr:
    return relay.annotation.compiler_begin(value, "ccompiler")


def _end(value: Expr) -> Expr:
    return relay.annotation.compiler_end(value, "ccompiler")


def _computes(
    module: IRModule, inputs: list[Array], expected: list[Array], folder: Path, **options: Any
) -> list[str]:
    """Checks what the module computes, and returns the names of its external functions."""
    made = compiled(module, options.pop("convention", "c"), **options)
    for got, wanted in zip(inferred(made, folder, inputs), expected, strict=True):
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * float(np.ptp(wanted)))
    return [name for module in made.get_external_modules() for name in module.functions]


def _inputs(*shapes: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(3)
    return [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]


@pytest.mark.sampled(1)
@MERGED
@EVERY_CONVENTION
def test_a_result_for_another_region_and_for_the_kernels(
    convention: str, merged: bool, tmp_path: Path
) -> None:
    x, w0, w1 = params = [relay.var(name, shape=(10, 10)) for name in ("x", "w0", "w1")]
    inner = _end(relay.add(_begin(x), _begin(w0)))
    outer = _end(relay.add(_begin(inner), _begin(w1)))
    module = relay.infer_type(
        IRModule.from_expr(Function(params, relay.concatenate([inner, outer], 0)))
    )
    module = transform.MergeCompilerRegions()(module) if merged else module
    module = transform.PartitionGraph("mod_name")(module)
    a, b, c = inputs = _inputs(*[(10, 10)] * 3)
    expected = np.concatenate([a + b, (a + b) + c])
    found = _computes(
        module, inputs, [expected], tmp_path, convention=convention, codegen=("ccompiler",)
    )
    numbers = [0] if merged else [0, 2]
    assert found == [f"tvmgen_mod_name_ccompiler_main_{number}" for number in numbers]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("convention", "merged"), [("packed", False), *((name, True) for name in CONVENTIONS)]
)
def test_separate_regions_beside_the_kernels(convention: str, merged: bool, tmp_path: Path) -> None:
    params = [relay.var(f"x{i}", shape=(10, 10)) for i in range(9)]
    x, *w = params
    parts = [relay.multiply(relay.subtract(relay.add(x, a), b), c) for a, b, c in (w[:3], w[3:6])]
    own = relay.concatenate([relay.tanh(x), relay.exp(w[6])], 0)
    body = relay.concatenate([*parts, own, relay.tanh(w[7])], 0)
    support = transform.Support(
        "ccompiler", {name: lambda _: None for name in ("add", "subtract", "multiply")}
    )
    module = _partitioned(IRModule.from_expr(Function(params, body)), support, merged=merged)
    v, *u = inputs = _inputs(*[(10, 10)] * 9)
    sums = [((v + a) - b) * c for a, b, c in (u[:3], u[3:6])]
    expected = np.concatenate([*sums, np.tanh(v), np.exp(u[6]), np.tanh(u[7])])
    options = {"convention": convention, "codegen": ("ccompiler",)}
    found = _computes(module, inputs, [expected.astype(np.float32)], tmp_path, **options)
    assert len(found) == (2 if merged else 6)


def test_a_function_reads_what_two_others_compute(tmp_path: Path) -> None:
    text = "".join(
        f'def @f{i}(%a: Tensor[(2, 2), float32], %b: Tensor[(2, 2), float32], Compiler="ccompiler",'
        f' global_symbol="ccompiler_{i}") {{ {op}(%a, %b) }}\n'
        for i, op in enumerate(("subtract", "add", "multiply"))
    )
    text += """def @main(%y: Tensor[(2, 2), float32], %x: Tensor[(2, 2), float32]) {
  %0 = @f2(%y, %y);
  %1 = @f1(%x, %x);
  @f0(%0, %1)
}"""
    y, x = inputs = _inputs((2, 2), (2, 2))
    module = relay.parse(text)
    found = _computes(module, inputs, [y * y - (x + x)], tmp_path, codegen=("ccompiler",))
    assert found == [f"ccompiler_{i}" for i in (2, 1, 0)]


@pytest.mark.parametrize("convention", ["c", "graph executor"])
def test_a_bound_parameter_of_an_external_function_is_no_input(
    convention: str, tmp_path: Path
) -> None:
    x, y = relay.var("x", shape=(1, 10)), relay.var("y", shape=(1, 10))
    module = IRModule.from_expr(Function([x, y], relay.add(x, y)))
    (a, b) = _inputs((1, 10), (1, 10))
    module = relay.bind_params(module, {"y": b})
    options = {"convention": convention, "codegen": ("ccompiler",)}
    assert _computes(module, [a], [a + b], tmp_path, **options)


def test_external_functions_are_declared_once() -> None:
    x = relay.var("x", shape=(4,))
    module = IRModule.from_expr(Function([x], relay.tanh(relay.add(x, x))))
    files = compiled(module, codegen=("ccompiler",)).files.files
    sources = {name: data.decode() for name, data in files.items() if name.endswith((".c", ".h"))}
    name = "int32_t tvmgen_default_ccompiler_main_0("
    found = [path for path, text in sources.items() if name in text]
    assert [Path(path).name for path in found if path.endswith(".h")] == ["default_lib1.h"]
    assert sum(text.count(name) for text in sources.values()) == 2
    for path in ("default_lib0.c", "default_lib2.c"):
        assert '#include "default_lib1.h"' in sources[f"model/codegen/host/src/{path}"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("is_bound", [False, True])
def test_two_depthwise_convolutions_of_one_weight_are_one_function(
    is_bound: bool, tmp_path: Path
) -> None:
    data, weight = relay.var("data", shape=(1, 8, 7, 7)), relay.var("weight", shape=(8, 1, 3, 3))
    options = {"kernel_size": (3, 3), "padding": (1, 1), "groups": 8, "channels": 8}
    first = relay.nn.conv2d(data, weight, **options)
    body = relay.add(first, relay.nn.conv2d(first, weight, **options))
    module = IRModule.from_expr(Function([data, weight], body))
    a, w = _inputs((1, 8, 7, 7), (8, 1, 3, 3))
    module = relay.bind_params(module, {"weight": w}) if is_bound else module
    once = convolved(a, w, groups=8, padding=1)
    expected = once + convolved(once, w, groups=8, padding=1)
    inputs = [a] if is_bound else [a, w]
    found = _computes(module, inputs, [expected], tmp_path, codegen=("dnnl",), merge_regions=True)
    assert found == ["tvmgen_default_dnnl_main_0"]


def test_a_convolution_with_strides_and_uneven_padding(tmp_path: Path) -> None:
    data, weight = relay.var("data", shape=(1, 1, 99, 12)), relay.var("w", shape=(54, 1, 3, 3))
    body = relay.nn.conv2d(data, weight, kernel_size=(3, 3), strides=(2, 2), padding=(1, 0, 1, 1))
    module = IRModule.from_expr(Function([data, weight], body))
    a, w = inputs = _inputs((1, 1, 99, 12), (54, 1, 3, 3))
    padded = np.pad(a, [(0, 0), (0, 0), (1, 1), (0, 1)])
    expected = convolved(padded, w, groups=1, padding=0)[:, :, ::2, ::2]
    assert expected.shape == (1, 54, 50, 6)
    assert _computes(module, inputs, [expected], tmp_path, codegen=("dnnl",))
