"""Small files that ask for huge memory or time.

As a script, it writes them to a folder, runs the command of each in its one process, and prints the
outcomes as JSON.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import struct
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from microgen.interface import cli
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

STORED = {"scale": (1.0,), "zero_point": (0,)}
HEAD = "def @main(%x: Tensor[(1, 1, 1, 1), float32]) { "


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def _broadcast(name: str, shape: tuple[int, ...]) -> tuple[list[TensorSpec], OperatorSpec]:
    """A constant of that shape, broadcast from one number."""
    tensors = [
        TensorSpec(f"{name}/one", (1,), "float32", np.ones(1)),
        TensorSpec(f"{name}/shape", (len(shape),), "int32", _ints(*shape)),
        TensorSpec(name, shape, "float32"),
    ]
    inputs = [tensor.name for tensor in tensors[:2]]
    return tensors, OperatorSpec("BROADCAST_TO", inputs, [name], "BroadcastToOptions")


def _ending(tensors: list[TensorSpec], operators: list[OperatorSpec]) -> bytes:
    """A model that adds an input to the last operator's output."""
    last = tensors[-1]
    ends = [TensorSpec("x", (1,), "float32"), TensorSpec("y", last.shape, "float32")]
    add = OperatorSpec("ADD", [last.name, "x"], ["y"], "AddOptions")
    return build_model([*tensors, *ends], [*operators, add], ["x"], ["y"])


def chained_broadcasts() -> bytes:
    """Constants of 4 MB, each computed from the one before."""
    tensors, first = _broadcast("b0", (1024, 1024))
    operators = [first]
    for i in range(1, 40):
        tensors.append(TensorSpec(f"b{i}", (1024, 1024), "float32"))
        inputs = [f"b{i - 1}", "b0/shape"]
        operators.append(OperatorSpec("BROADCAST_TO", inputs, [f"b{i}"], "BroadcastToOptions"))
    return _ending(tensors, operators)


def one_broadcast() -> bytes:
    tensors, operator = _broadcast("b", (2**14, 2**14))
    return _ending(tensors, [operator])


def one_tile() -> bytes:
    tensors = [
        TensorSpec("one", (1, 1), "float32", np.ones((1, 1))),
        TensorSpec("counts", (2,), "int32", _ints(2**14, 2**14)),
        TensorSpec("t", (2**14, 2**14), "float32"),
    ]
    return _ending(tensors, [OperatorSpec("TILE", ["one", "counts"], ["t"], "TileOptions")])


def many_zeros() -> bytes:
    """Constants of 4 MB, each the zeros of the one before."""
    tensors, first = _broadcast("z0", (1024, 1024))
    operators = [first]
    for i in range(1, 40):
        tensors.append(TensorSpec(f"z{i}", (1024, 1024), "float32"))
        operators.append(OperatorSpec("ZEROS_LIKE", [f"z{i - 1}"], [f"z{i}"], "ZerosLikeOptions"))
    return _ending(tensors, operators)


def folded_convolution() -> bytes:
    data, first = _broadcast("data", (1, 128, 128, 16))
    weight, second = _broadcast("weight", (16, 63, 63, 16))
    strides = {f"{name}{axis}": 1 for name in ("stride", "dilation") for axis in "HW"}
    options = {k + "Factor" if k.startswith("d") else k: v for k, v in strides.items()}
    tensors = [*data, *weight, TensorSpec("c", (1, 128, 128, 16), "float32")]
    conv = OperatorSpec("CONV_2D", ["data", "weight"], ["c"], "Conv2DOptions", options)
    return _ending(tensors, [first, second, conv])


def folded_matrix_products() -> bytes:
    shape = (1024, 1024)
    tensors, first = _broadcast("m0", shape)
    operators = [first]
    for i in range(1, 9):
        tensors.append(TensorSpec(f"m{i}", shape, "float32"))
        inputs = [f"m{i - 1}", "m0"]
        operators.append(OperatorSpec("BATCH_MATMUL", inputs, [f"m{i}"], "BatchMatMulOptions"))
    return _ending(tensors, operators)


