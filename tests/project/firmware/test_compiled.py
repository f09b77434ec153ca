"""The methods of a compiled model: it answers the questions of TVM's AOT code generator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError
from microgen.project.firmware.compiled import MAIN, Compiled
from tests.support.places import DIGITS
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model


@pytest.fixture(scope="module")
def digits() -> Compiled:
    return microgen.compile_model(DIGITS, "mps2_an386")


def test_parameters_by_name(digits: Compiled) -> None:
    names = digits.list_params_name()
    assert names == [f"p{i}" for i in range(14)]
    assert digits.get_param_by_name("p0").shape == (16, 3, 3, 1)
    dtypes = {digits.get_param_by_name(name).dtype.name for name in names}
    assert dtypes == {"int8", "int32", "float32"}  # weights, biases, scales


def test_storage_ids_of_parameters_fill_the_gaps_between_those_of_buffers(tmp_path: Path) -> None:
    """TVM's numbers follow this order: the input, then each call's constants and its result."""
    model = tmp_path / "dense.tflite"
    model.write_bytes(_two_dense())
    compiled = microgen.compile_model(model, "native")
    buffers = [buffer.name for buffer in compiled.program.buffers]
    ids = [compiled.get_param_id(name) for name in compiled.list_params_name()]
    # p0 and p1 are weight and bias, sid 3 is the result; p2 and p3 are weight and bias, sid 6 is
    # the output.
    assert ids == [1, 2, 4, 5]
    assert buffers == ["sid_3"]


def _two_dense() -> bytes:
    rng = np.random.default_rng(0)
    arrays = {
        name: rng.normal(0, 1, shape).astype(np.float32)
        for name, shape in (("w0", (4, 4)), ("b0", (4,)), ("w1", (3, 4)), ("b1", (3,)))
    }
    tensors = [TensorSpec(n, s, "float32") for n, s in (("x", (1, 4)), ("h", (1, 4)))]
    tensors += [TensorSpec("y", (1, 3), "float32")]
    tensors += [TensorSpec(n, a.shape, "float32", a) for n, a in arrays.items()]
    operators = [
        OperatorSpec("FULLY_CONNECTED", [a, w, b], [c], "FullyConnectedOptions", {})
        for a, w, b, c in (("x", "w0", "b0", "h"), ("h", "w1", "b1", "y"))
    ]
    return build_model(tensors, operators, ["x"], ["y"])


def test_a_parameter_that_is_not_there_is_an_error(digits: Compiled) -> None:
    for ask in (digits.get_param_by_name, digits.get_param_id):
        with pytest.raises(MicrogenError, match=r"module default: no such parameter p14; .*p0, p1"):
            ask("p14")


def test_lowered_functions_stand_by_target_and_the_runner_with_the_host(digits: Compiled) -> None:
    modules = digits.get_irmodule()
    (target,) = modules
    assert target == digits.host == "cortex-m4f"
    assert list(modules[target].functions) == [f.name for f in digits.program.functions]
    assert modules[target].main == digits.program.calls
    assert digits.get_external_modules() == ()
    assert digits.get_devices() == []


def test_function_metadata_has_every_operator_and_the_runner(digits: Compiled) -> None:
    infos = digits.get_function_metadata()
    assert set(infos) == {*(f.name for f in digits.program.functions), MAIN}
    assert infos[MAIN].workspace == {digits.host: digits.plan.peak}
    assert infos[MAIN].io == {digits.host: 74}
    dense = infos["tvmgen_default_fused_nn_dense_nn_bias_add"]
    assert dense.io == {digits.host: 256 + 10}
    assert dense.constants == {digits.host: 2560 + 4 * 10 + 4}  # weights, biases, a multiplier
    scratch = {call.function: call.scratch for call in digits.program.calls}
    assert {n: i.workspace[digits.host] for n, i in infos.items() if n != MAIN} == scratch


@pytest.mark.parametrize("interface", ["c", "packed"])
def test_metadata_is_there_for_every_interface_and_a_file_for_the_packed(interface: str) -> None:
    compiled = microgen.compile_model(DIGITS, "native", interface=interface, name="m")
    found = compiled.get_metadata().to_json()
    assert found["mod_name"] == "tvmgen_m"
    assert (found["interface_api"], found["unpacked_api"]) == (interface, interface == "c")
    assert found["inputs"] == (
        {"name": "image", "field": "image", "shape": (1, 8, 8, 1), "dtype": "int8", "nbytes": 64},
    )
    (pool,) = found["workspace_pools"]
    assert (pool["name"], pool["is_internal"]) == ("global_workspace", True)
    assert pool["nbytes"] == found["workspace_size_bytes"] == compiled.plan.peak
    file = compiled.files.files.get("model/executor-config/aot/m.json")
    assert (file is not None) is (interface == "packed")
    if file:
        assert json.loads(file) == json.loads(json.dumps(found))
