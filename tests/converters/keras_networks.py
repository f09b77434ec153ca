"""Makes networks with Keras and converts each in the forms that TensorFlow's converter has.

    python -m tests.converters.keras_networks FOLDER [WORD ...]

writes NETWORK.FORM.tflite for all networks, or those with a WORD in the name. Needs tensorflow,
which no test needs. Existing files are kept. NETWORK.FORM.failed says
why one could not be converted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.converters import keras_blocks, keras_layers, keras_sequences
from tests.converters.keras_layers import Maker

WORKERS = 2
# Arguments of layers that are widths, or shapes that end with one.
WIDTHS = ("units", "filters", "output_dim", "key_dim", "head_dim")
SHAPES = ("target_shape", "output_shape")


@dataclass(frozen=True)
class Form:
    """How a network is converted. ``batch`` is None if it is left unset."""

    batch: int | None = None
    quantizes: bool = False
    # Of activations: by samples, if any.
    bits: int | None = None
    # Widths of layers times this.
    times: int = 1


# The batch is unset in most of them, because Keras leaves it so.
FORMS = {
    "float32": Form(),
    "float32_batch": Form(batch=1),
    # Weights of less than 1,024 elements remain float32.
    "hybrid": Form(quantizes=True, times=8),
    "int8": Form(quantizes=True, bits=8),
    "int16x8": Form(batch=1, quantizes=True, bits=16),
}


def networks() -> Mapping[str, Maker]:
    """All networks, by name."""
    layers, sequences = keras_layers, keras_sequences
    return {
        **layers.dense(),
        **layers.activations(),
        **layers.convolutions_1d(),
        **layers.convolutions_2d(),
        **layers.pools(),
        **layers.normalizations(),
        **layers.merging(),
        **layers.shapes(),
        **sequences.embeddings(),
        **sequences.recurrent(),
        **sequences.attention(),
        **keras_blocks.networks(),
    }


def convert(make: Maker, form: Form) -> bytes:
    """The file of a network in a form. Equal arguments give equal bytes."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    model = make(form.batch)
    if form.times > 1:
        model = type(model).from_config(_widened(model.get_config(), form.times))
    _vary(model)
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if form.quantizes:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form.bits is not None:
        converter.representative_dataset = lambda: _samples(model)
    ops = tf.lite.OpsSet
    if form.bits == 8:
        converter.target_spec.supported_ops = [ops.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    if form.bits == 16:
        wide = ops.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        # What the converter cannot quantize to int16 remains float32.
        converter.target_spec.supported_ops = [wide, ops.TFLITE_BUILTINS]
        if all(each.dtype == "float32" for each in model.inputs):
            converter.inference_input_type = converter.inference_output_type = tf.int16
    made: bytes = converter.convert()
    return made


def _widened(config: Any, times: int) -> Any:
    """A model's configuration with widths of layers, and of inputs of real numbers, times
    ``times``."""
    if isinstance(config, list | tuple):
        return type(config)(_widened(each, times) for each in config)
    if not isinstance(config, dict):
        return config
    is_real = config.get("dtype") == "float32"
    wide = {}
    for key, value in config.items():
        if key == "build_config":  # its shapes are inferred again
            continue
        if key in WIDTHS:
            wide[key] = value * times
        elif value and (key in SHAPES or (key == "batch_shape" and is_real)):
            *first, last = value
            wide[key] = (*first, last if last == -1 else last * times)
        else:
            wide[key] = _widened(value, times)
    return wide


def _vary(model: Any) -> None:
    """Gives weights different elements if Keras starts them all equal: biases, and what layers of
    normalization have learned."""
    rng = np.random.default_rng(2)
    for weight in model.weights:
        value = np.asarray(weight)
        if value.dtype == np.float32 and value.size and (value == value.flat[0]).all():
            weight.assign(value + rng.uniform(-0.3, 0.3, value.shape).astype(np.float32))


def _samples(model: Any) -> Iterator[list[Any]]:
    rng = np.random.default_rng(3)
    for _ in range(16):
        yield [_sample(each, rng) for each in model.inputs]


def _sample(given: Any, rng: np.random.Generator) -> Any:
    shape = (1, *given.shape[1:])
    if given.dtype == "int32":
        return rng.integers(0, keras_sequences.WORDS, shape).astype(np.int32)
    return rng.normal(size=shape).astype(np.float32)


def _converted(make: Maker, form: Form) -> bytes:
    """The file; of a fixed batch, if the converter cannot quantize the network otherwise."""
    try:
        return convert(make, form)
    except Exception:
        if not form.quantizes or form.batch is not None:
            raise
        return convert(make, replace(form, batch=1))


def _in_a_process(path: Path, make: Maker, form: Form) -> int:
    """Converts in a process of its own, because the converter may end it. Returns its id."""
    child = os.fork()
    if child:
        return child
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        data = _converted(make, form)
    except BaseException as error:
        path.with_suffix(".failed").write_text(f"{type(error).__name__}: {error}")
        os._exit(1)
    path.write_bytes(data)
    os._exit(0)


def main(folder: Path, words: list[str]) -> None:
    """Convert all networks whose names have one of the words."""
    import keras  # so that processes need not
    import tensorflow  # noqa: F401

    del keras
    folder.mkdir(exist_ok=True)
    running = dict[int, str]()

    def end_one() -> None:
        child, status = os.wait()
        print(running.pop(child), "failed" if status else "", flush=True)

    for name, make in networks().items():
        for form_name, form in FORMS.items():
            path = folder / f"{name}.{form_name}.tflite"
            is_there = path.exists() or path.with_suffix(".failed").exists()
            if is_there or (words and not any(word in path.name for word in words)):
                continue
            if len(running) == WORKERS:
                end_one()
            running[_in_a_process(path, make, form)] = path.name
    while running:
        end_one()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
