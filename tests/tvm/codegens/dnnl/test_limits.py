"""Functions that a model brings, so that no predicate has seen them, and functions too large."""

from __future__ import annotations

import pytest

import microgen
from microgen import relay
from microgen.base import resources
from microgen.base.errors import UnsupportedError
from microgen.tvm.codegens.dnnl import runtime

_CALL = "def @main(%x: {0}, %y: {0}) {{ @f(%x, %y) }}\n"
_ATTRS = 'Compiler="dnnl", global_symbol="f", Primitive=1'


def _compiled(text: str, **options: bool) -> None:
    module = relay.parse(text, "net.relay")
    microgen.compile_model(module, "native", codegen=("dnnl",), **options)


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("int32", "add(%a, %b)", "dnnl does not take add in f: a tensor is Tensor"),
        ("float32", "nn.relu(subtract(%a, %b))", "dnnl does not take subtract in f: it has none"),
    ],
)
def test_operators_that_the_runtime_lacks(kind: str, body: str, words: str) -> None:
    tensor = f"Tensor[(2, 4), {kind}]"
    function = f"def @f(%a: {tensor}, %b: {tensor}, {_ATTRS}) {{ {body} }}"
    with pytest.raises(UnsupportedError, match=words):
        _compiled(_CALL.format(tensor) + function)


def test_a_composite_that_is_none_of_dnnls() -> None:
    tensor = "Tensor[(2, 4), float32]"
    inner = f'%0 = fn (%c: {tensor}, Composite="dnnl.conv2d_relu") {{ nn.relu(%c) }};'
    function = f"def @f(%a: {tensor}, %b: {tensor}, {_ATTRS}) {{ {inner} add(%0(%a), %b) }}"
    with pytest.raises(UnsupportedError, match=r"dnnl does not take dnnl\.conv2d_relu in f"):
        _compiled(_CALL.format(tensor) + function)


def test_parameters_that_are_tuples() -> None:
    tensor = "Tensor[(2, 4), float32]"
    text = f"""
def @main(%x: {tensor}) {{ @f((%x, %x)) }}
def @f(%a: ({tensor}, {tensor}), {_ATTRS}) {{ add(%a.0, %a.1) }}
"""
    with pytest.raises(UnsupportedError, match="dnnl does not take the parameter %a in f"):
        _compiled(text)


def test_the_limit_is_the_runtimes() -> None:
    header = (resources.folder("crt") / "src" / "dnnl" / "dnnl_graph.h").read_text()
    assert f"#define MG_DNNL_MAX_NODES {runtime.MAX_NODES}U" in header


@pytest.mark.parametrize(
    ("most", "fits"),
    [
        (64, True),  # a long chain that fits takes long to compile
        (runtime.MAX_NODES, False),
        pytest.param(runtime.MAX_NODES, True, marks=pytest.mark.slow),
    ],
)
def test_as_many_nodes_as_the_runtime_counts(
    most: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The input is a node, too."""
    monkeypatch.setattr(runtime, "MAX_NODES", most)
    relus = most - fits
    value: relay.Expr = relay.var("x", shape=(1, 2), dtype="float32")
    function = relay.Function([value], _chain(value, relus))
    module = relay.transform.InferType()(relay.IRModule.from_expr(function))
    options = {"codegen": ("dnnl",), "merge_regions": True}
    if fits:
        assert microgen.compile_model(module, "native", **options).program.runtime_modules
        return
    with pytest.raises(
        UnsupportedError, match=f"has {most + 1} nodes; the runtime takes up to {most}"
    ):
        microgen.compile_model(module, "native", **options)


def _chain(value: relay.Expr, count: int) -> relay.Expr:
    for _ in range(count):
        value = relay.nn.relu(value)
    return value
