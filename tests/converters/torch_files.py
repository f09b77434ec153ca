"""Converts the torch networks with litert-torch and torch.onnx, and quantizes them.

    python -m tests.converters.torch_files FOLDER [NAME ...]

Needs torch, litert-torch, ai-edge-quantizer, onnx, onnxscript and onnxruntime, which no test needs.
Writes FOLDER/<network>.<form>.tflite or .onnx, and prints what a converter refuses. A network has
up to nine forms as .tflite and four as .onnx; it takes 5 seconds. ``archives.py`` makes of them
tests/data/converted/torch and torch_onnx (of ``torch_structures`` only the forms dynamic8 and
static8, and float.onnx, because all would take 0.5 MB), which are of torch 2.14.1,
litert-torch 0.10.0, ai-edge-quantizer 0.10.0, onnxscript 0.7.2 and onnxruntime 1.32.0.
"""

from __future__ import annotations

import copy
import multiprocessing
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import litert_torch
import numpy as np
import onnx
import torch
from ai_edge_quantizer import quantizer, recipe

from tests.converters.torch_blocks import blocks, functions
from tests.converters.torch_networks import INDICES, Network, networks
from tests.converters.torch_structures import structures

# The recipes of ai-edge-quantizer, by the form's name.
RECIPES = {
    "dynamic8": recipe.dynamic_wi8_afp32,
    "dynamic4": recipe.dynamic_wi4_afp32,
    "weights8": recipe.weight_only_wi8_afp32,
    "weights4": recipe.weight_only_wi4_afp32,
    "static8": recipe.static_wi8_ai8,
    "static16": recipe.static_wi8_ai16,
}
_SAMPLES = 8  # for calibration


def everything() -> Mapping[str, Network]:
    """All networks, by name, in evaluation mode."""
    made = {**networks(), **blocks(), **functions(), **structures()}
    for module, _ in made.values():
        module.eval()
    return made


def _samples(inputs: tuple[torch.Tensor, ...]) -> Iterator[tuple[torch.Tensor, ...]]:
    random = torch.Generator().manual_seed(1)
    for _ in range(_SAMPLES):
        yield tuple(
            torch.randn(x.shape, generator=random)
            if x.is_floating_point()
            else torch.randint(0, min(INDICES, int(x.max()) + 1), x.shape, generator=random).to(x)
            for x in inputs
        )


def _litert(network: Network, path: Path) -> None:
    litert_torch.convert(*network).export(str(path))


def _channel_last(network: Network, path: Path) -> None:
    module, inputs = network
    images = [place for place, x in enumerate(inputs) if x.dim() == 4]
    if not images:
        return
    turned = tuple(x.permute(0, 2, 3, 1) if x.dim() == 4 else x for x in inputs)
    litert_torch.convert(litert_torch.to_channel_last_io(module, args=images), turned).export(
        str(path)
    )


def _pt2e(network: Network, path: Path) -> None:
    from litert_torch.quantize import pt2e_quantizer as pt2e
    from litert_torch.quantize.quant_config import QuantConfig
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    module, inputs = network
    config = pt2e.get_symmetric_quantization_config(is_per_channel=True)
    asked = pt2e.PT2EQuantizer().set_global(config)
    prepared = prepare_pt2e(torch.export.export(module, inputs).module(), asked)
    for sample in _samples(inputs):
        prepared(*sample)
    converted = convert_pt2e(prepared, fold_quantize=False)
    quantized = QuantConfig(pt2e_quantizer=asked)
    litert_torch.convert(converted, inputs, quant_config=quantized).export(str(path))


def _recipe(network: Network, path: Path, form: str) -> None:
    """Quantizes the network's file of floats."""
    from ai_edge_litert.interpreter import Interpreter

    floats = path.with_name(path.name.replace(form, "float"))
    asked = quantizer.Quantizer(str(floats), RECIPES[form]())
    measured = None
    if form.startswith("static"):
        interpreter = Interpreter(str(floats))
        (key,) = interpreter.get_signature_list()
        details = interpreter.get_signature_runner(key).get_input_details()
        ports = [(name, details[name]["dtype"]) for name in sorted(details)]
        measured = asked.calibrate({key: [_named(x, ports) for x in _samples(network[1])]})
    path.write_bytes(bytes(asked.quantize(measured).quantized_model))


def _named(
    sample: tuple[torch.Tensor, ...], ports: list[tuple[str, Any]]
) -> dict[str, np.ndarray[Any, Any]]:
    # litert-torch makes indices that are int64 in torch int32.
    pairs = zip(ports, sample, strict=True)
    return {name: x.numpy().astype(dtype) for (name, dtype), x in pairs}


def _names(network: Network) -> list[str]:
    return [f"x{place}" for place in range(len(network[1]))]


def _onnx(network: Network, path: Path) -> None:
    options = {"dynamo": True, "external_data": False, "verbose": False, "optimize": True}
    torch.onnx.export(*network, str(path), input_names=_names(network), **options)
    model = onnx.load(path)
    _strip(model)
    onnx.save(model, path)


def _strip(message: Any) -> None:
    """Remove what the exporter says of the network's sources, such as paths."""
    for field, value in message.ListFields():
        if field.name in ("metadata_props", "doc_string"):
            message.ClearField(field.name)
        elif field.message_type is not None:
            for each in value if field.is_repeated else [value]:
                _strip(each)


def _older_onnx(network: Network, path: Path) -> None:
    torch.onnx.export(*network, str(path), input_names=_names(network), dynamo=False)


def _qdq(network: Network, path: Path, form: str) -> None:
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    floats = path.with_name(path.name.replace(form, form.replace("qdq", "float")))
    samples = [
        dict(zip(_names(network), (x.numpy() for x in sample), strict=True))
        for sample in _samples(network[1])
    ]

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        """The samples, each once."""

        def get_next(self) -> dict[str, np.ndarray[Any, Any]] | None:
            return samples.pop() if samples else None

    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder, "prepared.onnx")
        quant_pre_process(str(floats), str(prepared), skip_symbolic_shape=True)
        quantization.quantize_static(str(prepared), str(path), Reader(), per_channel=True)


_FORMS: Mapping[str, Callable[[Network, Path], None]] = {
    "float.tflite": _litert,
    "channel_last.tflite": _channel_last,
    "pt2e8.tflite": _pt2e,
    **{
        f"{form}.tflite": lambda network, path, form=form: _recipe(network, path, form)
        for form in RECIPES
    },
    "float.onnx": _onnx,
    "older_float.onnx": _older_onnx,
    "qdq.onnx": lambda network, path: _qdq(network, path, "qdq"),
    "older_qdq.onnx": lambda network, path: _qdq(network, path, "older_qdq"),
}


def _write(name: str, network: Network, folder: Path) -> None:
    for form, convert in _FORMS.items():
        try:
            convert(copy.deepcopy(network), folder / f"{name}.{form}")
        except BaseException as error:
            (folder / f"{name}.{form}.txt").write_text(traceback.format_exc())
            text = " ".join(str(error).split())
            print(f"REFUSED {name}.{form}: {type(error).__name__}: {text[:120]}", flush=True)


def main(folder: Path, names: list[str]) -> None:
    """Write the files of the networks called ``names``, by default of all."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder.mkdir(exist_ok=True, parents=True)
    made = everything()
    for name in names or made:
        # A process each, because a converter may end its process.
        process = multiprocessing.get_context("fork").Process(
            target=_write, args=(name, made[name], folder)
        )
        process.start()
        process.join(600)
        print(f"made {name} {process.exitcode or ''}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(Path(sys.argv[1]), sys.argv[2:])
