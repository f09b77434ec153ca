""".relay files with their arrays next to them, and TVM's own metadata section."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import MicrogenError, ModelError
from microgen.graph import params_file

_WEIGHT = np.arange(8, dtype=np.float32).reshape(2, 4)


def _module() -> relay.IRModule:
    x, w = relay.var("x", shape=(1, 4)), relay.var("w", shape=(2, 4))
    dense = relay.nn.dense(relay.nn.dense(x, relay.const(np.eye(4, dtype=np.float32))), w, units=2)
    return relay.infer_type(relay.IRModule.from_expr(relay.Function([x, w], dense)))


def test_a_module_comes_back_from_its_files(tmp_path: Path) -> None:
    path = tmp_path / "net.relay"
    relay.save(_module(), path, {"w": _WEIGHT})
    module, params = relay.load(path)
    assert relay.structural_equal(module, _module())
    assert list(params) == ["w"]
    assert np.array_equal(params["w"], _WEIGHT)
    stored = params_file.loads(path.with_suffix(".params").read_bytes())
    assert list(stored) == ["relay.Constant.0", "w"]


def test_a_constant_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "net.relay"
    relay.save(_module(), path)
    path.with_suffix(".params").unlink()
    with pytest.raises(ModelError, match=r"net.relay:2:21: .*the text, as 'relay.Const"):
        relay.load(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"net.relay: cannot be read"):
        relay.load(tmp_path / "net.relay")
    (tmp_path / "net.relay").write_bytes(b"\xff")
    with pytest.raises(ModelError, match=r"net.relay: cannot be read"):
        relay.load(tmp_path / "net.relay")
    relay.save(_module(), tmp_path / "net.relay")
    (tmp_path / "net.params").write_bytes(b"no")
    with pytest.raises(ModelError, match=r"net.params: "):
        relay.load(tmp_path / "net.relay")


def test_params_are_bound_by_name() -> None:
    bound = relay.bind_params(_module(), {"w": _WEIGHT})
    assert [p.name_hint for p in bound["main"].params] == ["x"]
    assert "meta[relay.Constant][1]" in relay.show(bound)
    with pytest.raises(ModelError, match="no parameter of @main is named 'v'"):
        relay.bind_params(_module(), {"v": _WEIGHT})
    with pytest.raises(ModelError, match=r"the array for %w is Tensor\[\(4, 2\), float32\], exp"):
        relay.bind_params(_module(), {"w": _WEIGHT.T})


def test_binding_in_a_deep_graph() -> None:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    value: relay.Expr = w
    for _ in range(2000):
        value = relay.add(value, x)
    module = relay.infer_type(relay.IRModule.from_expr(relay.Function([x, w], value)))
    assert len(relay.bind_params(module, {"w": np.ones(2, np.float32)})["main"].params) == 1


def _metadata(array: np.ndarray) -> dict[str, object]:
    """As TVM v0.14 writes it for one constant."""
    blob = params_file.dumps({"": array})[40:]  # the list's head: magic, 0, 1, "", 1
    return {
        "root": 1,
        "nodes": [
            {"type_key": ""},
            {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
            {"type_key": "Array", "data": [3]},
            {"type_key": "relay.Constant", "attrs": {"data": "0", "span": "0"}},
        ],
        "b64ndarrays": [base64.b64encode(blob).decode()],
        "attrs": {"tvm_version": "0.14.0"},
    }


_TEXT = "def @main(%x: Tensor[(2, 4), float32]) {\n  add(%x, meta[relay.Constant][0])\n}\n"


def test_tvms_metadata_section_is_read() -> None:
    text = f"{_TEXT}#[metadata]\n{json.dumps(_metadata(_WEIGHT), indent=2)}"
    module = relay.parse(text)
    given = relay.parse(_TEXT, constants={"relay.Constant.0": _WEIGHT})
    assert relay.structural_equal(module, given)


@pytest.mark.parametrize(
    "section",
    ["[", "[]", "{}", '{"root": 1, "nodes": []}', '{"root": Infinity, "nodes": [{}]}', "[" * 9999],
)
def test_malformed_metadata(section: str) -> None:
    with pytest.raises(ModelError, match=r"net, #.metadata.: the section is not the JSON that TVM"):
        relay.parse(f"{_TEXT}#[metadata]\n{section}", "net")


def test_mutated_metadata_is_refused_in_one_line() -> None:
    rng = np.random.default_rng(5)
    good = f"{_TEXT}#[metadata]\n{json.dumps(_metadata(_WEIGHT))}"
    refused = 0
    for _ in range(500):
        at = int(rng.integers(len(_TEXT), len(good)))
        text = good[:at] + '[]{}9-,"aZ'[int(rng.integers(10))] + good[at + 1 :]
        try:
            relay.parse(text)
        except MicrogenError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017
    assert refused > 100
