"""Random LSTM layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from microgen.graph.ir.graph import Array, DType
from tests.kernels.conformance.stateful import Network
from tests.support.tflite_builder import OperatorSpec, Ref, TensorSpec

RUNS = 4
GATES = ("input", "forget", "cell", "output")
TANH = 4
_ACTIVATIONS = ("x", "y", "output_state", "hidden")


@dataclass(frozen=True)
class Layer:
    """An LSTM's sizes and variants, its constants, and its quantization by tensor.

    The quantization is empty for float32.
    """

    batch: int
    steps: int
    features: int
    cells: int
    outputs: int
    time_major: bool
    has_input_gate: bool
    cell_clip: float
    projection_clip: float
    constants: dict[str, Array]
    scale: dict[str, float] = field(default_factory=dict)
    zero_point: dict[str, int] = field(default_factory=dict)
    is_wide: bool = False  # int16 data, biases of int64

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates that have weights."""
        return GATES if self.has_input_gate else GATES[1:]

    @property
    def peepholes(self) -> list[str]:
        """The names of the layer's peepholes in TFLite's order."""
        return [n for g in GATES if (n := f"peephole_{g}") in self.constants]

    @property
    def data_shape(self) -> tuple[int, int, int]:
        leading = (self.batch, self.steps)
        return (*(leading[::-1] if self.time_major else leading), self.features)

    @property
    def output_shape(self) -> tuple[int, int, int]:
        return (*self.data_shape[:2], self.outputs)


def random_layer(
    seed: int, dtype: DType, *, is_plain: bool = False, below: tuple[int, ...] = (4, 7, 12, 9)
) -> Layer:
    """A random layer with sizes from 1: batches, steps, features and cells. With ``is_plain`` it
    has all gates and no extras."""
    rng = np.random.default_rng(seed)
    batch, steps, features, cells = (int(n) for n in rng.integers(1, below))
    has_input_gate, peephole, projection, projection_bias, time_major = (
        (True, False, False, False, False) if is_plain else (bool(b) for b in rng.random(5) < 0.5)
    )
    outputs = int(rng.integers(1, 9)) if projection else cells
    if projection and peephole and dtype is DType.INT8:
        outputs = cells  # TFLite confuses the two numbers
    gates = GATES if has_input_gate else GATES[1:]
    shapes: dict[str, tuple[int, ...]] = {}
    for gate in gates:
        shapes[f"weight_{gate}"] = (cells, features)
        shapes[f"recurrent_{gate}"] = (cells, outputs)
        shapes[f"bias_{gate}"] = (cells,)
        if peephole and gate != "cell":
            shapes[f"peephole_{gate}"] = (cells,)
    if projection:
        shapes["projection"] = (outputs, cells)
        if projection_bias:
            shapes["projection_bias"] = (outputs,)
    clips = [float(np.float32(c)) for c in rng.uniform(0.2, 2, 2) * (rng.random(2) < 0.4)]
    sizes = (batch, steps, features, cells, outputs, time_major, has_input_gate)
    if dtype is DType.FLOAT32:
        constants = {
            name: (rng.normal(0, 1, shape) * 10.0 ** rng.uniform(-1, 0.3)).astype(np.float32)
            for name, shape in shapes.items()
        }
        return Layer(*sizes, *clips, constants)
    constants = {name: _integers(rng, name, shape) for name, shape in shapes.items()}
    return Layer(*sizes, *clips, constants, *_quantization(rng, constants, features, outputs))


def paired_layer(seed: int) -> Layer:
    """A random layer that kernels with paired weights take: no weight is -128, and the cell state
    has two integer bits or more."""
    layer = random_layer(seed, DType.INT8, is_plain=True, below=(3, 5, 40, 23))
    constants = {
        name: np.maximum(array, -127) if array.dtype == np.int8 else array
        for name, array in layer.constants.items()
    }
    scale = {**layer.scale, "cell_state": 2.0 ** (seed % 5 - 13)}
    return replace(layer, constants=constants, scale=scale)


def table_layer(seed: int, dtype: DType) -> Layer:
    """A random layer of int8 or int16 data for TFLite Micro. The cell state's scale is a power of
    two, or nearly, and any limit of it may be less than its scale."""
    rng = np.random.default_rng(seed + 10**7)
    layer = random_layer(seed, DType.INT8, is_plain=True)
    scale = {**layer.scale, "cell_state": 2.0 ** int(rng.integers(-18, -6))}
    if rng.random() < 0.3:
        scale["cell_state"] *= float(rng.uniform(0.9995, 1.0005))
    clip = layer.cell_clip if rng.random() < 0.8 else scale["cell_state"] * rng.uniform(0, 2)
    layer = replace(
        layer, time_major=bool(rng.random() < 0.5), cell_clip=float(np.float32(clip)), scale=scale
    )
    return _widened(layer) if dtype is DType.INT16 else layer


def _widened(layer: Layer) -> Layer:
    """The layer with int16 data, whose real values are about the same."""
    constants = {
        name: array.astype(np.int64) * 2**8 if "bias" in name else array
        for name, array in layer.constants.items()
    }
    narrow = {name: layer.scale[name] / 2**8 for name in ("x", "y", "hidden")}
    return replace(
        layer,
        constants=constants,
        scale={**layer.scale, **narrow},
        zero_point=dict.fromkeys(layer.zero_point, 0),
        is_wide=True,
    )


