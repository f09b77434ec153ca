"""A Relay function on a device: its hooks in the runner, and how the firmware calls them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import relay
from microgen.base.errors import MicrogenError
from microgen.relay import Function
from tests.aot.native import AHEAD_OF_TIME, compiled
from tests.support.tools import NEEDS_NINJA

HOOK = ("example-target-hook:device-api",)
_TWO_CALLS = """def @main(%a: Tensor[(5, 7), float32]) {
  %0 = @hook_0(%a);
  @hook_1(%0)
}
"""
_FUNCTION = """def @hook_{i}(%y: Tensor[(5, 7), float32], Compiler="example-target-hook",
    Primitive=1, Inline=1, global_symbol="hook_{i}") -> Tensor[(5, 7), float32] {{
  tanh(%y)
}}
"""
TEXT = _TWO_CALLS + "".join(_FUNCTION.format(i=i) for i in range(2))
LIB0 = "model/codegen/host/src/default_lib0.c"


def test_each_operator_stands_between_open_and_close_all_between_activate_and_deactivate() -> None:
    code = compiled(TEXT, targets=HOOK).files.files[LIB0].decode()
    operators, main = code[: code.index("int32_t active_devices")], code
    order = re.findall(r"(TVMDeviceExampleTargetHook\w+|hook_\d)\(", operators)
    hook = "TVMDeviceExampleTargetHook"
    assert order == [
        *(f"{hook}Open", "hook_0", f"{hook}Close"),
        *(f"{hook}Open", "hook_1", f"{hook}Close"),
    ]
    after = main[main.index("int32_t active_devices") :]
    assert re.findall(rf"{hook}(\w+)\(device_context_example_target_hook\)", after) == [
        "Activate",
        "Deactivate",
    ]


def test_the_context_is_the_last_parameter_of_main_and_of_the_devices_operators() -> None:
    made = compiled(TEXT, targets=HOOK)
    code = re.sub(r"\s+", " ", made.files.files[LIB0].decode())
    assert "___tvm_main__(void *a, void *output, void *device_context_example_target_hook)" in code
    assert len(re.findall(r"hook_\d\([^;]*device_context_example_target_hook\);", code)) == 2
    assert made.get_devices() == ["example_target_hook"]


@NEEDS_NINJA
def test_the_firmware_calls_the_hooks_in_that_order(tmp_path: Path) -> None:
    microgen.generate(relay.parse(TEXT, "t.relay"), "native", tmp_path / "p", targets=HOOK)
    a = np.linspace(-1, 1, 35, dtype=np.float32).reshape(5, 7)
    result = microgen.run(tmp_path / "p", {"a": a}, sanitize=True)
    (found,) = result.outputs.values()
    np.testing.assert_allclose(found, np.tanh(np.tanh(a)), rtol=0, atol=1e-5)
    assert re.findall(r"device example-target-hook (\w+)", result.console) == [
        *("Activate", "Open", "Close", "Open", "Close", "Deactivate"),
    ]


def test_packed_calls_have_no_place_for_a_device() -> None:
    for convention in AHEAD_OF_TIME[1:]:
        with pytest.raises(MicrogenError, match=r"contexts of devices \(example_target_hook\)"):
            compiled(TEXT, convention, targets=HOOK)


@pytest.mark.parametrize("convention", AHEAD_OF_TIME)
def test_without_devices_there_are_neither_hooks_nor_contexts(convention: str) -> None:
    x, y = relay.var("x", shape=(10, 10)), relay.var("y", shape=(1, 10))
    made = compiled(Function([x, y], relay.multiply(x, y)), convention)
    code = "".join(text.decode() for name, text in made.files.files.items() if "codegen" in name)
    assert not re.search("TVMDevice|device_context", code)
