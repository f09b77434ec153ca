"""Samples: which are accepted, and which are refused with which words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import InputError
from microgen.base.manifest import PortRecord
from microgen.graph.ir.graph import Array
from microgen.running.runner import npz, port_names, samples
from microgen.running.runner.sample_axes import Form

IMAGE = PortRecord("image", "serving/image", (2, 2), "int8", 4, 0.5, -1)
COUNT = PortRecord("count", "count", (1,), "int32", 4, 0.0, 0)
PORTS = (IMAGE, COUNT)


def one(**changes: Array) -> dict[str, Array]:
    arrays: dict[str, Array] = {
        "serving/image": np.array([[1, 2], [3, -4]], np.int8),
        "count": np.array([258], np.int32),
    }
    return {**arrays, **changes}


def many(n: int) -> dict[str, Array]:
    return {name: np.stack([array] * n) for name, array in one().items()}


def test_a_sample_is_the_bytes_of_every_input_in_order() -> None:
    batch = samples.pack(PORTS, one())
    assert batch.data == bytes([1, 2, 3, 252, 2, 1, 0, 0])
    assert (batch.count, batch.form) == (1, Form.ONE)


def test_samples_stand_back_to_back() -> None:
    arrays = {
        "input1": np.array([[1], [2]], ">i4"),
        "input0": np.arange(8, dtype=np.int8).reshape(2, 2, 2),
    }
    batch = samples.pack(PORTS, arrays)
    assert batch.data == bytes([0, 1, 2, 3, 1, 0, 0, 0, 4, 5, 6, 7, 2, 0, 0, 0])
    assert (batch.count, batch.form) == (2, Form.ADDED)


def test_a_tensors_own_name_goes_before_an_alias() -> None:
    ports = [replace(COUNT, tensor=name) for name in ("input1", "input2", "x")]
    arrays: dict[str, Array] = {
        name: np.array([k], np.int32) for k, name in enumerate(("input1", "input2", "x"))
    }
    data = bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])
    assert samples.pack(ports, arrays).data == data
    names = port_names.accepted(port_names.of_ports(ports))
    assert names == [("input1", "input0"), ("input2",), ("x",)]
    arrays["input0"] = arrays.pop("input1")
    assert samples.pack(ports, arrays).data == data
    with pytest.raises(InputError, match=r"no array for the input 'x'.* name it 'x'$"):
        samples.pack(ports, {name: arrays[name] for name in ("input0", "input2")})


def test_a_fixed_input_takes_its_value_only() -> None:
    port = PortRecord("s", "shape", (2,), "int32", 8, 0.0, 0, (3, 4))
    fitting = np.array([[3, 4]] * 5, np.int32)
    assert samples.pack([port], {"shape": fitting}).count == 5
    assert samples.pack([port], {"shape": fitting[0]}).count == 1
    fitting[2, 1] = 5
    said = r"'shape' has values that the model's shapes do not allow; give it \[3, 4\]"
    with pytest.raises(InputError, match=said):
        samples.pack([port], {"shape": fitting})


def test_outputs_are_what_inputs_would_have_been() -> None:
    data = samples.pack(PORTS, many(3)).data
    outputs = samples.unpack(PORTS, data)
    assert list(outputs) == ["serving/image", "count"]
    for name, array in many(3).items():
        np.testing.assert_array_equal(outputs[name], array)
    single = samples.unpack(PORTS, data[:8], Form.ONE)
    assert (single["serving/image"].shape, str(single["count"].dtype)) == ((2, 2), "int32")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"count": one()["count"]},
            "there is no array for the input 'serving/image', int8[2,2]; "
            "found: 'count'; name it 'serving/image' or 'input0'",
        ),
        (
            one(input0=one()["serving/image"]),
            "there are two arrays (serving/image and input0) for the input",
        ),
        (
            one(weight=np.zeros(1, np.int8)),
            "the model has no input 'weight'; its inputs: 'serving/image', 'count'",
        ),
        (
            one(count=np.zeros((2, 2), np.int32)),
            "the input 'count' has shape [2, 2], expected [1], or [N] or [N, 1] for N samples",
        ),
        (one(count=np.array(3, np.int32)), "the input 'count' has shape [], expected [1]"),
        (
            one(**{"serving/image": np.zeros((2, 2))}),
            "has dtype float64, expected int8; add --quantize-inputs (in Python: "
            "quantize_inputs=True), which quantizes it, or quantize it yourself: "
            "round(x / 0.5) + (-1), as int8",
        ),
        (
            one(count=np.zeros(1, np.int64)),
            "has dtype int64, expected int32; convert it with .astype(numpy.int32)",
        ),
        (
            one(**{"serving/image": np.full((2, 2), 255, np.uint8)}),
            "has dtype uint8, expected int8; it has numbers from 255 to 255, and int8 those from "
            "-128 to 127; give real numbers, such as pixels, as float32 with --quantize-inputs",
        ),
        (
            one(count=np.array([2**40])),
            "it has numbers from 1099511627776 to 1099511627776, and int32 those from",
        ),
        (one(count=np.array(["a"])), "has dtype <U1, expected int32; give int32 numbers"),
        (
            {**many(2), "count": many(3)["count"]},
            "inputs have different numbers of samples: "
            "'serving/image' has 2 samples, 'count' has 3 samples",
        ),
        (
            {**many(2), "count": one()["count"]},
            "'serving/image' has 2 samples, 'count' has one sample",
        ),
        ({name: a[:0] for name, a in many(1).items()}, "has no samples (N is 0)"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(arrays: dict[str, Array], message: str) -> None:
    with pytest.raises(InputError) as caught:
        samples.pack(PORTS, arrays)
    assert message in str(caught.value)


def test_a_file_gives_back_what_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "out.samples"
    arrays: dict[str, Array] = {
        "file": np.arange(3, dtype=np.int8),
        "serving/y:0": np.ones((2, 2), np.int32),
    }
    samples.save(path, arrays)
    loaded = npz.read(path)
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[name], array)


@pytest.mark.parametrize("name", ["a\0b", "x" * 65_532])
def test_a_name_that_an_archive_cannot_hold_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot name an array"):
        samples.save(tmp_path / "out.npz", {name: np.zeros(1)})
    assert not list(tmp_path.iterdir())
    samples.save(tmp_path / "out.npz", {"x" * 65_531: np.zeros(1)})
    assert len(npz.read(tmp_path / "out.npz")) == 1


def test_saving_where_nothing_can_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file"):
        samples.save(tmp_path / "absent" / "out.npz", one())


def pickled(path: Path) -> None:
    np.savez(path, input0=np.array([{"a": 1}], dtype=object))


def truncated(path: Path) -> None:
    samples.save(path, many(50))
    path.write_bytes(path.read_bytes()[:-40])


def flipped(path: Path) -> None:
    samples.save(path, many(50))
    data = bytearray(path.read_bytes())
    data[200] ^= 0xFF  # inside an array, whose checksum is in the archive
    path.write_bytes(data)


def single_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def text(path: Path) -> None:
    path.write_text("1 2 3\n")


def folder(path: Path) -> None:
    path.mkdir()


def absent(path: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (pickled, "is a damaged .npz file"),
        (truncated, "is a damaged .npz file"),
        (flipped, "is a damaged .npz file"),
        (single_array, "is one array (.npy), not an .npz"),
        (empty, "is a damaged .npz file"),
        (text, "is a damaged .npz file"),
        (folder, "cannot be read: Is a directory"),
        (absent, "cannot be read: No such file or directory"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_file_that_is_no_npz_is_refused(tmp_path: Path, write: object, message: str) -> None:
    path = tmp_path / "in.npz"
    assert callable(write)
    write(path)
    with pytest.raises(InputError) as caught:
        npz.read(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "numpy.savez" in str(caught.value)