def _dtype(name: str, is_wide: bool = False) -> str:
    if "bias" in name:
        return "int64" if is_wide else "int32"
    if name == "cell_state" or name.startswith("peephole"):
        return "int16"
    return "int16" if is_wide and name in _ACTIVATIONS else "int8"


def _integers(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    limit = {"int8": 127, "int16": 32767, "int32": 2000}[_dtype(name)]
    if rng.random() < 0.2 and limit != 2000:
        return rng.choice(np.array([-limit - 1, limit]), shape).astype(_dtype(name))
    return rng.integers(-limit, limit + 1, shape).astype(_dtype(name))


def _quantization(
    rng: np.random.Generator, constants: dict[str, Array], features: int, outputs: int
) -> tuple[dict[str, float], dict[str, int]]:
    """Scales with which the gates' sums have a magnitude of about 4; some are far off."""

    def off() -> float:
        return 2.0 ** rng.uniform(-3, 2) if rng.random() < 0.3 else 1.0

    scale = {"x": 10.0 ** rng.uniform(-3, 0), "y": 2.0 ** rng.uniform(-9, -6)}
    for name in constants:
        if name.startswith("weight"):
            scale[name] = 3 / (75 * 75 * features**0.5 * scale["x"]) * off()
        elif name.startswith("recurrent"):
            scale[name] = 3 / (75 * 75 * outputs**0.5 * scale["y"]) * off()
        elif name.startswith("peephole"):
            scale[name] = 2.0**-14 * off()
        elif name == "projection":
            scale[name] = 2.0**-7 * off()
    scale["hidden"] = scale["y"] if rng.random() < 0.5 else 2.0 ** rng.uniform(-9, -6)
    scale["cell_state"] = 2.0 ** int(rng.integers(-15, -8))
    points = [int(p) for p in rng.choice([-128, 127, 0, *rng.integers(-128, 128, 3)], 3)]
    return scale, dict(zip(("x", "y", "hidden"), points, strict=True))


def samples(layer: Layer, seed: int, runs: int = RUNS) -> list[Array]:
    """The inputs of consecutive runs."""
    rng = np.random.default_rng(seed + 10**6)
    shape = (runs, *layer.data_shape)
    if not layer.scale:
        return list(rng.normal(0, 1, shape).astype(np.float32))
    if layer.is_wide:
        return list(rng.integers(-(2**15), 2**15, shape).astype(np.int16))
    return list(rng.integers(-128, 128, shape).astype(np.int8))


def network(seed: int, dtype: DType, runs: int = RUNS, *, is_plain: bool = False) -> Network:
    """A model of a random layer."""
    return network_of(random_layer(seed, dtype, is_plain=is_plain), seed, runs)


def network_of(layer: Layer, seed: int, runs: int = RUNS) -> Network:
    """A model of the layer."""
    tensors = list(_tensors(layer))
    known = {tensor.name for tensor in tensors}

    def refs(names: list[str]) -> list[Ref]:
        return [name if name in known else -1 for name in names]

    inputs: list[Ref] = ["x"]
    inputs += refs([f"weight_{g}" for g in GATES] + [f"recurrent_{g}" for g in GATES])
    inputs += refs([f"peephole_{g}" for g in GATES if g != "cell"])
    inputs += refs([f"bias_{g}" for g in GATES] + ["projection", "projection_bias"])
    inputs += ["output_state", "cell_state", -1, -1, -1, -1]
    options = {
        "fusedActivationFunction": TANH,
        "cellClip": layer.cell_clip,
        "projClip": layer.projection_clip,
        "timeMajor": layer.time_major,
    }
    operator = OperatorSpec(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        inputs,
        ["y"],
        "UnidirectionalSequenceLSTMOptions",
        options,
        intermediates=[*(f"gate_{g}" for g in GATES), "hidden"] if layer.scale else (),
    )
    variables = ("output_state", "cell_state")
    return Network(f"seed {seed}", tensors, operator, samples(layer, seed, runs), variables)


def _tensors(layer: Layer) -> Iterator[TensorSpec]:
    scale = {**layer.scale, **({"output_state": layer.scale["y"]} if layer.scale else {})}
    point = {**layer.zero_point, **({"output_state": layer.zero_point["y"]} if scale else {})}

    def spec(
        name: str, shape: tuple[int, ...], data: Array | None, is_variable: bool
    ) -> TensorSpec:
        dtype = _dtype(name, layer.is_wide) if scale else "float32"
        quantized = ((scale[name],), (point.get(name, 0),)) if name in scale else ((), ())
        return TensorSpec(name, shape, dtype, data, *quantized, is_variable=is_variable)

    yield spec("x", layer.data_shape, None, False)
    for name, array in layer.constants.items():
        yield spec(name, array.shape, array, False)
    yield spec("output_state", (layer.batch, layer.outputs), None, True)
    yield spec("cell_state", (layer.batch, layer.cells), None, True)
    yield spec("y", layer.output_shape, None, False)
    if scale:
        for gate in GATES:
            yield TensorSpec(f"gate_{gate}", (0,), "float32")
        kind = _dtype("hidden", layer.is_wide)
        yield TensorSpec("hidden", (0,), kind, None, (scale["hidden"],), (point["hidden"],))