def shared_halves() -> bytes:
    """One constant that every layer converts again."""
    size, tensors, operators = 10_000, [TensorSpec("h", (10_000,), "float16", np.zeros(10_000))], []
    for i in range(5000):
        tensors.append(TensorSpec(f"f{i}", (size,), "float32"))
        operators.append(OperatorSpec("DEQUANTIZE", ["h"], [f"f{i}"], "DequantizeOptions"))
    return _ending(tensors, operators)


def many_tables() -> bytes:
    """Tables of 65,536 columns, one for each layer."""
    shape = (1, 1, 65536, 1)
    tensors = [TensorSpec("x", (1, 1, 1, 1), "int8", **STORED)]
    tensors.append(TensorSpec("size", (2,), "int32", _ints(1, 65536)))
    operators, last = [], "x"
    kind = "RESIZE_NEAREST_NEIGHBOR"
    for i in range(1000):
        tensors.append(TensorSpec(f"r{i}", shape, "int8", **STORED))
        options = "ResizeNearestNeighborOptions"
        operators.append(OperatorSpec(kind, [last, "size"], [f"r{i}"], options))
        last = f"r{i}"
    return build_model(tensors, operators, ["x"], [last])


def shared_indices() -> bytes:
    """One constant that is copied for every GATHER."""
    size = 100_000
    tensors = [TensorSpec("x", (2,), "float32"), TensorSpec("i", (size,), "int64", np.ones(size))]
    operators = []
    for i in range(2000):
        tensors.append(TensorSpec(f"g{i}", (size,), "float32"))
        operators.append(OperatorSpec("GATHER", ["x", "i"], [f"g{i}"], "GatherOptions"))
    return build_model(tensors, operators, ["x"], [f"g{len(operators) - 1}"])


def shared_buffer() -> bytes:
    """One array that is the values of thousands of tensors."""
    data, size = np.zeros(1_000_000, np.float32).tobytes(), 1_000_000
    tensors = [TensorSpec("x", (size,), "float32"), TensorSpec("c", (size,), "float32", data)]
    operators, last = [], "x"
    for i in range(5_000):
        tensors.append(TensorSpec(f"c{i}", (size,), "float32", shares="c"))
        tensors.append(TensorSpec(f"a{i}", (size,), "float32"))
        operators.append(OperatorSpec("ADD", [last, f"c{i}"], [f"a{i}"], "AddOptions"))
        last = f"a{i}"
    return build_model(tensors, operators, ["x"], [last])


