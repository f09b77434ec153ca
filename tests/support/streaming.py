"""Models with resource variables, in the form of streaming wake words: convolutions over windows
that keep their latest rows from one inference to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from microgen.graph.ir.graph import Array
from tests.kernels.conformance.litert_oracle import interpreter_of
from tests.support.tflite_builder import OperatorSpec, Ref, SubgraphSpec, TensorSpec, build_model

SCALE, ZERO = 0.1, -128
LOGISTIC = (1 / 256, -128)
STEPS = (1, 2, 40)  # the input's shape


@dataclass
class Model:
    """A model in the making. ``variables`` has each variable's initial value. With ``first`` the
    operators begin with the initialisation and all handles, as converters write them."""

    seed: int = 0
    tensors: list[TensorSpec] = field(default_factory=list)
    operators: list[OperatorSpec] = field(default_factory=list)
    variables: dict[str, Array] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    # Tensors

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: str = "int8",
        quant: tuple[float, int] | None = (SCALE, ZERO),
    ) -> str:
        scale, zero = ((quant[0],), (quant[1],)) if quant else ((), ())
        self.tensors.append(TensorSpec(name, tuple(shape), dtype, None, scale, zero))
        return name

    def constant(self, array: Array, scale: Sequence[float] = (), axis: int = 0) -> str:
        name = f"c{len(self.tensors)}"
        zeros = (0,) * len(scale)
        spec = TensorSpec(name, array.shape, array.dtype.name, array, tuple(scale), zeros, axis)
        self.tensors.append(spec)
        return name

    def shape(self, name: str) -> tuple[int, ...]:
        return next(t.shape for t in self.tensors if t.name == name)

    def add(
        self,
        code: str,
        inputs: Sequence[Ref],
        output: str = "",
        options: str = "",
        **values: object,
    ) -> str:
        outputs = [output] if output else []
        self.operators.append(OperatorSpec(code, inputs, outputs, options, values))  # type: ignore[arg-type]
        return output

    # Operators

    def input(self, name: str, shape: Sequence[int], **kind: object) -> str:
        self.inputs.append(self.tensor(name, shape, **kind))  # type: ignore[arg-type]
        return name

    def variable(self, name: str, initial: Array) -> str:
        """A variable, and the tensor that is its handle."""
        self.variables[name] = initial
        return self.handle(name)

    def handle(self, name: str, tensor: str = "") -> str:
        handle = self.tensor(tensor or f"{name}/handle", (), "resource", None)
        return self.add("VAR_HANDLE", [], handle, "VarHandleOptions", container="", sharedName=name)

    def read(self, handle: str, output: str, like: str) -> str:
        spec = next(t for t in self.tensors if t.name == like)
        self.tensors.append(replace(spec, name=output, data=None))
        return self.add("READ_VARIABLE", [handle], output, "ReadVariableOptions")

    def assign(self, handle: str, value: str) -> None:
        self.add("ASSIGN_VARIABLE", [handle, value], "", "AssignVariableOptions")

    def reshape(self, data: str, name: str, shape: Sequence[int]) -> str:
        wanted = self.constant(np.array(shape, np.int32))
        return self.add("RESHAPE", [data, wanted], self.tensor(name, shape), "ReshapeOptions")

    def last_rows(self, data: str, name: str, rows: int) -> str:
        """A slice of the last rows along axis 1."""
        shape = (1, rows, *self.shape(data)[2:])
        begin = [0, self.shape(data)[1] - rows, *[0] * (len(shape) - 2)]
        vectors = [begin, [0] * len(shape), [1] * len(shape)]
        return self.add(
            "STRIDED_SLICE",
            [data, *(self.constant(np.array(v, np.int32)) for v in vectors)],
            self.tensor(name, shape),
            "StridedSliceOptions",
            beginMask=sum(1 << i for i in range(len(shape)) if i != 1),
            endMask=(1 << len(shape)) - 1,
        )

    def join(self, parts: Sequence[str], name: str, axis: int = 1) -> str:
        shape = list(self.shape(parts[0]))
        shape[axis] = sum(self.shape(part)[axis] for part in parts)
        options = "ConcatenationOptions"
        return self.add("CONCATENATION", parts, self.tensor(name, shape), options, axis=axis)

    def stream(self, data: str, name: str, rows: int, initial: Array | None = None) -> str:
        """The rows that a variable keeps, joined to those of the data. The last are kept."""
        shape = (1, rows, *self.shape(data)[2:])
        values = np.full(shape, ZERO, np.int8) if initial is None else initial
        handle = self.variable(name, values)
        old = self.read(handle, self.tensor(f"{name}/old", shape) + "'", f"{name}/old")
        whole = self.join([old, data], f"{name}/concat")
        self.assign(handle, self.last_rows(whole, f"{name}/kept", rows))
        return whole

    def slide(self, data: str, name: str, rows: int) -> str:
        """As ``stream``, but the old rows are sliced before the new ones are joined to them."""
        shape = (1, rows, *self.shape(data)[2:])
        handle = self.variable(name, np.full(shape, ZERO, np.int8))
        old = self.read(handle, self.tensor(f"{name}/old", shape) + "'", f"{name}/old")
        rest = self.last_rows(old, f"{name}/rest", rows - self.shape(data)[1])
        whole = self.join([rest, data], f"{name}/concat")
        self.assign(handle, whole)
        return whole

    def _weights(
        self, shape: tuple[int, ...], axis: int, products: int, gain: float = 2.5
    ) -> list[str]:
        """Weights and biases whose sums spread over the output's range."""
        channels = shape[axis]
        scale = tuple((gain / np.sqrt(products) / 73 * np.ones(channels)).astype(np.float32))
        values = self.rng.integers(-127, 128, shape).astype(np.int8)
        sums = tuple(np.float32(s) * np.float32(SCALE) for s in scale)
        biases = self.rng.normal(0, 1.6 * gain, channels) / np.array(sums)
        return [
            self.constant(values, tuple(map(float, scale)), axis),
            self.constant(biases.astype(np.int32), tuple(map(float, sums))),
        ]

    def conv(self, data: str, name: str, channels: int) -> str:
        """A convolution over all rows of the data, with a ReLU."""
        _, rows, _, depth = self.shape(data)
        weights = self._weights((channels, rows, 1, depth), 0, rows * depth)
        output = self.tensor(name, (1, 1, 1, channels))
        options = {"padding": 1, "strideH": 1, "strideW": 1, "fusedActivationFunction": 1}
        options |= {"dilationHFactor": 1, "dilationWFactor": 1}
        return self.add("CONV_2D", [data, *weights], output, "Conv2DOptions", **options)

    def depthwise(self, data: str, name: str) -> str:
        _, rows, _, depth = self.shape(data)
        weights = self._weights((1, rows, 1, depth), 3, rows)
        output = self.tensor(name, (1, 1, 1, depth))
        options = {"padding": 1, "strideH": 1, "strideW": 1, "depthMultiplier": 1}
        options |= {"dilationHFactor": 1, "dilationWFactor": 1}
        kind = "DepthwiseConv2DOptions"
        return self.add("DEPTHWISE_CONV_2D", [data, *weights], output, kind, **options)

    def split(self, data: str, name: str, sizes: Sequence[int]) -> list[str]:
        outputs = [
            self.tensor(f"{name}/{i}", (*self.shape(data)[:-1], size))
            for i, size in enumerate(sizes)
        ]
        parameters = [np.array(sizes, np.int32), np.array(3, np.int32)]
        inputs = [data, *map(self.constant, parameters)]
        options = {"numSplits": len(sizes)}
        self.operators.append(OperatorSpec("SPLIT_V", inputs, outputs, "SplitVOptions", options))
        return outputs

    def dense(self, data: str, name: str) -> str:
        size = self.shape(data)[1]
        weight, bias = self._weights((1, size), 0, size, 0.3)
        output = self.tensor(name, (1, 1), quant=(0.05, 5))
        return self.add("FULLY_CONNECTED", [data, weight, bias], output, "FullyConnectedOptions")

    def logistic(self, data: str, name: str) -> str:
        return self.add("LOGISTIC", [data], self.tensor(name, self.shape(data), quant=LOGISTIC))

    # The file

    def init(self) -> SubgraphSpec:
        """The initialisation subgraph."""
        other = Model()
        for name, values in self.variables.items():
            other.assign(other.handle(name), other.constant(values))
        return SubgraphSpec(other.tensors, other.operators)

    def to_bytes(self, *, more: Sequence[SubgraphSpec] = (), once: int = 1) -> bytes:
        """The bytes of the file: CALL_ONCE and the handles come first."""
        call = OperatorSpec("CALL_ONCE", [], [], "CallOnceOptions", {"initSubgraphIndex": once})
        first = [o for o in self.operators if o.code == "VAR_HANDLE"]
        rest = [o for o in self.operators if o.code != "VAR_HANDLE"]
        used = {ref for o in self.operators for ref in (*o.inputs, *o.outputs)} | {*self.inputs}
        tensors = [t for t in self.tensors if t.name in used]
        operators = [*([call] if self.variables else []), *first, *rest]
        return build_model(
            *(tensors, operators, self.inputs, self.outputs),
            signatures=["serving_default"],
            more=more or [self.init()],
        )


