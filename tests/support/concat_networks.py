"""Networks that concatenate along rows, channels and other axes, int8 or float32, as .tflite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

SCALE, ZERO = float(np.float32(0.05)), 3
_WEIGHT = float(np.float32(0.01))


class Network:
    """Appends layers and returns the names of their results."""

    def __init__(self, seed: int, dtype: str = "int8") -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype
        self.tensors: list[TensorSpec] = []
        self.operators: list[OperatorSpec] = []
        self.inputs: list[str] = []
        self.shapes: dict[str, tuple[int, ...]] = {}

    def input(self, *shape: int) -> str:
        self.inputs.append(self._activation(f"x{len(self.inputs)}", shape))
        return self.inputs[-1]

    def constant(self, *shape: int) -> str:
        name = f"constant{len(self.tensors)}"
        values = self.rng.integers(-128, 128, shape)
        self.shapes[name] = shape
        if self.dtype == "float32":
            self.tensors.append(TensorSpec(name, shape, "float32", values.astype(np.float32) / 64))
        else:
            data = values.astype(np.int8)
            self.tensors.append(TensorSpec(name, shape, "int8", data, (SCALE,), (ZERO,)))
        return name

    def conv(self, data: str, channels: int, size: int = 3, stride: int = 1) -> str:
        """A convolution with padding and ReLU6."""
        _, height, width, depth = self.shapes[data]
        weight = self.rng.integers(-127, 128, (channels, size, size, depth))
        bias = self.rng.integers(-99, 99, channels)
        options = {"padding": 0, "strideH": stride, "strideW": stride, "fusedActivationFunction": 3}
        shape = (1, -(-height // stride), -(-width // stride), channels)
        arrays = self._weights(weight, bias)
        return self._layer("CONV_2D", [data, *arrays], shape, "Conv2DOptions", options)

    def pool(self, data: str, kind: str = "MAX_POOL_2D", size: int = 3, stride: int = 1) -> str:
        _, height, width, depth = self.shapes[data]
        sizes = {"filterHeight": size, "filterWidth": size, "strideH": stride, "strideW": stride}
        shape = (1, -(-height // stride), -(-width // stride), depth)
        return self._layer(kind, [data], shape, "Pool2DOptions", {"padding": 0, **sizes})

    def dense(self, data: str, features: int) -> str:
        """A dense layer over all values of the data."""
        count = int(np.prod(self.shapes[data]))
        weight = self.rng.integers(-127, 128, (features, count))
        arrays = self._weights(weight, self.rng.integers(-99, 99, features), is_dense=True)
        flat = self.reshape(data, 1, count)
        return self._layer(
            "FULLY_CONNECTED", [flat, *arrays], (1, features), "FullyConnectedOptions"
        )

    def reshape(self, data: str, *shape: int) -> str:
        return self._layer("RESHAPE", [data], shape, "ReshapeOptions", {"newShape": list(shape)})

    def concat(self, names: Sequence[str], axis: int) -> str:
        first = self.shapes[names[0]]
        size = sum(self.shapes[name][axis] for name in names)
        shape = (*first[:axis], size, *first[axis + 1 :])
        return self._layer("CONCATENATION", names, shape, "ConcatenationOptions", {"axis": axis})

    def model(self, *outputs: str) -> bytes:
        return build_model(self.tensors, self.operators, self.inputs, outputs)

    def _layer(
        self,
        code: str,
        inputs: Sequence[str],
        shape: tuple[int, ...],
        table: str,
        options: dict[str, object] | None = None,
    ) -> str:
        name = self._activation(f"layer{len(self.operators)}", shape)
        self.operators.append(OperatorSpec(code, inputs, [name], table, options or {}))
        return name

    def _activation(self, name: str, shape: tuple[int, ...]) -> str:
        self.shapes[name] = shape
        quant = ((SCALE,), (ZERO,)) if self.dtype == "int8" else ((), ())
        self.tensors.append(TensorSpec(name, shape, self.dtype, None, *quant))
        return name

    def _weights(self, weight: np.ndarray, bias: np.ndarray, is_dense: bool = False) -> list[str]:
        names = [f"weight{len(self.operators)}", f"bias{len(self.operators)}"]
        if self.dtype == "float32":
            fan = 64 * np.sqrt(weight[0].size)
            self.tensors.append(
                TensorSpec(names[0], weight.shape, "float32", (weight / fan).astype(np.float32))
            )
            self.tensors.append(
                TensorSpec(names[1], bias.shape, "float32", (bias / 99).astype(np.float32))
            )
            return names
        count = 1 if is_dense else len(weight)
        scale = float(np.float32(_WEIGHT / np.sqrt(weight[0].size)))
        sums = float(np.float32(SCALE) * np.float32(scale))
        self.tensors.append(
            TensorSpec(
                names[0],
                weight.shape,
                "int8",
                weight.astype(np.int8),
                (scale,) * count,
                (0,) * count,
            )
        )
        self.tensors.append(
            TensorSpec(
                names[1], bias.shape, "int32", bias.astype(np.int32), (sums,) * count, (0,) * count
            )
        )
        return names


def rows(dtype: str = "int8") -> tuple[Network, str]:
    """Two branches joined along the rows, joined again with the input, with a constant and with
    what they give."""
    made = Network(1, dtype)
    x = made.input(1, 6, 6, 3)
    both = made.concat([made.conv(x, 4), made.conv(x, 4, 1)], 1)
    more = made.conv(both, 4)
    again = made.concat([made.constant(1, 1, 6, 4), both, more], 1)
    whole = made.concat([made.reshape(again, 1, 600), made.reshape(x, 1, 108)], 1)
    return made, made.dense(whole, 5)


def random(seed: int, dtype: str = "int8") -> tuple[Network, list[str]]:
    """A network that mostly concatenates, and its outputs. Parts are inputs, constants, outputs,
    parts of several results or of one twice, and views, too."""
    made = Network(seed, dtype)
    rng = made.rng
    height, width, depth = (int(n) for n in rng.integers(1, 6, 3))
    images = [made.input(1, height, width, depth)]
    for _ in range(int(rng.integers(4, 15))):
        data = images[-int(rng.integers(1, min(4, len(images)) + 1))]
        choice = rng.integers(10)
        if choice < 3:
            images.append(made.conv(data, int(rng.integers(1, 6)), int(rng.choice([1, 3]))))
        elif choice == 3:
            images.append(made.pool(data))
        elif choice == 4:
            images.append(made.constant(*made.shapes[data]))
        elif choice == 5:
            rows_, columns, channels = made.shapes[data][1:]
            images.append(made.reshape(data, 1, columns, rows_, channels))
        else:
            images.append(_joined(made, images, data))
    outputs = list(dict.fromkeys(map(str, rng.choice(images, int(rng.integers(1, 3))))))
    computed = [name for name in outputs if name.startswith("layer")]
    last = made.conv(images[-1], 2, 1)
    return made, [*dict.fromkeys([last, *computed][: int(rng.integers(1, 3))])]


def _joined(made: Network, images: Sequence[str], data: str) -> str:
    axis = int(made.rng.choice([1, 1, 1, 2, 3]))
    shape = made.shapes[data]
    others = [name for name in images if _without(made.shapes[name], axis) == _without(shape, axis)]
    count = int(made.rng.integers(0, 3))
    chosen = [data, *map(str, made.rng.choice(others, count, replace=len(others) < count))]
    chosen.append(made.conv(data, shape[3]) if made.rng.random() < 0.8 else chosen[-1])
    return made.concat([chosen[i] for i in made.rng.permutation(len(chosen))], axis)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def squeezes(dtype: str = "int8") -> tuple[Network, str]:
    """Three fire modules: 1x1 convolutions to few channels, from which 1x1 and 3x3 convolutions are
    joined along the channels."""
    made = Network(7, dtype)
    data = made.conv(made.input(1, 32, 32, 3), 16, stride=2)
    for few, many in ((8, 16), (8, 16), (16, 32)):
        less = made.conv(data, few, 1)
        data = made.concat([made.conv(less, many, 1), made.conv(less, many, 3)], 3)
        data = made.pool(data, stride=2) if many == 16 else data
    return made, made.dense(data, 10)


def dense_blocks(dtype: str = "int8") -> tuple[Network, str]:
    """Two dense blocks: each layer's eight channels are joined to all before it."""
    made = Network(8, dtype)
    data = made.conv(made.input(1, 32, 32, 3), 16, stride=2)
    for _ in range(2):
        for _ in range(4):
            data = made.concat([data, made.conv(made.conv(data, 32, 1), 8, 3)], 3)
        data = made.pool(made.conv(data, 24, 1), "AVERAGE_POOL_2D", 2, 2)
    return made, made.dense(data, 10)


def detector(dtype: str = "int8") -> tuple[Network, str, str]:
    """Boxes and classes of four feature maps, as detectors join them: one run of bytes each."""
    made = Network(9, dtype)
    data = made.conv(made.input(1, 48, 48, 3), 8, stride=2)
    boxes, classes = list[str](), list[str]()
    for channels in (16, 16, 24, 24):
        data = made.conv(data, channels, stride=2)
        places = 3 * made.shapes[data][1] * made.shapes[data][2]
        boxes.append(made.reshape(made.conv(data, 12), 1, places, 4))
        classes.append(made.reshape(made.conv(data, 15), 1, places, 5))
    return made, made.concat(boxes, 1), made.concat(classes, 1)
