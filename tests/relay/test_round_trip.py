"""Text to module and back, and module to text and back, exactly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import ModelError
from tests.relay import seed
from tests.relay.random_modules import random_module


def _line(body: str, params: str = "%x: Tensor[(2, 4), float32]") -> str:
    """A body as printed, whatever its type comments."""
    module = relay.parse(f"def @main({params}) {{\n{body}\n}}")
    text = relay.show(module)
    assert relay.show(relay.parse(text, constants=relay.printed(module)[1])) == text
    return text


def test_the_builder_prints_the_seed() -> None:
    assert str(seed.demo()) + "\n" == seed.TEXT


@pytest.mark.parametrize("text", [seed.TEXT, seed.PARTITIONED], ids=["demo", "partitioned"])
def test_printed_text_comes_back(text: str) -> None:
    assert relay.show(relay.parse(text)) == text


def test_the_seed_without_its_layout_is_the_same_module() -> None:
    flat = seed.TEXT.replace("\n  ", " ").replace("/* ty=", "// ").replace("*/", "\n")
    assert relay.structural_equal(relay.parse(flat), seed.demo())


@pytest.mark.parametrize("number", range(150))
def test_random_modules_come_back(number: int) -> None:
    module = random_module(number)
    text, constants = relay.printed(module)
    again = relay.parse(text, constants=constants)
    assert relay.structural_equal(module, again)
    assert relay.structural_hash(module) == relay.structural_hash(again)
    assert relay.printed(again)[0] == text


def test_random_modules_differ_from_each_other() -> None:
    hashes = {relay.structural_hash(random_module(i)) for i in range(100)}
    assert len(hashes) > 95


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (2, "float32", "2f"),
        (0.5, "float32", "0.5f"),
        (0.1, "float32", "0.1f"),
        (1e-30, "float32", "1e-30f"),
        (float("-inf"), "float32", "-inff"),
        (float("nan"), "float32", "nanf"),
        (0.1, "float64", "0.1f64"),
        (-0.0, "float16", "-0f16"),
        (-7, "int32", "-7"),
        (-128, "int8", "-128i8"),
        (255, "uint8", "255u8"),
        (2**40, "int64", "1099511627776i64"),
        (True, "bool", "True"),
    ],
)
def test_scalars(value: float, dtype: str, text: str) -> None:
    function = relay.Function([], relay.const(value, dtype))
    module = relay.infer_type(relay.IRModule.from_expr(function))
    printed = relay.show(module)
    assert f"  {text} /* ty={dtype} */\n" in printed
    assert relay.structural_equal(relay.parse(printed), module)


@pytest.mark.parametrize(
    "body",
    [
        "  (%x,)",
        "  ()",
        "  %0 = (%x, %x);\n  (%0, %0)",
        "  %0 = (%x, %x);\n  %1 = (%0, %x);\n  %2 = %1.0;\n  %2.1",
        "  let %y = nn.relu(%x) /* ty=Tensor[(2, 4), float32] */;\n  (%y, %y)",
        "  clip(%x, a_min=-0.1f, a_max=1e+300f) /* ty=Tensor[(2, 4), float32] */",
        "  nn.leaky_relu(%x, alpha=1e-05f) /* ty=Tensor[(2, 4), float32] */",
        "  transpose(%x, axes=None) /* ty=Tensor[(4, 2), float32] */",
        "  nn.pad(%x, 0 /* ty=int32 */, pad_width=[[0, 0], [1, 2]]) "
        "/* ty=Tensor[(2, 7), float32] */",
    ],
)
def test_forms(body: str) -> None:
    assert f"{{\n{body}\n}}\n" in _line(body)


def test_an_inner_function_is_named_before_its_call() -> None:
    body = (
        '  %1 = fn (%p: Tensor[(2, 4), float32], Composite="c.relu", Primitive=1) '
        "-> Tensor[(2, 4), float32] {\n"
        "    %0 = nn.relu(%p) /* ty=Tensor[(2, 4), float32] */;\n"
        "    nn.relu(%0) /* ty=Tensor[(2, 4), float32] */\n"
        "  };\n"
        "  %1(%x) /* ty=Tensor[(2, 4), float32] */"
    )
    assert body in _line(body)


def test_a_temporary_of_an_inner_block_hides_only_there() -> None:
    text = """def @main(%x: float32) {
      %0 = exp(%x);
      %1 = fn (%y: float32) { %0 = log(%y); sqrt(%0) };
      (%0, %1(%x))
    }"""
    function = relay.parse(text)["main"].body
    assert isinstance(function, relay.Tuple)
    first = function.fields[0]
    assert isinstance(first, relay.Call)
    assert first.op == relay.Op("exp")


def test_comments_headers_and_nested_comments_are_passed_over() -> None:
    text = '#[version = "0.0.5"]\n// a\ndef /* b /* c */ */ @main(%x: float32) { %x }'
    assert relay.show(relay.parse(text)) == "def @main(%x: float32) -> float32 {\n  %x\n}\n"


def test_names_that_text_cannot_hold_are_spelled_otherwise_and_stay_distinct() -> None:
    a, b = relay.var("in:0", shape=()), relay.var("in.0", shape=())
    module = relay.infer_type(relay.IRModule.from_expr(relay.Function([a, b], relay.add(a, b))))
    assert "add(%in_0, %in_01)" in relay.show(module)
    assert relay.structural_equal(relay.parse(relay.show(module)), module)


def test_deep_chains() -> None:
    x = relay.var("x", shape=(2,))
    value: relay.Expr = x
    for _ in range(5000):
        value = relay.nn.relu(value)
    chain = relay.IRModule.from_expr(relay.Function([x], value))
    module = relay.infer_type(chain)
    again = relay.parse(relay.show(module))
    assert relay.structural_equal(module, again)
    assert relay.show(again) == relay.show(module)


def test_deep_lets() -> None:
    lets = "".join(f"let %v{i + 1} = nn.relu(%v{i});\n" for i in range(3000))
    module = relay.parse(f"def @main(%v0: Tensor[(2), float32]) {{ {lets} %v3000 }}")
    assert relay.structural_equal(relay.parse(relay.show(module)), module)


def test_many_variables_of_one_name() -> None:
    lets = "let %x = nn.relu(%x);\n" * 2_000
    text = relay.show(relay.parse(f"def @main(%x: Tensor[(2), float32]) {{ {lets} %x }}"))
    assert text.endswith("  %x2000\n}\n")
    assert relay.show(relay.parse(text)) == text


def test_functions_nested_as_deep_as_the_printer_goes_are_read() -> None:
    def nested(levels: int) -> relay.IRModule:
        value: relay.Expr = relay.nn.relu(relay.const(np.ones((1, 1), "float32")))
        for _ in range(levels):
            value = relay.Call(
                relay.Function([], relay.Tuple([relay.TupleGetItem(relay.Tuple([value]), 0)])), []
            )
            value = relay.TupleGetItem(value, 0)
        return relay.infer_type(relay.IRModule.from_expr(relay.Function([], value)))

    text, constants = relay.printed(nested(39))
    assert relay.printed(relay.parse(text, constants=constants))[0] == text
    with pytest.raises(ModelError, match="nested deeper"):
        relay.show(nested(60))


def test_the_hash_is_the_same_in_every_process() -> None:
    code = "from tests.relay import seed; from microgen import relay; "
    code += "print(relay.structural_hash(seed.demo()))"
    root = Path(__file__).resolve().parents[2]
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert int(found.stdout) == relay.structural_hash(seed.demo())


def test_what_makes_structures_differ() -> None:
    def one(body: str) -> relay.IRModule:
        params = "%x: Tensor[(2), float32], %y: Tensor[(2), float32]"
        return relay.parse(f"def @main({params}) {{{body}}}")

    base = one("add(%x, %y)")
    assert relay.structural_equal(base, one("%0 = add(%x, %y); %0"))
    renamed = "def @main(%a: Tensor[(2), float32], %b: Tensor[(2), float32]) {add(%a, %b)}"
    assert relay.structural_equal(base, relay.parse(renamed))
    for other in ("add(%y, %x)", "add(%x, %x)", "subtract(%x, %y)", "(add(%x, %y),)"):
        assert not relay.structural_equal(base, one(other))
    shared = one("%0 = exp(%x); (%0, %0)")
    assert not relay.structural_equal(shared, one("(exp(%x), exp(%x))"))
    assert not relay.structural_equal(one("multiply(%x, 2f)"), one("multiply(%x, 3f)"))
    assert not relay.structural_equal(
        one("clip(%x, a_min=0f, a_max=6f)"), one("clip(%x, a_min=0f, a_max=7f)")
    )