def wake_word(seed: int = 1) -> bytes:
    """A small network with the structure of microWakeWord's."""
    m = Model(seed)
    data = m.reshape(m.input("x", STEPS), "rows", (1, 2, 1, 40))
    data = m.conv(m.stream(data, "stream", 3), "conv0", 16)
    data = m.conv(m.depthwise(m.stream(data, "stream_1", 4), "depthwise1"), "conv1", 24)
    whole = m.stream(data, "stream_2", 8)
    left, right = m.split(whole, "split", (12, 12))
    parts = [m.depthwise(m.last_rows(left, "near", 4), "depthwise2"), m.depthwise(right, "far")]
    data = m.conv(m.join(parts, "joined", 3), "conv2", 20)
    data = m.conv(m.slide(data, "stream_3", 6), "conv3", 16)
    flat = m.reshape(m.stream(data, "stream_4", 2), "flat", (1, 48))
    data = m.logistic(m.dense(flat, "logits"), "logistic")
    m.outputs = [m.add("QUANTIZE", [data], m.tensor("probability", (1, 1), "uint8", (1 / 256, 0)))]
    return m.to_bytes()


def steps(count: int, shape: Sequence[int] = STEPS, seed: int = 2) -> Array:
    """A sequence of inputs: silence, noise, slow changes of level, chirps, bursts and constants.
    Uniform noise alone hardly moves the output of such networks."""
    rng = np.random.default_rng(seed)
    made: list[Array] = []
    channels = np.arange(shape[-1])
    while len(made) < count:
        kind, length, level = rng.integers(6), int(rng.integers(3, 30)), rng.integers(-128, 128)
        for t in np.linspace(0, 1, length):
            chirp = 220 * np.exp(-((channels - t * shape[-1]) ** 2) / 8) - 110
            values = (
                *(np.full(shape, -128), rng.integers(-128, 128, shape)),
                *(-128 + 220 * t + rng.normal(0, 8, shape), chirp + rng.normal(0, 5, shape)),
                *(np.where(rng.random(shape) < 0.1, 127, -128), np.full(shape, level)),
            )[int(kind)]
            made.append(np.clip(np.broadcast_to(values, shape), -128, 127).astype(np.int8))
    return np.stack(made[:count])


def by_litert(model: bytes, samples: Array, resets: Sequence[int] = ()) -> Array:
    """The outputs of LiteRT's reference kernels. There is a new interpreter before each of these
    samples, because nothing else resets resource variables."""
    outputs: list[Array] = []
    interpreter = interpreter_of(model)
    for i, sample in enumerate(samples):
        if i in resets:
            interpreter = interpreter_of(model)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return np.stack(outputs)