def shared_metadata() -> bytes:
    """One array that is the value of thousands of Relay constants."""
    data = bytes(2**20)
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 2, 32, 1)
    array = head + struct.pack("<qq", len(data) // 4, len(data)) + data
    constants = {"data": [2] * 5000}
    nodes = [{"keys": ["relay.Constant"], "data": [1]}, constants, {"attrs": {"data": "0"}}]
    document = {"root": 0, "nodes": nodes, "b64ndarrays": [base64.b64encode(array).decode()]}
    text = "add(meta[relay.Constant][4999], %y) }\n#[metadata]\n"
    return (HEAD + text + json.dumps(document)).encode()


def large_input() -> bytes:
    shape = (2**14, 2**16)
    tensors = [TensorSpec(name, shape, "int8", **STORED) for name in "xy"]
    return build_model(tensors, [OperatorSpec("RELU", ["x"], ["y"])], ["x"], ["y"])


def _relay(body: str) -> Callable[[], bytes]:
    return lambda: (HEAD + body).encode()


def _claiming(claimed: int, stored: int) -> bytes:
    header = io.BytesIO()
    described = {"descr": "|i1", "fortran_order": False, "shape": (claimed,)}
    np.lib.format.write_array_header_1_0(header, described)
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w", force_zip64=True) as member,
    ):
        member.write(header.getvalue())
        for _ in range(stored // 2**20):
            member.write(bytes(2**20))
    return file.getvalue()


TUPLES = "".join(f"%{i} = (%{i - 1}, %{i - 1});\n" for i in range(1, 60))
RESIZE = (
    'image.resize2d(%x, size=[400000000, 1], layout="NHWC", method="nearest_neighbor", '
    'coordinate_transformation_mode="asymmetric", rounding_method="floor") }'
)
ZEROS = "".join(f'%{i} = zeros(shape=[1024, 1024], dtype="float32");\n' for i in range(60))

ALL_ZEROS = ", ".join(f"%{i}" for i in range(60))

# The file's name, its contents, and a word of the refusal.
BOMBS: Sequence[tuple[str, Callable[[], bytes], str]] = (
    ("chained_broadcasts.tflite", chained_broadcasts, 'layer "b'),
    ("one_broadcast.tflite", one_broadcast, 'layer "b"'),
    ("one_tile.tflite", one_tile, 'layer "t"'),
    ("many_zeros.tflite", many_zeros, 'layer "z'),
    ("folded_convolution.tflite", folded_convolution, 'layer "c"'),
    ("folded_matrix_products.tflite", folded_matrix_products, 'layer "m1"'),
    ("shared_halves.tflite", shared_halves, 'layer "f'),
    ("many_tables.tflite", many_tables, 'layer "r'),
    ("shared_indices.tflite", shared_indices, 'layer "g'),
    ("shared_buffer.tflite", shared_buffer, 'layer "a'),
    ("shared_metadata.relay", shared_metadata, "found %y"),
    ("large_input.tflite", large_input, "a program on the host gets"),
    ("string.relay", _relay('"' + "a" * 10_000_000), "expected Relay text"),
    ("escapes.relay", _relay('"' + "\\a" * 5_000_000), "expected Relay text"),
    ("dots.relay", _relay("a." * 5_000_000), "expected"),
    ("brackets.relay", _relay("(" * 5_000_000), "nested deeper"),
    ("axes.relay", lambda: b"def @main(%x: Tensor[(" + b"1," * 2_000_000, "axes"),
    ("list.relay", _relay("nn.relu(%x, a=[" + "1," * 1_000_000), "a list of more than"),
    ("digits.relay", _relay("add(%x, " + "9" * 5_000_000 + "f)"), "is not a number"),
    ("tuples.relay", _relay(f"%0 = (%x, %x);\n{TUPLES}%59 }}"), "more than 1024 values"),
    ("resize.relay", _relay(RESIZE), "computes with constants"),
    ("zeros.relay", _relay(f"{ZEROS}({ALL_ZEROS}, %x) }}"), "computes with constants"),
    ("claimed.npz", lambda: _claiming(2**40, 2**20), "1,099,511,627,776"),
    ("deflated.npz", lambda: _claiming(2**28 + 1, 2**28 + 2**20), "268,435,456"),
)


def _command(path: Path) -> list[str]:
    if path.suffix == ".npz":
        return ["run", str(path.parent / "absent"), "--input", str(path)]
    return ["generate", str(path), "-b", "native", "-o", str(path.with_suffix("")), "-q"]


def _outcome(path: Path) -> dict[str, object]:
    """The exit code, the lines on stderr, and the seconds of CPU of one command."""
    printed, before = io.StringIO(), time.process_time()
    with contextlib.redirect_stderr(printed):
        code = cli.main(_command(path))
    seconds = time.process_time() - before
    return {"code": code, "lines": printed.getvalue().splitlines(), "seconds": seconds}


def main(folder: Path) -> None:
    """Write the bombs to the folder and run them, one line of JSON for each."""
    for name, content, _ in BOMBS:
        path = folder / name
        path.write_bytes(content())
        print(json.dumps({"name": name, **_outcome(path)}), flush=True)
        path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
